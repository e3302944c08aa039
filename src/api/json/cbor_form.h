// The words of CBOR's format. Private to its reader and its writer.
#pragma once

#include <cstdint>
#include <string_view>

namespace api::cbor {

enum class Major : std::uint8_t { kUnsigned, kNegative, kBytes, kText, kArray, kMap, kTag, kSimple };

// The word after the major type in an item's first byte: a small value, how many bytes the value has, or one of these.
inline constexpr std::uint8_t kOneByte = 24;  // two, four, eight: the numbers that follow
inline constexpr std::uint8_t kOpen = 31;     // the length is not known before the end

inline constexpr std::uint8_t kFalse = 20, kTrue = 21, kNull = 22, kHalf = 25, kFloat = 26, kDouble = 27;
inline constexpr char kBreak = '\xff';  // ends what is open

inline constexpr std::uint64_t kTimeText = 0, kTimeSeconds = 1, kBignum = 2, kNegativeBignum = 3;
inline constexpr std::uint64_t kAsBase64Url = 21, kAsBase64 = 22, kAsBase16 = 23;
inline constexpr std::string_view kSelfDescribed = "\xd9\xd9\xf7";

}  // namespace api::cbor

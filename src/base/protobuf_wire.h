// Protocol buffers' wire format, for messages whose few fields their readers name by number.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace base {

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// One field as it came. Each entry of a repeated field is one, but for numbers that are packed: their bytes are one.
struct WireField {
  int number = 0;
  WireType type = WireType::kBytes;
  std::uint64_t integer = 0;    // of varints and fixed-size numbers
  std::string_view bytes = {};  // of strings, bytes and messages; points into the input
};

// Reads field after field; what a caller does not know it skips.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : at_(message.data()), end_(at_ + message.size()) {}
  // False at the end, and where the message is malformed; then `field` counts for nothing.
  [[gnu::always_inline]] bool next(WireField& field) {
    if (at_ == end_ || malformed_) return false;
    std::uint64_t tag = 0, size = 0;
    malformed_ = true;
    if (!varint(tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return false;
    field.number = static_cast<int>(tag >> 3);
    field.type = static_cast<WireType>(tag & 7);
    if (field.type != WireType::kBytes) {
      field.bytes = {};
      malformed_ = !(field.type == WireType::kVarint ? varint(field.integer) : number(field.type, field.integer));
    } else if (varint(size) && size <= static_cast<std::size_t>(end_ - at_)) {
      field.integer = 0;
      field.bytes = {at_, static_cast<std::size_t>(size)};
      at_ += size;
      malformed_ = false;
    }
    return !malformed_;
  }
  // The next of packed numbers, which have this type and no field of their own.
  bool next_packed(WireType type, std::uint64_t& out);
  bool malformed() const { return malformed_; }
  // The bytes that were not read yet.
  std::string_view rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }

 private:
  // Most are one byte.
  [[gnu::always_inline]] bool varint(std::uint64_t& out) {
    if (at_ == end_) return false;
    out = static_cast<unsigned char>(*at_);
    if (out >= 0x80) return long_varint(out);
    ++at_;
    return true;
  }
  bool long_varint(std::uint64_t& out);
  bool fixed(std::size_t size, std::uint64_t& out);
  bool number(WireType type, std::uint64_t& out);

  const char* at_;
  const char* end_;
  bool malformed_ = false;
};

// Writes fields; those that are zero or empty are left out, as proto3 has it, but for add_entry().
class WireWriter {
 public:
  void add(int number, std::string_view bytes);
  void add(int number, std::uint64_t integer);
  template <std::same_as<bool> Bool>  // no pointer is one
  void add(int number, Bool value) {
    add(number, std::uint64_t{value ? 1U : 0U});
  }
  // An entry of a repeated field, or a field of proto2: it may be empty, or zero.
  void add_entry(int number, std::string_view bytes);
  void add_integer(int number, std::uint64_t integer);
  void add_double(int number, double value);
  // An entry of a map of strings.
  void add_pair(int number, std::string_view key, std::string_view value);
  std::string take() { return std::move(out_); }

 private:
  void varint(std::uint64_t value);

  std::string out_;
};

}  // namespace base

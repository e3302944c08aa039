// Json to CBOR, in the deterministic form of RFC 8949, section 4.2.1.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "api/json/cbor.h"
#include "api/json/cbor_form.h"
#include "base/utf8.h"

namespace api {
namespace {

using namespace cbor;  // NOLINT(google-build-using-namespace): words of this file only

void put_bytes(std::string& out, std::uint64_t value, std::size_t count) {
  for (std::size_t i = count; i-- > 0;) out += static_cast<char>(value >> (8 * i) & 0xff);
}

void put_head(std::string& out, Major major, std::uint64_t value) {
  const auto high = static_cast<unsigned char>(static_cast<unsigned char>(major) << 5);
  if (value < kOneByte) {
    out += static_cast<char>(high | value);
    return;
  }
  const int size = value <= 0xff ? 0 : value <= 0xffff ? 1 : value <= 0xffffffff ? 2 : 3;
  out += static_cast<char>(high | (kOneByte + size));
  put_bytes(out, value, std::size_t{1} << size);
}

void put_simple(std::string& out, std::uint8_t info) {
  out += static_cast<char>(static_cast<unsigned char>(Major::kSimple) << 5 | info);
}

// The number in two bytes, if it fits without loss.
std::optional<std::uint16_t> half_bits(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t sign = bits >> 16 & 0x8000, fraction = bits & 0x7fffff;
  const int exponent = static_cast<int>(bits >> 23 & 0xff) - 127;
  if (exponent == -127 && fraction == 0) return static_cast<std::uint16_t>(sign);
  if (exponent > 15 || exponent < -24) return {};
  if (exponent >= -14) {
    if ((fraction & 0x1fff) != 0) return {};
    return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(exponent + 15) << 10 | fraction >> 13);
  }
  const int shift = -exponent - 1;  // below that, halves have no leading one
  const std::uint32_t whole = fraction | 0x800000;
  if ((whole & ((std::uint32_t{1} << shift) - 1)) != 0) return {};
  return static_cast<std::uint16_t>(sign | whole >> shift);
}

void put_double(std::string& out, double number) {
  if (!std::isfinite(number)) return put_simple(out, kNull);  // as in JSON
  const bool in_range = std::fabs(number) <= std::numeric_limits<float>::max();
  const float single = in_range ? static_cast<float>(number) : 0;
  if (!in_range || static_cast<double>(single) != number) {
    put_simple(out, kDouble);
    put_bytes(out, std::bit_cast<std::uint64_t>(number), 8);
  } else if (const auto half = half_bits(single)) {
    put_simple(out, kHalf);
    put_bytes(out, *half, 2);
  } else {
    put_simple(out, kFloat);
    put_bytes(out, std::bit_cast<std::uint32_t>(single), 4);
  }
}

void put_text(std::string& out, std::string_view text) {
  if (!base::is_utf8(text)) return put_text(out, base::to_utf8(text));  // what is written can be read
  put_head(out, Major::kBytes, text.size());
  out += text;
}

// In the order of their encoded names: shorter ones first.
std::vector<const Json::Member*> in_order(const Json& object) {
  std::vector<const Json::Member*> members;
  members.reserve(object.size());
  for (const Json::Member& member : object.members()) members.push_back(&member);
  std::ranges::sort(members, [](const Json::Member* a, const Json::Member* b) {
    const std::string_view x = a->name(), y = b->name();
    return x.size() != y.size() ? x.size() < y.size() : x < y;
  });
  return members;
}

void put(std::string& out, const Json& json) {
  switch (json.type()) {
    case Json::Type::kNull: return put_simple(out, kNull);
    case Json::Type::kBool: return put_simple(out, json.as_bool() ? kTrue : kFalse);
    case Json::Type::kInt: {
      const std::int64_t number = json.as_int();
      if (number >= 0) return put_head(out, Major::kUnsigned, static_cast<std::uint64_t>(number));
      return put_head(out, Major::kNegative, static_cast<std::uint64_t>(-(number + 1)));
    }
    case Json::Type::kUint:
    case Json::Type::kDouble: return put_double(out, json.as_double());
    case Json::Type::kString: return put_text(out, json.as_string());
    case Json::Type::kArray:
      put_head(out, Major::kArray, json.size());
      for (const Json& item : json.items()) put(out, item);
      return;
    case Json::Type::kObject:
      put_head(out, Major::kMap, json.size());
      for (const Json::Member* member : in_order(json)) {
        put_text(out, member->name());
        put(out, member->value);
      }
  }
}

}  // namespace

std::string to_cbor(const Json& json) {
  std::string out(kSelfDescribed);
  put(out, json);
  return out;
}

std::string list_to_cbor(const Json& list, std::size_t count, const std::function<Json(std::size_t)>& item) {
  std::string out(kSelfDescribed);
  put_head(out, Major::kMap, list.size());
  for (const Json::Member* member : in_order(list)) {
    put_text(out, member->name());
    if (member->name() != "items") {
      put(out, member->value);
      continue;
    }
    put_head(out, Major::kArray, count);
    for (std::size_t i = 0; i < count; ++i) put(out, item(i));
  }
  return out;
}

}  // namespace api

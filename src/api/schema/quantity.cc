// Parsing, canonical form and arithmetic of quantities.
#include "api/schema/quantity.h"

#include <algorithm>
#include <array>
#include <climits>

#include "base/trim.h"

namespace api {
namespace {

__extension__ typedef __int128 Int128;

constexpr Int128 kNano = 1'000'000'000;
constexpr Int128 kMax = Int128{INT64_MAX} * kNano;

Int128 clamp(Int128 value) { return std::clamp(value, -kMax, kMax); }

Int128 divide_up(Int128 value, Int128 by) {  // away from zero
  const Int128 quotient = value / by;
  if (value % by == 0) return quotient;
  return quotient + (value > 0 ? 1 : -1);
}

struct Suffix {
  std::string_view text;
  int base;  // 2 or 10
  int exponent;
};
constexpr std::array kSuffixes{Suffix{"", 10, 0},   Suffix{"n", 10, -9}, Suffix{"u", 10, -6}, Suffix{"m", 10, -3},
                               Suffix{"k", 10, 3},  Suffix{"M", 10, 6},  Suffix{"G", 10, 9},  Suffix{"T", 10, 12},
                               Suffix{"P", 10, 15}, Suffix{"E", 10, 18}, Suffix{"Ki", 2, 10}, Suffix{"Mi", 2, 20},
                               Suffix{"Gi", 2, 30}, Suffix{"Ti", 2, 40}, Suffix{"Pi", 2, 50}, Suffix{"Ei", 2, 60}};

std::string text_of(Int128 value) {
  if (value == 0) return "0";
  const bool negative = value < 0;
  std::string digits;
  for (Int128 rest = negative ? -value : value; rest > 0; rest /= 10)
    digits += static_cast<char>('0' + static_cast<int>(rest % 10));
  if (negative) digits += '-';
  std::ranges::reverse(digits);
  return digits;
}

std::int64_t narrow(Int128 value) { return static_cast<std::int64_t>(std::clamp<Int128>(value, INT64_MIN, INT64_MAX)); }

// digits × 10^-fraction_digits × base^exponent in nano units, rounded away from zero, capped.
Int128 scaled(std::string_view digits, int fraction_digits, int base, int exponent) {
  Int128 value = 0;
  int ten = 9 - fraction_digits + (base == 10 ? exponent : 0);
  bool lost = false;
  for (const char c : digits) {
    if (value > (kMax * 4) / 10) {  // enough digits: the rest only scales
      ++ten;
      lost = lost || c != '0';
      continue;
    }
    value = value * 10 + (c - '0');
  }
  if (value == 0) return 0;
  if (base == 2) {
    for (int i = 0; i < exponent; ++i) {
      if (value > kMax * 4) {
        if (ten >= 0) return kMax;
        lost = lost || value % 10 != 0;
        value /= 10;
        ++ten;
      }
      value *= 2;
    }
  }
  for (; ten > 0; --ten) {
    if (value > kMax) return kMax;
    value *= 10;
  }
  for (; ten < 0 && value > 0; ++ten) {
    lost = lost || value % 10 != 0;
    value /= 10;
  }
  return std::min(value + (lost ? 1 : 0), kMax);
}

}  // namespace

Quantity Quantity::from_int(std::int64_t value, Format format) {
  Quantity q;
  q.nano_ = clamp(Int128{value} * kNano);
  q.format_ = format;
  return q;
}

Quantity Quantity::from_milli(std::int64_t value, Format format) {
  Quantity q;
  q.nano_ = clamp(Int128{value} * 1'000'000);
  q.format_ = format;
  return q;
}

std::optional<Quantity> Quantity::parse(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  std::string digits;
  int fraction_digits = 0;
  bool point = false;
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '.' && !point) {
      point = true;
    } else if (text[at] >= '0' && text[at] <= '9') {
      digits += text[at];
      if (point) ++fraction_digits;
    } else {
      break;
    }
  }
  if (digits.empty() || digits.size() > 1000) return {};
  const std::string_view suffix = text.substr(at);
  Quantity q;
  for (const Suffix& row : kSuffixes) {
    if (row.text != suffix) continue;
    q.nano_ = scaled(digits, fraction_digits, row.base, row.exponent);
    q.format_ = row.base == 2 ? Format::kBinarySi : Format::kDecimalSi;
    if (negative) q.nano_ = -q.nano_;
    return q;
  }
  if (suffix.size() < 2 || (suffix[0] != 'e' && suffix[0] != 'E')) return {};
  std::string_view exponent_text = suffix.substr(1);
  const bool exponent_negative = exponent_text[0] == '-';
  if (exponent_text[0] == '+' || exponent_text[0] == '-') exponent_text.remove_prefix(1);
  if (exponent_text.empty() || exponent_text.size() > 4) return {};
  int exponent = 0;
  for (const char c : exponent_text) {
    if (c < '0' || c > '9') return {};
    exponent = exponent * 10 + (c - '0');
  }
  q.nano_ = scaled(digits, fraction_digits, 10, exponent_negative ? -exponent : exponent);
  q.format_ = Format::kDecimalExponent;
  if (negative) q.nano_ = -q.nano_;
  return q;
}

std::optional<Quantity> Quantity::from_json(const Json& json) {
  if (json.is_string()) return parse(base::trim(json.as_string(), base::kAllBlanks));
  if (json.is_number()) return parse(json.dump());
  return {};
}

std::string Quantity::to_string() const {
  if (nano_ == 0) return "0";
  if (format_ == Format::kBinarySi && nano_ % kNano == 0) {
    const Int128 whole = nano_ / kNano;
    if (whole > -1024 && whole < 1024) return text_of(whole);
    Int128 rest = whole;
    std::size_t power = 0;
    static constexpr std::array<std::string_view, 7> kNames{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    while (power + 1 < kNames.size() && rest % 1024 == 0) {
      rest /= 1024;
      ++power;
    }
    return text_of(rest) + std::string(kNames[power]);
  }
  // A multiple of 1000 as large as possible; the mantissa stays a whole number.
  Int128 rest = nano_;
  int exponent = -9;
  while (exponent < 18 && rest % 1000 == 0) {
    rest /= 1000;
    exponent += 3;
  }
  if (format_ == Format::kDecimalExponent) return text_of(rest) + (exponent == 0 ? "" : "e" + std::to_string(exponent));
  static constexpr std::array<std::string_view, 10> kNames{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  return text_of(rest) + std::string(kNames[static_cast<std::size_t>((exponent + 9) / 3)]);
}

std::int64_t Quantity::value() const { return narrow(divide_up(nano_, kNano)); }
std::int64_t Quantity::milli_value() const { return narrow(divide_up(nano_, 1'000'000)); }
double Quantity::as_double() const { return static_cast<double>(nano_) / 1e9; }

Quantity& Quantity::operator+=(const Quantity& other) {
  if (nano_ == 0) format_ = other.format_;
  nano_ = clamp(nano_ + other.nano_);
  return *this;
}

Quantity& Quantity::operator-=(const Quantity& other) {
  if (nano_ == 0) format_ = other.format_;
  nano_ = clamp(nano_ - other.nano_);
  return *this;
}

Quantity Quantity::operator-() const {
  Quantity q = *this;
  q.nano_ = -q.nano_;
  return q;
}

Quantity Quantity::times(std::int64_t factor) const {
  Quantity q = *this;
  Int128 product;
  if (__builtin_mul_overflow(nano_, Int128{factor}, &product)) product = (nano_ < 0) != (factor < 0) ? -kMax : kMax;
  q.nano_ = clamp(product);
  return q;
}

ResourceList resource_list_from(const Json& json) {
  ResourceList list;
  for (const Json::Member& member : json.members())
    if (const auto q = Quantity::from_json(member.value)) list.insert_or_assign(std::string(member.name()), *q);
  return list;
}

Json to_json(const ResourceList& list) {
  Json json = Json::object();
  for (const auto& [name, quantity] : list) json.set(name, quantity.to_json());
  return json;
}

}  // namespace api

// Plain scalars by the rules of YAML 1.1 as Go's YAML package applies them (table in the design notes, section 5).
#include "api/json/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "base/base64.h"
#include "base/format.h"

namespace api {
namespace {

using base::Code;
using base::make_error;

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (text == word) return true;
  return false;
}

std::optional<Json> digits_in(std::string_view digits, int radix, bool negative) {
  if (digits.empty()) return {};
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value, radix);
  if (end != digits.data() + digits.size()) return {};
  if (code == std::errc::result_out_of_range) {
    double wide = 0;
    for (const char c : digits) {
      const int digit = c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
      wide = wide * radix + digit;
    }
    if (radix == 10) std::from_chars(digits.data(), digits.data() + digits.size(), wide);
    return Json(negative ? -wide : wide);
  }
  if (code != std::errc()) return {};
  // Integers beyond int64 become doubles on the way through Kubernetes' YAML reader.
  if (negative) {
    if (value > std::uint64_t{1} << 63) return Json(-static_cast<double>(value));
    return Json(static_cast<std::int64_t>(0 - value));
  }
  if (value > INT64_MAX) return Json(static_cast<double>(value));
  return Json(static_cast<std::int64_t>(value));
}

std::optional<Json> integer(std::string_view text) {
  std::string plain;
  for (const char c : text)
    if (c != '_') plain += c;
  std::string_view rest = plain;
  bool negative = false;
  if (!rest.empty() && (rest[0] == '+' || rest[0] == '-')) {
    negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  if (rest.empty() || rest[0] < '0' || rest[0] > '9') return {};
  if (rest.size() > 2 && rest[0] == '0') {
    if (rest[1] == 'x' || rest[1] == 'X') return digits_in(rest.substr(2), 16, negative);
    if (rest[1] == 'b' || rest[1] == 'B') return digits_in(rest.substr(2), 2, negative);
    if (rest[1] == 'o' || rest[1] == 'O') return digits_in(rest.substr(2), 8, negative);
  }
  if (rest.size() > 1 && rest[0] == '0')
    if (auto octal = digits_in(rest.substr(1), 8, negative)) return octal;
  return digits_in(rest, 10, negative);
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool is_float(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at - begin;
  };
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  const std::size_t whole = digits();
  std::size_t fraction = 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    fraction = digits();
  }
  if (whole + fraction == 0) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

std::optional<Json> floating(std::string_view text) {
  if (!is_float(text)) return {};
  const std::string_view body = text[0] == '+' ? text.substr(1) : text;
  double value = 0;
  const auto [end, code] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (code == std::errc::result_out_of_range && std::fabs(value) != 0.0 && !std::isfinite(value)) return {};
  if (code != std::errc()) return {};
  if (value == std::floor(value) && std::fabs(value) < 9.2e18) return Json(static_cast<std::int64_t>(value));
  return Json(value);
}

base::Result<std::string> binary(std::string_view text) {
  // A folded text has spaces where its lines ended.
  std::string letters(text);
  std::erase(letters, ' ');
  auto bytes = base::base64_decode(letters);
  if (!bytes.ok()) return make_error(Code::kBadRequest, "!!binary value contains invalid base64 data");
  return bytes;
}

// The length of the well-formed UTF-8 sequence that `text` begins with; 0 if it begins with none.
std::size_t utf8_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto is_tail = [&](std::size_t i) { return (at(i) & 0xc0) == 0x80; };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return is_tail(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool well_formed = (first != 0xe0 || at(1) >= 0xa0) && (first != 0xed || at(1) <= 0x9f);
    return well_formed && is_tail(1) && is_tail(2) ? 3 : 0;
  }
  const bool well_formed =
      first >= 0xf0 && first <= 0xf4 && (first != 0xf0 || at(1) >= 0x90) && (first != 0xf4 || at(1) <= 0x8f);
  return well_formed && is_tail(1) && is_tail(2) && is_tail(3) ? 4 : 0;
}

// JSON cannot hold other bytes; Kubernetes' readers put U+FFFD in place of each.
std::string as_utf8(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    if (length == 0)
      out += "\xEF\xBF\xBD";
    else
      out += bytes.substr(0, length);
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

base::Result<Json> plain_scalar(std::string_view text) {
  if (text.empty() || one_of(text, {"~", "null", "Null", "NULL"})) return Json();
  if (one_of(text, {"y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"})) return Json(true);
  if (one_of(text, {"n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"})) return Json(false);
  const char first = text[0];
  if (!((first >= '0' && first <= '9') || first == '+' || first == '-' || first == '.')) return Json(text);
  if (one_of(text,
             {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF", ".nan", ".NaN", ".NAN"}))
    return make_error(Code::kBadRequest, base::format("json: unsupported value: {}", text));
  if (auto value = integer(text)) return *value;
  if (auto value = floating(text)) return *value;
  return Json(text);
}

}  // namespace

base::Result<Json> resolve_yaml_scalar(std::string_view text, std::string_view tag, bool plain) {
  static constexpr std::string_view kPrefix = "tag:yaml.org,2002:";
  const std::string_view kind = tag.starts_with(kPrefix) ? tag.substr(kPrefix.size()) : tag;
  if (kind == "binary") {
    TRY(const std::string bytes, binary(text));
    return Json(as_utf8(bytes));
  }
  if (kind == "str" || (kind == "!" && !plain)) return Json(text);
  if (kind == "int" || kind == "float" || kind == "bool" || kind == "null") {
    TRY(Json value, plain_scalar(text));
    const bool fits = kind == "null" ? value.is_null() : kind == "bool" ? value.is_bool() : value.is_number();
    if (!fits) return make_error(Code::kBadRequest, base::format("cannot decode '{}' as a !!{}", text, kind));
    return value;
  }
  if (!plain) return Json(text);
  return plain_scalar(text);
}

}  // namespace api

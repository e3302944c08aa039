// Lenient where protobuf's JSON form is: a missing field is an empty one, and 64 bit numbers may be texts.
#include "pipelines/ir/fields.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/format.h"
#include "base/number.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "pipelines/ir/pipeline.h"

namespace pipelines {

using api::Json;

namespace {

constexpr std::size_t kShownMax = 64;
constexpr double kSecondsMax = 1e9;

std::string member_path(const std::string& path, std::string_view name) {
  bool plain = !name.empty();
  for (const char c : name) plain = plain && (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_');
  if (plain) return path.empty() ? std::string(name) : base::format("{}.{}", path, name);
  return base::format("{}[{}]", path, base::go_quoted(base::utf8_prefix(name, kShownMax)));
}

std::optional<double> decimal(std::string_view text) {
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size() || !(out >= 0 && out <= kSecondsMax))
    return std::nullopt;
  return out;
}

}  // namespace

std::string shown(const Json& value) {
  const std::string text = value.dump();
  if (text.size() <= kShownMax) return text;
  return base::format("{}...", base::utf8_prefix(text, kShownMax));
}

Field Field::operator[](std::string_view name) const { return {value_[name], member_path(path_, name)}; }

base::Error Field::error(std::string_view text) const {
  return base::make_error(base::Code::kInvalid, base::format("{}: {}", path_.empty() ? "the document" : path_, text));
}

base::Status Field::check_object() const {
  if (is_absent() || value_.is_object()) return {};
  return error(base::format("{} is not an object", shown(value_)));
}

base::Status Field::check_array() const {
  if (is_absent() || value_.is_array()) return {};
  return error(base::format("{} is not a list", shown(value_)));
}

base::Result<std::string> Field::text() const {
  if (is_absent()) return std::string();
  if (!value_.is_string()) return error(base::format("{} is not a text", shown(value_)));
  return value_.str();
}

base::Result<std::string> Field::name() const {
  TRY(std::string read, text());
  if (read.empty()) return error("a name is required");
  if (read.size() > kNameBytesMax) return error(base::format("a name has {} bytes at most", kNameBytesMax));
  return read;
}

base::Result<std::int64_t> Field::number() const {
  if (is_absent()) return std::int64_t{0};
  if (value_.is_number()) {
    const double read = value_.as_double();
    if (std::floor(read) != read || std::abs(read) > 1e15)
      return error(base::format("{} is not a whole number", shown(value_)));
    return value_.as_int();
  }
  if (value_.is_string())
    if (const auto read = base::parse_number<std::int64_t>(value_.as_string())) return *read;
  return error(base::format("{} is not a whole number", shown(value_)));
}

base::Result<base::Duration> Field::duration() const {
  TRY(const std::string read, text());
  if (read.empty()) return base::Duration{};
  if (read.back() == 's') {
    if (const std::optional<double> seconds = decimal(std::string_view(read).substr(0, read.size() - 1)))
      return base::nanoseconds(static_cast<std::int64_t>(*seconds * 1e9));
  }
  return error(base::format("{} is not a number of seconds, such as \"10s\"", shown(value_)));
}

base::Result<bool> Field::boolean() const {
  if (is_absent()) return false;
  if (!value_.is_bool()) return error(base::format("{} is neither true nor false", shown(value_)));
  return value_.as_bool();
}

}  // namespace pipelines

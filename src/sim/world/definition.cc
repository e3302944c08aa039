// The meaning of a definition's keys.
#include "sim/world/definition.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "api/schema/quantity.h"
#include "base/format.h"
#include "base/split.h"

namespace sim {

using api::Json;
using base::make_error;

namespace {

constexpr std::int64_t kNumberMax = 1'000'000;

base::Error at_line(int line, std::string_view what) {
  return make_error(base::Code::kInvalid, base::format("line {}: {}", line, what));
}

std::optional<base::Duration> span_of(const Json& json) {
  if (!json.is_string()) return {};
  const auto span = base::parse_go_duration(json.as_string());
  if (!span || span->ns < 0) return {};
  return span;
}

}  // namespace

void Settings::add(const std::string& key, Json value, int line) {
  values_.insert_or_assign(key, Value{std::move(value), line});
}

const Settings::Value* Settings::find(const std::string& key) {
  asked_.insert(key);
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

void Settings::problem(const Value& value, const std::string& key, std::string_view wanted) {
  if (problem_.empty())
    problem_ = base::format("line {}: {}: {} = {}: must be {}", value.line, table_, key, value.json.dump(), wanted);
}

std::string Settings::text(const std::string& key, std::string_view fallback) {
  const Value* value = find(key);
  if (value && !value->json.is_string()) problem(*value, key, "a string");
  return std::string(value ? value->json.as_string(fallback) : fallback);
}

Settings::Range Settings::range(const std::string& key, Range fallback) {
  const Value* value = find(key);
  if (!value) return fallback;
  const Json& json = value->json;
  Range range = fallback;
  if (json.is_int()) {
    range = {json.as_int(), json.as_int()};
  } else if (json.size() == 2 && json[std::size_t{0}].is_int() && json[std::size_t{1}].is_int()) {
    range = {json[std::size_t{0}].as_int(), json[std::size_t{1}].as_int()};
  } else {
    problem(*value, key, "a number or a range of two numbers");
  }
  if (range.min > range.max || range.min < 0 || range.max > kNumberMax) {
    problem(*value, key, "a range from low to high of numbers from 0 to 1000000");
    return fallback;
  }
  return range;
}

Settings::Range Settings::span_range(const std::string& key, Range fallback) {
  const Value* value = find(key);
  if (!value) return fallback;
  const bool pair = value->json.size() == 2;
  const auto low = span_of(pair ? value->json[std::size_t{0}] : value->json);
  const auto high = span_of(pair ? value->json[std::size_t{1}] : value->json);
  if (!low || !high || *low > *high) {
    problem(*value, key, "a duration (\"1m30s\") or a range of two, from short to long");
    return fallback;
  }
  return {low->ns, high->ns};
}

Settings::Range Settings::pause_range(const std::string& key, Range fallback) {
  const Range range = span_range(key, fallback);
  if (range.min >= base::milliseconds(1).ns) return range;
  problem(*find(key), key, "a millisecond or longer");
  return fallback;
}

std::int64_t Settings::number(const std::string& key, std::int64_t fallback, base::Random& dice) {
  return range(key, {fallback, fallback}).draw(dice);
}

base::Duration Settings::span(const std::string& key, base::Duration fallback, base::Random& dice) {
  return {span_range(key, {fallback.ns, fallback.ns}).draw(dice)};
}

double Settings::fraction(const std::string& key, double fallback, base::Random& dice) {
  const Value* value = find(key);
  if (!value) return fallback;
  const bool pair = value->json.size() == 2;
  const Json& low = pair ? value->json[std::size_t{0}] : value->json;
  const Json& high = pair ? value->json[std::size_t{1}] : value->json;
  const double from = low.as_double(-1);
  const double to = high.as_double(-1);
  if (from < 0 || to > 1 || from > to) {
    problem(*value, key, "a number from 0 to 1, or a range of two");
    return fallback;
  }
  return from + (to - from) * dice.fraction();
}

bool Settings::flag(const std::string& key, bool fallback) {
  const Value* value = find(key);
  if (value && !value->json.is_bool()) problem(*value, key, "true or false");
  return value ? value->json.as_bool(fallback) : fallback;
}

std::vector<std::string> Settings::words(const std::string& key, std::vector<std::string> fallback) {
  const Value* value = find(key);
  if (!value) return fallback;
  std::vector<std::string> words;
  for (const Json& item : value->json.items()) {
    if (!item.is_string()) problem(*value, key, "an array of strings");
    words.push_back(item.str());
  }
  if (!value->json.is_array()) problem(*value, key, "an array of strings");
  return words;
}

std::vector<std::string> Settings::some_words(const std::string& key, std::vector<std::string> fallback) {
  std::vector<std::string> read = words(key, fallback);
  if (!read.empty()) return read;
  problem(*find(key), key, "an array of one string or more");
  return fallback;
}

std::vector<std::string> Settings::known_words(const std::string& key, const std::vector<std::string>& known) {
  std::vector<std::string> read = words(key, {});
  for (const std::string& word : read)
    if (std::ranges::find(known, word) == known.end())
      problem(*find(key), key, base::format("an array of some of {}", base::join(known, ", ")));
  return read;
}

std::string Settings::one_of(const std::string& key, std::string_view fallback, const std::vector<std::string>& known) {
  std::string read = text(key, fallback);
  if (std::ranges::find(known, read) != known.end()) return read;
  if (const Value* value = find(key)) problem(*value, key, base::format("one of {}", base::join(known, ", ")));
  return std::string(fallback);
}

std::string Settings::quantity(const std::string& key, std::string_view fallback) {
  std::string read = text(key, fallback);
  const auto parsed = api::Quantity::parse(read);
  if (const Value* value = find(key); value && (!parsed || parsed->sign() < 0))
    problem(*value, key, "a quantity from 0 on, such as \"16\" or \"64Gi\"");
  return read;
}

base::Duration Settings::interval(const std::string& key, base::Duration fallback) {
  const Value* value = find(key);
  if (!value) return fallback;
  const std::string_view text = value->json.as_string();
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const base::Duration span = unit == "/s"   ? base::seconds(1)
                              : unit == "/m" ? base::minutes(1)
                              : unit == "/h" ? base::hours(1)
                                             : base::Duration{};
  if (error != std::errc() || count <= 0 || span.ns == 0 || count > 1'000'000) {
    problem(*value, key, "a rate such as \"5/s\", \"30/m\" or \"100/h\"");
    return fallback;
  }
  return {span.ns / count};
}

base::Status Settings::finish() const {
  if (!problem_.empty()) return make_error(base::Code::kInvalid, problem_);
  for (const auto& [key, value] : values_)
    if (!asked_.contains(key)) return at_line(value.line, base::format("{}: unknown key \"{}\"", table_, key));
  return {};
}

}  // namespace sim

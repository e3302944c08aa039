// Reading the definition of a world.
#include "sim/definition.h"

#include <charconv>
#include <limits>

#include "base/format.h"

namespace sim {

using api::Json;
using base::make_error;
using base::Result;

namespace {

base::Error at_line(int line, std::string_view what) {
  return make_error(base::Code::kInvalid, base::format("line {}: {}", line, what));
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t' || text.front() == '\r')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// Without a comment; '#' inside a string is text.
std::string_view without_comment(std::string_view line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == '#' && !quoted) return line.substr(0, i);
  }
  return line;
}

bool is_key(std::string_view key) {
  if (key.empty()) return false;
  for (const char c : key)
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-')) return false;
  return true;
}

std::optional<base::Duration> span_of(const Json& json) {
  if (!json.is_string()) return {};
  const auto span = base::parse_go_duration(json.as_string());
  if (!span || span->ns < 0) return {};
  return span;
}

}  // namespace

base::Status Settings::add(const std::string& key, Json value, int line) {
  if (!values_.emplace(key, Value{std::move(value), line}).second)
    return at_line(line, base::format("{}: key \"{}\" is given twice", table_, key));
  return {};
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
  if (range.min > range.max || range.min < 0 || range.max > std::int64_t{1} << 40) {
    problem(*value, key, "a range from low to high of numbers that are not negative");
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

namespace {

// The table that a header line opens; null if it is not one.
Settings* open_table(Definition& definition, std::string_view header, int line) {
  if (header == "[world]" && definition.world.line() == 0) {
    definition.world = Settings("world", line);
    return &definition.world;
  }
  for (const auto& [name, list] :
       {std::pair{"workload", &definition.workloads}, {"fault", &definition.faults}, {"check", &definition.checks}})
    if (header == base::format("[[{}]]", name)) return &list->emplace_back(name, line);
  return nullptr;
}

}  // namespace

Result<Definition> parse_definition(std::string_view text) {
  Definition definition;
  Settings* table = nullptr;
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    const std::string_view content = trim(without_comment(text.substr(0, end)));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (content.empty()) continue;
    if (content.front() == '[') {
      table = open_table(definition, content, line);
      if (!table)
        return at_line(line, base::format("{}: must be [world] (once), [[workload]], [[fault]] or [[check]]", content));
      continue;
    }
    const std::size_t equals = content.find('=');
    const std::string_view key = trim(content.substr(0, equals));
    if (equals == std::string_view::npos || !is_key(key))
      return at_line(line, base::format("\"{}\" is not \"key = value\"", content));
    if (!table) return at_line(line, base::format("key \"{}\" comes before any table", key));
    // Strings, numbers, booleans and arrays on one line read the same in JSON.
    auto value = api::parse_json(trim(content.substr(equals + 1)));
    if (!value.ok() || value->is_null() || value->is_object())
      return at_line(line,
                     base::format("{}: the value must be a string, a number, true, false, or an array of those", key));
    TRY_VOID(table->add(std::string(key), *std::move(value), line));
  }
  return definition;
}

}  // namespace sim

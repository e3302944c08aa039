// What may a configuration file say to a plugin or an action, and how are values of the wrong type treated?
#include "scheduler/framework/arguments.h"

#include <algorithm>

#include "base/format.h"

namespace scheduler {
namespace {

constexpr std::string_view kTrueWords[] = {"1", "t", "T", "TRUE", "true", "True"};
constexpr std::string_view kFalseWords[] = {"0", "f", "F", "FALSE", "false", "False"};

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

void Arguments::warn(std::string_view key, std::string_view expected) const {
  warnings_.push_back(base::format("{}: argument {} is not {}; its default is used", owner_, key, expected));
}

std::int64_t Arguments::get_int(std::string_view key, std::int64_t fallback) const {
  const api::Json* value = map_.find(key);
  if (value == nullptr || value->is_null()) return fallback;
  if (value->is_int()) return value->as_int();
  warn(key, "an integer");
  return fallback;
}

double Arguments::get_double(std::string_view key, double fallback) const {
  const api::Json* value = map_.find(key);
  if (value == nullptr || value->is_null()) return fallback;
  if (value->is_number()) return value->as_double();
  warn(key, "a number");
  return fallback;
}

bool Arguments::get_bool(std::string_view key, bool fallback) const {
  const api::Json* value = map_.find(key);
  if (value == nullptr || value->is_null()) return fallback;
  if (value->is_bool()) return value->as_bool();
  if (is_one_of(value->as_string(), kTrueWords)) return true;
  if (value->is_string() && is_one_of(value->as_string(), kFalseWords)) return false;
  warn(key, "a boolean");
  return fallback;
}

std::string Arguments::get_string(std::string_view key, std::string_view fallback) const {
  const api::Json* value = map_.find(key);
  if (value == nullptr || value->is_null()) return std::string(fallback);
  if (value->is_string()) return value->str();
  warn(key, "a string");
  return std::string(fallback);
}

}  // namespace scheduler

// The arguments of plugins and actions in a configuration file, and how values of the wrong type are treated.
#include "scheduler/framework/arguments.h"

#include <algorithm>

#include "base/format.h"
#include "base/utf8.h"

namespace scheduler {
namespace {

constexpr std::string_view kTrueWords[] = {"1", "t", "T", "TRUE", "true", "True"};
constexpr std::string_view kFalseWords[] = {"0", "f", "F", "FALSE", "false", "False"};
constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::size_t kShownBytes = 100;  // of a value

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

Arguments::Arguments(api::Json map, std::string owner)
    : map_(std::move(map)), owner_(std::move(owner)), use_(std::make_shared<ArgumentUse>()) {
  if (!map_.is_null() && !map_.is_object()) {
    use_->problems.push_back(base::format("{}: arguments must be a map; the defaults are used", owner_));
  }
  for (const auto& member : map_.members()) use_->present.emplace_back(member.name());
}

void Arguments::warn(std::string message) const { use_->problems.push_back(owner_ + ": " + std::move(message)); }

void Arguments::refuse(std::string_view key, const api::Json& value, std::string_view expected) const {
  warn(base::format("argument {}{} is {}, not {}; its default is used", path_, key,
                    base::utf8_prefix(value.dump(), kShownBytes), expected));
}

const api::Json* Arguments::value_at(std::string_view key) const {
  use_->read.insert(path_ + std::string(key));
  const api::Json* value = map_.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::int64_t Arguments::get_int(std::string_view key, std::int64_t fallback) const {
  const api::Json* value = value_at(key);
  if (value == nullptr) return fallback;
  if (value->is_int()) return value->as_int();
  refuse(key, *value, "an integer");
  return fallback;
}

std::int64_t Arguments::get_int_from(std::string_view key, std::int64_t least, std::int64_t fallback) const {
  const std::int64_t value = get_int(key, fallback);
  if (value >= least) return value;
  warn(base::format("argument {}{} is {}, less than {}; {} is used", path_, key, value, least, fallback));
  return fallback;
}

double Arguments::get_weight(std::string_view key, std::int64_t fallback) const {
  constexpr std::int64_t kLoud = 1'000'000;
  const std::int64_t value = get_int(key, fallback);
  if (value < 0)
    warn(base::format("argument {}{} is {}: what it weighs counts against a node", path_, key, value));
  else if (value > kLoud)
    warn(base::format("argument {}{} is {}: no other score matters beside it", path_, key, value));
  return static_cast<double>(value);
}

std::int64_t Arguments::get_int_or_text(std::string_view key) const {
  const api::Json* value = value_at(key);
  return value != nullptr && value->is_int() ? std::max<std::int64_t>(value->as_int(), -1) : -1;
}

double Arguments::get_double(std::string_view key, double fallback) const {
  const api::Json* value = value_at(key);
  if (value == nullptr) return fallback;
  if (value->is_number()) return value->as_double();
  refuse(key, *value, "a number");
  return fallback;
}

bool Arguments::get_bool(std::string_view key, bool fallback) const {
  const api::Json* value = value_at(key);
  if (value == nullptr) return fallback;
  if (value->is_bool()) return value->as_bool();
  if (is_one_of(value->as_string(), kTrueWords)) return true;
  if (value->is_string() && is_one_of(value->as_string(), kFalseWords)) return false;
  refuse(key, *value, "a boolean");
  return fallback;
}

std::string Arguments::get_string(std::string_view key, std::string_view fallback) const {
  const api::Json* value = value_at(key);
  if (value == nullptr) return std::string(fallback);
  if (value->is_string()) return value->str();
  refuse(key, *value, "a string");
  return std::string(fallback);
}

std::vector<std::string> Arguments::get_names(std::string_view key) const {
  const std::string list = get_string(key, "");
  std::vector<std::string> out;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t comma = std::min(list.find(',', start), list.size());
    std::string name = list.substr(start, comma - start);
    name.erase(0, std::min(name.find_first_not_of(kBlanks), name.size()));
    name.erase(name.find_last_not_of(kBlanks) + 1);
    if (!name.empty()) out.push_back(std::move(name));
    start = comma + 1;
  }
  return out;
}

api::Json Arguments::get_list(std::string_view key) const {
  const api::Json* value = value_at(key);
  if (value == nullptr) return {};
  if (value->is_array()) return *value;
  refuse(key, *value, "a list");
  return {};
}

Arguments Arguments::get_map(std::string_view key) const {
  Arguments out;
  out.owner_ = owner_;
  out.path_ = path_ + std::string(key) + ".";
  out.use_ = use_;
  const api::Json* value = value_at(key);
  if (value == nullptr) return out;
  if (!value->is_object()) {
    refuse(key, *value, "a map");
    return out;
  }
  out.map_ = *value;
  for (const auto& member : value->members()) use_->present.push_back(out.path_ + std::string(member.name()));
  return out;
}

std::vector<std::string> Arguments::keys_after(std::string_view prefix) const {
  std::vector<std::string> out;
  for (const auto& member : map_.members()) {
    if (!member.name().starts_with(prefix)) continue;
    out.emplace_back(member.name());
    use_->read.insert(path_ + out.back());
  }
  return out;
}

std::vector<std::string> Arguments::warnings() const {
  std::vector<std::string> out = use_->problems;
  for (const std::string& key : use_->present) {
    if (!use_->read.contains(key))
      out.push_back(base::format("{}: argument {} is unknown and is ignored", owner_, key));
  }
  return out;
}

}  // namespace scheduler

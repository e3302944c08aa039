// The arguments of plugins and actions in a configuration file, and how values of the wrong type are treated.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"

namespace scheduler {

// The `arguments` map of one plugin or action. A value of the wrong type keeps the default and is noted as a warning;
// so is every key that nobody has read by the time warnings() is asked. Copies share what was read and noted.
class Arguments {
 public:
  Arguments() : Arguments(api::Json(), "") {}
  Arguments(api::Json map, std::string owner);

  std::int64_t get_int(std::string_view key, std::int64_t fallback) const;  // YAML integers only
  // The same, and `fallback` with a warning for what is less than `least`.
  std::int64_t get_int_from(std::string_view key, std::int64_t least, std::int64_t fallback) const;
  // The weight of a score. Any number counts, as in Volcano; one that turns the score around, or beside which no other
  // score matters, is noted.
  double get_weight(std::string_view key, std::int64_t fallback) const;
  // For values that may be numbers or texts: the number, or -1 for everything else, without a warning.
  std::int64_t get_int_or_text(std::string_view key) const;
  double get_double(std::string_view key, double fallback) const;                 // numbers
  bool get_bool(std::string_view key, bool fallback) const;                       // booleans and the words Go parses
  std::string get_string(std::string_view key, std::string_view fallback) const;  // strings only
  // The names in a comma separated string, trimmed, without empty ones.
  std::vector<std::string> get_names(std::string_view key) const;
  // A list of strings, or of whatever; null where it is absent or not a list.
  api::Json get_list(std::string_view key) const;
  // A map inside the map; empty where it is absent or not a map. Its warnings go to this one's.
  Arguments get_map(std::string_view key) const;
  // The keys with this prefix, which count as read, in the order of the file.
  std::vector<std::string> keys_after(std::string_view prefix) const;
  bool has(std::string_view key) const { return map_.find(key) != nullptr; }
  // Notes a problem that the reader found in a value of the right type.
  void warn(std::string message) const;

  // Problems met by the readers so far, then the keys that nobody read.
  std::vector<std::string> warnings() const;

 private:
  struct ArgumentUse {
    std::vector<std::string> problems;
    std::set<std::string> read;  // full keys: "thresholds.cpu"
    std::vector<std::string> present;
  };
  const api::Json* value_at(std::string_view key) const;
  void refuse(std::string_view key, const api::Json& value, std::string_view expected) const;

  api::Json map_;
  std::string owner_;
  std::string path_;  // of a nested map, with the dot
  std::shared_ptr<ArgumentUse> use_;
};

}  // namespace scheduler

// What may a configuration file say to a plugin or an action, and how are values of the wrong type treated?
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"

namespace scheduler {

// The `arguments` map of one plugin or action. A value of the wrong type keeps the default and is noted as a warning.
class Arguments {
 public:
  Arguments() = default;
  Arguments(api::Json map, std::string owner) : map_(std::move(map)), owner_(std::move(owner)) {}

  std::int64_t get_int(std::string_view key, std::int64_t fallback) const;      // YAML integers only
  double get_double(std::string_view key, double fallback) const;               // numbers
  bool get_bool(std::string_view key, bool fallback) const;                     // booleans and the words Go parses
  std::string get_string(std::string_view key, std::string_view fallback) const;  // strings only
  const api::Json& raw() const { return map_; }
  // Problems met by the readers so far.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void warn(std::string_view key, std::string_view expected) const;

  api::Json map_;
  std::string owner_;
  mutable std::vector<std::string> warnings_;
};

}  // namespace scheduler

// The ConfigMaps that describe devices.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "api/json/json.h"

namespace scheduler {

// The `data` of each, by "ns/name". Each has a version of its own, and the newest one is version(); both setters tell
// whether anything changed.
class DeviceConfigs {
 public:
  struct Config {
    api::Json data;
    std::uint64_t version = 0;
  };
  bool set(std::string_view key, const api::Json& data);
  bool remove(std::string_view key);
  const std::map<std::string, Config, std::less<>>& all() const { return configs_; }
  const api::Json& data_of(std::string_view key) const;  // null when there is none
  std::uint64_t version() const { return version_; }

 private:
  std::map<std::string, Config, std::less<>> configs_;
  std::uint64_t version_ = 0;
};

}  // namespace scheduler

// How devices of resource claims are, as their drivers say (DRAResourceHealth v1alpha1): what they say, and what is
// known of each device. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace node {

inline constexpr const char* kWatchHealth = "/v1alpha1.DRAResourceHealth/NodeWatchResources";

enum class Health : std::uint8_t { kUnknown, kHealthy, kUnhealthy };
std::string_view name_of(Health health);  // as a pod's status says it

struct DeviceNews {
  std::string pool;
  std::string device;
  Health health = Health::kUnknown;
  base::Duration holds = {};  // so long, if nothing else is said
  std::string message = {};

  bool operator==(const DeviceNews&) const = default;
};
// NodeWatchResourcesResponse. Errors name the field.
base::Result<std::vector<DeviceNews>> device_news_from(std::string_view message);

struct KnownHealth {
  Health health = Health::kUnknown;
  std::string message = {};

  bool operator==(const KnownHealth&) const = default;
};

// The known health of all devices. Each function that takes news says whether anything is known otherwise than before.
class HealthBook {
 public:
  bool update(const std::string& driver, const std::vector<DeviceNews>& news, base::Duration now);
  // The driver of its devices is gone.
  bool lost(const std::string& driver);
  // News that are too old do not hold any more.
  bool expire(base::Duration now);
  // When expire() has something to do next; the end of time: never.
  base::Duration next_end() const;
  KnownHealth of(const std::string& driver, const std::string& pool, const std::string& device) const;

 private:
  struct Entry {
    KnownHealth known;
    base::Duration until;
  };
  using Devices = std::map<std::pair<std::string, std::string>, Entry>;  // by pool and name
  std::map<std::string, Devices> drivers_;
};

}  // namespace node

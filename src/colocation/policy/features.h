// Which parts of the agent may run, and which do (agent.md 2.3). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "colocation/policy/config.h"

namespace colocation {

enum class Feature : std::uint8_t {
  kCpuQos,
  kCpuBurst,
  kMemoryQos,
  kMemoryQosV2,
  kNetworkQos,
  kOversubscription,
  kCpuThrottle,
  kEviction,
  kResources,
};
inline constexpr std::size_t kFeatures = 9;
std::string_view feature_name(Feature feature);

// From --supported-features: NAME, -NAME (forbidden) and *; the first entry that names a feature decides, and * counts
// where none does.
class SupportedFeatures {
 public:
  explicit SupportedFeatures(const std::vector<std::string>& entries) : entries_(entries) {}
  bool has(Feature feature) const;
  // The entries that name no feature.
  std::vector<std::string> unknown() const;

 private:
  std::vector<std::string> entries_;
};

// Whether the feature is supported, and switched on by configuration and labels.
bool is_active(Feature feature, const SupportedFeatures& supported, const Config& config);

}  // namespace colocation

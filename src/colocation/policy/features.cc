// The table of features.
#include "colocation/policy/features.h"

#include <algorithm>

namespace colocation {

namespace {

constexpr std::string_view kNames[kFeatures] = {"CPUQoS",      "CPUBurst",   "MemoryQoS",
                                                "MemoryQoSV2", "NetworkQoS", "OverSubscription",
                                                "CPUThrottle", "Eviction",   "Resources"};

std::string_view bare(std::string_view entry) { return entry.starts_with('-') ? entry.substr(1) : entry; }

}  // namespace

std::string_view feature_name(Feature feature) { return kNames[static_cast<std::size_t>(feature)]; }

bool SupportedFeatures::has(Feature feature) const {
  const std::string_view name = feature_name(feature);
  for (const std::string& entry : entries_)
    if (bare(entry) == name) return !entry.starts_with('-');
  return std::ranges::find(entries_, "*") != entries_.end();
}

std::vector<std::string> SupportedFeatures::unknown() const {
  std::vector<std::string> out;
  for (const std::string& entry : entries_)
    if (entry != "*" && std::ranges::find(kNames, bare(entry)) == std::end(kNames)) out.push_back(entry);
  return out;
}

bool is_active(Feature feature, const SupportedFeatures& supported, const Config& config) {
  if (!supported.has(feature)) return false;
  switch (feature) {
    case Feature::kCpuQos: return config.colocation && config.cpu_qos;
    case Feature::kCpuBurst: return config.colocation && config.cpu_burst;
    case Feature::kMemoryQos: return config.colocation && config.memory_qos;
    case Feature::kMemoryQosV2: return config.colocation && config.memory_qos_v2;
    case Feature::kNetworkQos: return config.colocation && config.network_qos;
    case Feature::kOversubscription: return config.oversubscription && config.sells;
    case Feature::kCpuThrottle: return config.oversubscription && config.throttle;
    case Feature::kEviction: return true;
    case Feature::kResources: return true;
  }
  return false;
}

}  // namespace colocation

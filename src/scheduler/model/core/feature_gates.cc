// Which feature gates are on?
#include "scheduler/model/core/feature_gates.h"

#include <algorithm>

#include "base/format.h"

namespace scheduler {
namespace {

constexpr std::pair<std::string_view, bool> kDefaults[] = {
    {"WorkLoadSupport", true},
    {"VolcanoJobSupport", true},
    {"PodDisruptionBudgetsSupport", true},
    {"QueueCommandSync", true},
    {"PriorityClass", true},
    {"CSIStorage", false},
    {"ResourceTopology", true},
    {"CronVolcanoJobSupport", true},
    {"SchedulingGatesQueueAdmission", false},
    // Gates of Kubernetes, as far as they change decisions.
    {"PodSchedulingReadiness", true},
    {"InPlacePodVerticalScaling", true},
    {"PodLevelResources", true},
    {"SidecarContainers", true},
    {"DynamicResourceAllocation", true},
    {"DRAAdminAccess", true},
    {"DRAPrioritizedList", true},
    {"DRAPartitionableDevices", false},
    {"DRADeviceTaints", false},
    {"DRAConsumableCapacity", true},
    {"DRAExtendedResource", false},
    {"DRASchedulerFilterTimeout", true},
    {"StorageCapacityScoring", false},
    {"NodeInclusionPolicyInPodTopologySpread", true},
    {"MatchLabelKeysInPodTopologySpread", true},
    {"VolumeAttributesClass", true},
};

constexpr std::string_view kOfKubernetes[] = {
#include "scheduler/model/core/feature_gate_names.inc"
};

base::Error invalid(std::string message) { return base::make_error(base::Code::kInvalid, std::move(message)); }

}  // namespace

FeatureGates::FeatureGates() {
  for (const auto& [name, on] : kDefaults) gates_.emplace(name, on);
}

base::Result<FeatureGates> FeatureGates::parse(std::string_view text) {
  FeatureGates out;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    std::string_view one = text.substr(start, comma - start);
    start = comma + 1;
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    if (one.empty()) continue;
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos)
      return invalid(base::format("--feature-gates: missing bool value for {}", one));
    const std::string_view name = one.substr(0, equals), value = one.substr(equals + 1);
    const bool yes =
        value == "true" || value == "True" || value == "TRUE" || value == "t" || value == "T" || value == "1";
    const bool no =
        value == "false" || value == "False" || value == "FALSE" || value == "f" || value == "F" || value == "0";
    if (!yes && !no)
      return invalid(base::format("--feature-gates: invalid value of {}: {} is not a boolean", name, value));
    if (!out.gates_.contains(name)) {
      if (std::ranges::find(kOfKubernetes, name) == std::end(kOfKubernetes))
        return invalid(base::format("--feature-gates: unrecognized feature gate: {}", name));
      out.warnings_.push_back(base::format("--feature-gates: {} changes nothing here", name));
      continue;
    }
    out.gates_.insert_or_assign(std::string(name), yes);
  }
  return out;
}

}  // namespace scheduler

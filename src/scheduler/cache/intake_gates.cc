// Fields of pods that a feature gate switches off are not read.
#include "scheduler/cache/intake_gates.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>

namespace scheduler {
namespace {

constexpr std::string_view kGatesOfFields[] = {"PodLevelResources", "InPlacePodVerticalScaling",
                                               "DynamicResourceAllocation", "NodeInclusionPolicyInPodTopologySpread",
                                               "MatchLabelKeysInPodTopologySpread"};

// Removes the fields from every item of the list.
void strip(api::Json& parent, std::string_view list, std::initializer_list<std::string_view> fields) {
  if (!parent[list].is_array()) return;
  api::Json& items = parent.edit(list);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_object()) continue;
    for (const std::string_view field : fields) items.edit(i).erase(field);
  }
}

}  // namespace

bool switches_fields_off(const FeatureGates& gates) {
  return std::any_of(std::begin(kGatesOfFields), std::end(kGatesOfFields),
                     [&](std::string_view gate) { return !gates.on(gate); });
}

api::Json without_gated_fields(api::Json pod, const FeatureGates& gates) {
  if (!pod["spec"].is_object()) return pod;
  if (!gates.on("PodLevelResources")) pod.edit("spec").erase("resources");
  // A claim that is not watched never comes: nobody is to wait for it.
  if (!gates.on("DynamicResourceAllocation")) pod.edit("spec").erase("resourceClaims");
  if (!gates.on("InPlacePodVerticalScaling") && pod["status"].is_object())
    for (const char* list : {"containerStatuses", "initContainerStatuses"})
      strip(pod.edit("status"), list, {"resources", "allocatedResources"});
  if (!gates.on("NodeInclusionPolicyInPodTopologySpread"))
    strip(pod.edit("spec"), "topologySpreadConstraints", {"nodeAffinityPolicy", "nodeTaintsPolicy"});
  if (!gates.on("MatchLabelKeysInPodTopologySpread"))
    strip(pod.edit("spec"), "topologySpreadConstraints", {"matchLabelKeys"});
  return pod;
}

}  // namespace scheduler

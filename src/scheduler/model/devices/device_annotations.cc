// The annotations of nodes and pods about shared devices.
#include "scheduler/model/devices/device_annotations.h"

#include <algorithm>

#include "scheduler/model/core/resource.h"

namespace scheduler {
namespace {

using api::Json;

bool names_devices(std::string_view key) {
  if (key == "gpu" || key == "hamivgpu") return true;  // locks
  constexpr std::string_view kPrefixes[] = {"volcano.sh/gpu", "volcano.sh/node-vgpu", "volcano.sh/vgpu",
                                            "hami.io/",       "huawei.com/",          "hami-vnpu-core"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view p) { return key.starts_with(p); });
}

Json chosen_from(const Json& map, bool (*is_chosen)(std::string_view)) {
  Json out = Json::object();
  for (const auto& member : map.members()) {
    if (is_chosen(member.name())) out.set(member.name(), member.value);
  }
  return out;
}

// True for the keys that a pod is given with its devices when it is bound.
bool is_grant(std::string_view key) {
  constexpr std::string_view kKeys[] = {"volcano.sh/gpu-index", "volcano.sh/vgpu-ids-new", "volcano.sh/vgpu-node",
                                        "huawei.com/npu-core"};
  return std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys) ||
         (key.starts_with("hami.io/") && key.ends_with("-devices-allocated"));
}

}  // namespace

bool DeviceAnnotations::set_node(NodeId node, const Json& object) {
  Json annotations = chosen_from(object["metadata"]["annotations"], names_devices);
  const auto chosen = annotations.empty() ? names_devices : is_scalar_resource_name;
  Json allocatable = chosen_from(object["status"]["allocatable"], chosen);
  Json capacity = chosen_from(object["status"]["capacity"], chosen);
  if (annotations.empty() && allocatable.empty() && capacity.empty()) return nodes_.erase(node.index) != 0;
  Json labels = Json::object();
  for (const std::string_view key : {"servertype", "accelerator"}) {
    if (const Json* value = object["metadata"]["labels"].find(key)) labels.set(key, *value);
  }
  Json facts = Json::object({{"annotations", std::move(annotations)},
                             {"allocatable", std::move(allocatable)},
                             {"capacity", std::move(capacity)},
                             {"labels", std::move(labels)}});
  Json& slot = nodes_[node.index];
  if (slot == facts) return false;
  slot = std::move(facts);
  return true;
}

void DeviceAnnotations::remove_node(NodeId node) { nodes_.erase(node.index); }

const Json& DeviceAnnotations::node(NodeId node) const {
  static const Json kNone;
  auto found = nodes_.find(node.index);
  return found == nodes_.end() ? kNone : found->second;
}

bool DeviceAnnotations::set_task(TaskId task, const Json& pod) {
  Annotations found;
  if (!pod["spec"]["nodeName"].as_string().empty())
    for (const auto& member : pod["metadata"]["annotations"].members())
      if (is_grant(member.name())) found.emplace(std::string(member.name()), member.value.str());
  const Annotations* before = stored(task);
  const bool changes = before == nullptr ? !found.empty() : *before != found;
  if (found.empty())
    stored_.erase(task.index);
  else if (changes)
    stored_[task.index] = std::move(found);
  return changes;
}

void DeviceAnnotations::forget_task(TaskId task) {
  stored_.erase(task.index);
  revoke(task);
}

void DeviceAnnotations::grant(TaskId task, const Annotations& annotations) {
  Annotations& all = granted_[task.index];
  for (const auto& [key, value] : annotations) all.insert_or_assign(key, value);
}

}  // namespace scheduler

// A family of shared devices, as the deviceshare plugin sees it.
//
// A family reads what nodes register and what their pods hold from the model each time it is asked: nothing is booked
// twice, so whatever is undone, or comes late, leaves nothing behind.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/model/model.h"
#include "scheduler/search/fit.h"

namespace scheduler {

enum class DevicePolicy : std::uint8_t { kNeutral, kBinpack, kSpread };

// The part of a card in its node's score: by binpack how full it would be, by spread that nobody used it before.
inline double card_score(DevicePolicy policy, std::int64_t used, std::int64_t capacity, bool was_unused) {
  if (policy == DevicePolicy::kSpread) return was_unused ? 100 : 0;
  if (policy != DevicePolicy::kBinpack || capacity <= 0) return 0;
  return 100.0 * static_cast<double>(used) / static_cast<double>(capacity);
}

struct DeviceMisfit {
  FitCode code = FitCode::kUnschedulable;
  std::string message;
};

// The devices that a placement would take.
struct DeviceTake {
  Annotations annotations;  // for the pod
  double score = 0;         // of the node
  bool reduced = false;     // less than the pod would like
};

class DeviceFamily {
 public:
  virtual ~DeviceFamily() = default;
  // Before a cycle. True when wants() may answer otherwise than before.
  virtual bool refresh() { return false; }
  // The annotation by which nodes are locked; empty: they are not.
  virtual std::string_view lock_name() const = 0;
  // The pods of the shape ask for devices of this family.
  virtual bool wants(const Shape& shape) const = 0;
  virtual bool is_on(NodeId node) const = 0;
  // The devices that the task would get on the node, or why it does not fit there.
  virtual std::optional<DeviceTake> take(const Task& task, NodeId node, base::Time now, DeviceMisfit& misfit) const = 0;
  // Adds what follows from all candidates together, times `weight`. Families that do so are not asked for take().score.
  virtual bool scores_together() const { return false; }
  virtual void score_together(const Task&, const NodeSet&, double, std::vector<double>&) const {}
  // Gauges of the family's devices, where it has any.
  virtual void report(const MetricSink&) const {}
  virtual void held_by(const Task&, const AmountSink&) const {}
  // Tasks for which take() may differ have different numbers.
  virtual std::uint32_t class_key(const Task&) const { return 0; }
};

// The tasks on a node that hold their devices; those that are being deleted do not.
template <class Visit>
void for_each_holder(const Model& model, NodeId node, Visit&& visit) {
  for (const TaskId id : model.nodes[node].tasks) {
    const Task& task = model.task(id);
    if (is_releasing(task.status) || is_terminated(task.status)) continue;
    if (const Annotations* devices = model.devices.devices_of(id)) visit(task, *devices);
  }
}

inline std::string_view value_in(const Annotations& map, std::string_view key) {
  auto found = map.find(key);
  return found == map.end() ? std::string_view() : std::string_view(found->second);
}

// The parts between separators, none for an empty text.
std::vector<std::string_view> split_text(std::string_view text, char by);
// A decimal number of at most 2^50; nothing for anything else.
std::optional<std::int64_t> amount_in(std::string_view text);

// Devices as pods are told of them, "id,type,memory,cores:" each, containers separated by ";": the id, memory and
// cores.
template <class Visit>
void for_each_device_in(std::string_view text, Visit&& visit) {
  for (const std::string_view container : split_text(text, ';')) {
    for (const std::string_view device : split_text(container, ':')) {
      const auto parts = split_text(device, ',');
      const auto memory = parts.size() < 4 ? std::nullopt : amount_in(parts[2]);
      const auto cores = parts.size() < 4 ? std::nullopt : amount_in(parts[3]);
      if (memory && cores) visit(parts[0], *memory, *cores);
    }
  }
}

// Families. `memory`: cards are shared by memory, else by whole cards.
std::unique_ptr<DeviceFamily> make_gpu_share(const Model& model, bool memory);

struct VgpuSettings {
  DevicePolicy policy = DevicePolicy::kNeutral;
  bool spread_scores = false;              // vGPU: spread adds points for cards that nobody uses
  std::vector<api::Json> exclusive_rules;  // maps of labels
  std::string config_map;                  // "ns/name"
};
std::unique_ptr<DeviceFamily> make_vgpu(Model& model, VgpuSettings settings);
// MindCluster's Ascend 310P chips. `cluster_wide`: their state is what ClusterD publishes for all nodes, else what the
// device plugin of each node does.
std::unique_ptr<DeviceFamily> make_mindcluster_vnpu(const Model& model, bool cluster_wide);
std::unique_ptr<DeviceFamily> make_hami_vnpu(Model& model, VgpuSettings settings);

}  // namespace scheduler

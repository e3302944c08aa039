// Objects of every kind that the scheduler reads: whatever they say, it takes them in, decides, and forgets them.
#include <array>
#include <vector>

#include "scheduler/actions/all.h"
#include "scheduler/cache/intake.h"
#include "scheduler/plugins/all.h"
#include "scheduler/session/decider.h"
#include "targets.h"

namespace fuzz {
namespace {

using api::Json;

struct Kind {
  std::string_view name;
  const api::ResourceId* resource;
};
const std::array kKinds = {
    Kind{"Node", &api::resources::kNodes},
    Kind{"Pod", &api::resources::kPods},
    Kind{"PodGroup", &api::resources::kPodGroups},
    Kind{"Queue", &api::resources::kQueues},
    Kind{"HyperNode", &api::resources::kHyperNodes},
    Kind{"PriorityClass", &api::resources::kPriorityClasses},
    Kind{"PersistentVolume", &api::resources::kPersistentVolumes},
    Kind{"PersistentVolumeClaim", &api::resources::kPersistentVolumeClaims},
    Kind{"StorageClass", &api::resources::kStorageClasses},
    Kind{"CSINode", &api::resources::kCsiNodes},
    Kind{"CSIDriver", &api::resources::kCsiDrivers},
    Kind{"CSIStorageCapacity", &api::resources::kCsiStorageCapacities},
    Kind{"VolumeAttachment", &api::resources::kVolumeAttachments},
    Kind{"ConfigMap", &api::resources::kConfigMaps},
    Kind{"DeviceClass", &api::resources::kDeviceClasses},
    Kind{"ResourceClaim", &api::resources::kResourceClaims},
    Kind{"ResourceSlice", &api::resources::kResourceSlices},
    Kind{"Numatopology", &api::resources::kNumatopologies},
    Kind{"Service", &api::resources::kServices},
    Kind{"ReplicaSet", &api::resources::kReplicaSets},
    Kind{"PodDisruptionBudget", &api::resources::kPodDisruptionBudgets},
    Kind{"ResourceQuota", &api::resources::kResourceQuotas},
    Kind{"Namespace", &api::resources::kNamespaces},
    Kind{"NodeShard", &api::resources::kNodeShards},
};

constexpr std::string_view kConfigs[] = {
    "actions: \"enqueue, reclaim, allocate, backfill, preempt\"\ntiers:\n- plugins: [{name: priority}, {name: gang}, "
    "{name: conformance}]\n- plugins: [{name: drf}, {name: predicates}, {name: proportion}, {name: nodeorder}, {name: "
    "network-topology-aware}, {name: numa-aware}, {name: deviceshare, arguments: {deviceshare.VGPUEnable: true, "
    "deviceshare.ScheduleWeight: 3}}]\n",
    "actions: \"enqueue, allocate, gangpreempt, gangreclaim, shuffle\"\ntiers:\n- plugins: [{name: priority}, {name: "
    "gang}, {name: pdb}]\n- plugins: [{name: capacity, enableHierarchy: true}, {name: predicates}, {name: binpack}, "
    "{name: nodegroup}, {name: resourcequota}, {name: task-topology}, {name: tdm}, {name: network-topology-aware}]\n",
};

// The kind that the object names; without a good name the name's length chooses one.
const api::ResourceId& resource_of(const Json& object) {
  const std::string_view name = object["kind"].as_string();
  for (const Kind& one : kKinds) {
    if (one.name == name) return *one.resource;
  }
  return *kKinds[name.size() % kKinds.size()].resource;
}

}  // namespace

// One object a line; a line of "cycle" decides in between. In the end every object goes.
void scheduler_objects(std::string_view input) {
  scheduler::Model model;
  scheduler::Ledger ledger;
  scheduler::Intake intake(model, ledger, {});
  scheduler::Decider decider(model, ledger, {scheduler::all_plugins(), scheduler::all_actions()}, 1, "volcano");
  promise(decider.configure(kConfigs[input.size() % std::size(kConfigs)]).ok(), "the configuration is good");
  std::vector<Json> objects;
  base::Time now = base::Time{} + base::seconds(1'700'000'000);
  const auto decide = [&] {
    const scheduler::CycleReport report = decider.run_cycle(now);
    for (const auto& bind : report.plan.binds) {
      const auto task = model.find_task(bind.ns + "/" + bind.pod);
      promise(task.is_set(), "what is bound exists", bind.pod);
      model.move(task, scheduler::TaskStatus::kRunning, model.task(task).node);
    }
    now = now + base::seconds(1);
  };
  for (std::size_t start = 0, cycles = 0; start < input.size() && objects.size() < 64 && cycles < 4;) {
    const std::size_t end = std::min(input.find('\n', start), input.size());
    const std::string_view line = input.substr(start, end - start);
    start = end + 1;
    if (line == "cycle") {
      decide();
      ++cycles;
    } else if (const auto object = api::parse_json(line); object.ok() && object->is_object()) {
      intake.set(resource_of(*object), *object);
      objects.push_back(*object);
    }
  }
  decide();
  for (const Json& object : objects) intake.remove(resource_of(object), object);
  decide();
}

}  // namespace fuzz

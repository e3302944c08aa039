// No pod is bound that takes its queue above its capability.
//
// Counted at the server, among pods that hold nodes and are not on their way out. Two things the scheduler may see
// otherwise: a capability that was lowered a moment ago, and victims that it evicts while their deletion is still under
// way.
#include <algorithm>
#include <map>
#include <set>

#include "api/schema/quantity.h"
#include "base/format.h"
#include "sim/checks/all.h"
#include "sim/world/decisions.h"
#include "sim/world/world.h"

namespace sim {

using api::Json;

namespace {

constexpr std::string_view kGroupName = "scheduling.k8s.io/group-name";

api::ResourceList requests_of(const Json& pod) {
  api::ResourceList sum;
  for (const Json& container : pod["spec"]["containers"].items())
    for (const auto& [name, quantity] : api::resource_list_from(container["resources"]["requests"]))
      sum[name] += quantity;
  return sum;
}

bool holds_a_node(const Json& pod) {
  const std::string_view phase = pod["status"]["phase"].as_string();
  return !pod["spec"]["nodeName"].as_string().empty() && phase != "Succeeded" && phase != "Failed" &&
         !api::is_deleting(pod);
}

class QueuesWithinCapability final : public Check {
 public:
  QueuesWithinCapability(World& world, Settings& settings, base::Random& dice)
      : world_(world), late_(settings.span("late", base::seconds(30), dice)) {}

  void begin() override {
    world_.decisions().on_plan([this](const scheduler::Plan& plan) {
      for (const scheduler::PlannedEviction& one : plan.evictions) evicted_.insert(one.uid);
    });
    world_.truth().on_change([this](const api::ResourceId& resource, const Json* before, const Json* after) {
      if (resource == api::resources::kQueues && before) {
        past_[std::string(api::name_of(*before))].emplace_back(world_.clock().now(), (*before)["spec"]["capability"]);
      }
      if (resource != api::resources::kPods || !after || !holds_a_node(*after) || (before && holds_a_node(*before)))
        return;
      compare(queue_of(*after), *after);
    });
  }

  void finish() override {
    world_.chronicle().record(base::format("{} pods bound in queues with a capability", compared_));
  }

 private:
  std::string queue_of(const Json& pod) const {
    const std::string_view group = api::annotation_of(pod, kGroupName);
    const Json* found =
        world_.truth().find(api::resources::kPodGroups, base::format("{}/{}", api::namespace_of(pod), group));
    return group.empty() || !found ? std::string() : (*found)["spec"]["queue"].str();
  }

  // The most that the scheduler may believe the queue can have; nothing: no limit.
  std::optional<api::Quantity> limit(const std::string& queue, const std::string& resource) const {
    const Json* object = world_.truth().find(api::resources::kQueues, queue);
    if (!object) return std::nullopt;
    const api::ResourceList now = api::resource_list_from((*object)["spec"]["capability"]);
    const auto found = now.find(resource);
    if (found == now.end()) return std::nullopt;
    api::Quantity most = found->second;
    if (const auto past = past_.find(queue); past != past_.end()) {
      for (const auto& [until, capability] : past->second) {
        if (world_.clock().now() - until > late_) continue;
        const api::ResourceList then = api::resource_list_from(capability);
        const auto before = then.find(resource);
        if (before == then.end()) return std::nullopt;
        most = std::max(most, before->second);
      }
    }
    return most;
  }

  void compare(const std::string& queue, const Json& bound) {
    if (queue.empty()) return;
    api::ResourceList used;
    for (const auto& [key, pod] : world_.truth().objects(api::resources::kPods)) {
      if (!holds_a_node(pod) || evicted_.contains(std::string(api::uid_of(pod))) || queue_of(pod) != queue) continue;
      for (const auto& [name, quantity] : requests_of(pod)) used[name] += quantity;
    }
    bool is_limited = false;
    for (const auto& [name, quantity] : requests_of(bound)) {
      const auto most = limit(queue, name);
      is_limited |= most.has_value();
      if (quantity.sign() > 0 && most && used[name] > *most)
        world_.chronicle().violation(
            "queues-within-capability",
            base::format("queue {} may have {} of {}, its pods hold {}, the last one is {}", queue, most->to_string(),
                         name, used[name].to_string(), api::key_of(bound)));
    }
    compared_ += is_limited ? 1 : 0;
  }

  World& world_;
  base::Duration late_;
  std::set<std::string> evicted_;                                         // uids of pods
  std::map<std::string, std::vector<std::pair<base::Time, Json>>> past_;  // capabilities, and until when
  std::uint64_t compared_ = 0;
};

}  // namespace

std::unique_ptr<Check> make_queues_within_capability(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<QueuesWithinCapability>(world, settings, dice);
}

}  // namespace sim

// Pods that go for a group lead to its placement.
//
// Faults may spoil a round: a node is lost, another pod comes between, a scheduler ends and forgets what it did. But
// a group for which round follows round, while none of its pods gets a node, gains nothing from them.
#include <map>
#include <set>

#include "base/format.h"
#include "sim/checks/all.h"
#include "sim/world/world.h"

namespace sim {

using api::Json;

namespace {

constexpr std::string_view kGroupName = "scheduling.k8s.io/group-name";

class EvictionsHelp final : public Check {
 public:
  EvictionsHelp(World& world, Settings& settings, base::Random& dice)
      : world_(world), most_(settings.number("rounds", 4, dice)) {}

  void begin() override {
    world_.decisions().on_plan([this](const scheduler::Plan& plan) {
      std::set<std::string> groups;
      for (const scheduler::PlannedEviction& one : plan.evictions) {
        if (!one.for_group.empty()) groups.insert(one.for_group);
      }
      for (const std::string& group : groups) count(group);
    });
    world_.truth().on_change([this](const api::ResourceId& resource, const Json* before, const Json* after) {
      if (resource != api::resources::kPods || !after || (*after)["spec"]["nodeName"].as_string().empty()) return;
      if (before && !(*before)["spec"]["nodeName"].as_string().empty()) return;
      rounds_.erase(base::format("{}/{}", api::namespace_of(*after), api::annotation_of(*after, kGroupName)));
    });
  }

  void finish() override { world_.chronicle().note(base::format("{} rounds of evictions", all_)); }

 private:
  void count(const std::string& group) {
    ++all_;
    if (++rounds_[group] <= most_) return;
    world_.chronicle().violation(
        "evictions-help",
        base::format("{} rounds of evictions for {}, and no pod of it got a node", rounds_[group], group));
  }

  World& world_;
  const std::int64_t most_;
  std::map<std::string, std::int64_t> rounds_;  // since a pod of the group last got a node
  std::uint64_t all_ = 0;
};

}  // namespace

std::unique_ptr<Check> make_evictions_help(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<EvictionsHelp>(world, settings, dice);
}

}  // namespace sim

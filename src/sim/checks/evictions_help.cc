// Pods that go for a group lead to its placement.
//
// Faults may spoil a round: a node is lost, another pod comes between, a scheduler ends and forgets what it did. But
// a group for which round follows round, while none of its pods gets a node, gains nothing from them. A round whose
// evictions the server refuses costs nobody anything and does not count.
#include <map>
#include <string>
#include <utility>

#include "base/format.h"
#include "sim/checks/all.h"
#include "sim/world/decisions.h"
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
      ++plans_;
      for (const scheduler::PlannedEviction& one : plan.evictions) {
        // Victims of an older plan that did not leave were not evicted, whatever ends them later.
        std::erase_if(victims_, [&](const auto& older) {
          return older.second.group == one.for_group && older.second.plan != plans_;
        });
        if (!one.for_group.empty()) victims_[base::format("{}/{}", one.ns, one.pod)] = {one.for_group, plans_};
      }
    });
    world_.truth().on_change([this](const api::ResourceId& resource, const Json* before, const Json* after) {
      if (resource != api::resources::kPods) return;
      if (after == nullptr || !(*after)["metadata"]["deletionTimestamp"].is_null())
        leaves(api::key_of(after == nullptr ? *before : *after));
      if (after == nullptr || (*after)["spec"]["nodeName"].as_string().empty()) return;
      if (before && !(*before)["spec"]["nodeName"].as_string().empty()) return;
      rounds_.erase(base::format("{}/{}", api::namespace_of(*after), api::annotation_of(*after, kGroupName)));
    });
  }

  void finish() override { world_.chronicle().record(base::format("{} rounds of evictions", all_)); }

 private:
  struct Beneficiary {
    std::string group;
    std::uint64_t plan;
  };
  struct Rounds {
    std::int64_t count = 0;
    std::uint64_t last_plan = 0;
  };

  // The first victim of a plan that leaves makes it a round.
  void leaves(const std::string& pod) {
    const auto victim = victims_.extract(pod);
    if (victim.empty()) return;
    const auto& [group, plan] = victim.mapped();
    Rounds& rounds = rounds_[group];
    if (std::exchange(rounds.last_plan, plan) == plan) return;
    ++all_;
    if (++rounds.count <= most_) return;
    world_.chronicle().violation(
        "evictions-help",
        base::format("{} rounds of evictions for {}, and no pod of it got a node", rounds.count, group));
  }

  World& world_;
  const std::int64_t most_;
  std::map<std::string, Beneficiary> victims_;  // of pods that are to leave
  std::map<std::string, Rounds> rounds_;        // since a pod of the group last got a node
  std::uint64_t plans_ = 0;
  std::uint64_t all_ = 0;
};

}  // namespace

std::unique_ptr<Check> make_evictions_help(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<EvictionsHelp>(world, settings, dice);
}

}  // namespace sim

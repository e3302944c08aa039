// A gang holds nodes with at least its minimum of pods, or with none: a part of one may exist only for a while.
//
// Bindings are single writes, so for some moments every gang that starts is a part, and while the scheduler is down or
// its requests are lost these moments last. In a healed world they end within `grace`.
#include <map>

#include "base/format.h"
#include "sim/checks/all.h"
#include "sim/world/world.h"

namespace sim {

using api::Json;

namespace {

constexpr std::string_view kGroupName = "scheduling.k8s.io/group-name";

class GangsAreAtomic final : public Check {
 public:
  GangsAreAtomic(World& world, Settings& settings, base::Random& dice)
      : world_(world), grace_(settings.span("grace", base::seconds(30), dice)) {}

  void begin() override { look(); }

  std::string unrest() override {
    for (const auto& [group, since] : partial_)
      return base::format("gang {} holds nodes with a part of its pods", group);
    return {};
  }

 private:
  struct Held {
    std::int64_t running = 0;  // on nodes
    std::int64_t ended = 0;    // were on nodes
    bool deleting = false;     // some are on their way out
  };

  void look() {
    std::map<std::string, Held> held;
    for (const auto& [key, pod] : world_.truth().objects(api::resources::kPods)) {
      const std::string_view group = api::annotation_of(pod, kGroupName);
      if (group.empty() || pod["spec"]["nodeName"].as_string().empty()) continue;
      Held& at = held[base::format("{}/{}", api::namespace_of(pod), group)];
      const std::string_view phase = pod["status"]["phase"].as_string();
      if (phase == "Succeeded" || phase == "Failed")
        ++at.ended;
      else if (api::is_deleting(pod))
        at.deleting = true;
      else
        ++at.running;
    }
    std::map<std::string, base::Time> partial;
    for (const auto& [key, group] : world_.truth().objects(api::resources::kPodGroups)) {
      const auto found = held.find(key);
      if (found == held.end() || found->second.deleting || api::is_deleting(group)) continue;
      const Held& at = found->second;
      if (at.running == 0 || at.running + at.ended >= group["spec"]["minMember"].as_int()) continue;
      const auto before = partial_.find(key);
      const base::Time since = before == partial_.end() || !was_healed_ ? world_.clock().now() : before->second;
      partial.emplace(key, since);
      if (world_.is_healed() && world_.clock().now() - since > grace_)
        world_.chronicle().violation("gangs-are-atomic",
                                     base::format("{} pods of gang {} hold nodes, its minimum is {}", at.running, key,
                                                  group["spec"]["minMember"].as_int()));
    }
    was_healed_ = world_.is_healed();
    partial_ = std::move(partial);
    world_.after(base::milliseconds(500), [this] { look(); });
  }

  World& world_;
  base::Duration grace_;
  std::map<std::string, base::Time> partial_;  // since when
  bool was_healed_ = false;
};

}  // namespace

std::unique_ptr<Check> make_gangs_are_atomic(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<GangsAreAtomic>(world, settings, dice);
}

}  // namespace sim

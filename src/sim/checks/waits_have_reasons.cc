// A group that waits says why: in a condition of its own, or in the message of its job.
//
// In a healed world, within `grace`.
#include <map>

#include "base/format.h"
#include "sim/checks/all.h"
#include "sim/world/world.h"

namespace sim {

using api::Json;

namespace {

class WaitsHaveReasons final : public Check {
 public:
  WaitsHaveReasons(World& world, Settings& settings, base::Random& dice)
      : world_(world), grace_(settings.span("grace", base::seconds(60), dice)) {}

  void begin() override { look(); }

 private:
  static bool waits(const Json& group) {
    const std::string_view phase = group["status"]["phase"].as_string();
    return !api::is_deleting(group) && (phase.empty() || phase == "Pending" || phase == "Inqueue");
  }

  bool has_reason(const Json& group) const {
    for (const Json& condition : group["status"]["conditions"].items())
      if (condition["status"].as_string() == "True" && !condition["message"].as_string().empty()) return true;
    const Json& owner = api::controller_of(group);
    if (owner["kind"].as_string() != "Job") return false;
    const Json* job = world_.truth().find(api::resources::kJobs,
                                          base::format("{}/{}", api::namespace_of(group), owner["name"].as_string()));
    return job && !(*job)["status"]["state"]["message"].as_string().empty();
  }

  void look() {
    std::map<std::string, base::Time> silent;
    for (const auto& [key, group] : world_.truth().objects(api::resources::kPodGroups)) {
      if (!waits(group) || has_reason(group)) continue;
      const auto before = silent_.find(key);
      const bool is_new = before == silent_.end() || !was_healed_;
      const base::Time since = is_new ? world_.clock().now() : before->second;
      silent.emplace(key, since);
      if (world_.is_healed() && world_.clock().now() - since > grace_)
        world_.chronicle().violation(
            "waits-have-reasons",
            base::format("group {} has waited for {} and does not say why", key, base::format_go_duration(grace_)));
    }
    was_healed_ = world_.is_healed();
    silent_ = std::move(silent);
    world_.after(base::seconds(1), [this] { look(); });
  }

  World& world_;
  base::Duration grace_;
  std::map<std::string, base::Time> silent_;  // since when
  bool was_healed_ = false;
};

}  // namespace

std::unique_ptr<Check> make_waits_have_reasons(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<WaitsHaveReasons>(world, settings, dice);
}

}  // namespace sim

// Pods in a hurry, each for itself, arrive at a steady rate for the agent scheduler.
#include <algorithm>

#include "base/format.h"
#include "sim/workloads/submitter.h"

namespace sim {

using api::Json;

namespace {

class SinglePods final : public Submitter {
 public:
  SinglePods(World& world, Settings& settings, base::Random& dice)
      : Submitter(world, settings, dice, "single-pods", "hurried", base::seconds(1)),
        cpu_milli_(settings.range("cpu_milli", {100, 1000})),
        runs_for_(settings.span_range("runs_for", {1'000'000'000, 10'000'000'000})),
        urgent_(settings.fraction("urgent", 0.1, dice)) {}

 private:
  Json pod() {
    const Json requests = Json::object({{"cpu", base::format("{}m", cpu_milli_.draw(dice_))}});
    const Json container =
        Json::object({{"name", "main"}, {"image", "work"}, {"resources", Json::object({{"requests", requests}})}});
    Json annotations = Json::object({{kRunsFor, base::format_go_duration({runs_for_.draw(dice_)})}});
    if (dice_.chance(urgent_)) annotations.set("volcano.sh/scheduling-priority", "50");
    return Json::object({{"apiVersion", "v1"},
                         {"kind", "Pod"},
                         {"metadata", Json::object({{"name", base::format("hurried-{}", made_++)},
                                                    {"namespace", "default"},
                                                    {"annotations", annotations}})},
                         {"spec", Json::object({{"schedulerName", "agent-scheduler"},
                                                {"restartPolicy", "Never"},
                                                {"containers", Json::array({container})}})}});
  }

  void submit() override { create(api::resources::kPods, "default", pod()); }

  Settings::Range cpu_milli_, runs_for_;
  double urgent_;
};

}  // namespace

std::unique_ptr<Workload> make_single_pods(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<SinglePods>(world, settings, dice);
}

}  // namespace sim

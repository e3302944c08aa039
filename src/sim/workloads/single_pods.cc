// Pods in a hurry, each for itself, arrive at a steady rate for the agent scheduler.
#include <algorithm>

#include "base/format.h"
#include "sim/workloads/all.h"
#include "sim/world/person_calls.h"

namespace sim {

using api::Json;

namespace {

class SinglePods final : public Workload {
 public:
  SinglePods(World& world, Settings& settings, base::Random& dice)
      : world_(world),
        dice_(dice.next()),
        interval_(settings.interval("rate", base::seconds(1))),
        cpu_milli_(settings.range("cpu_milli", {100, 1000})),
        runs_for_(settings.span_range("runs_for", {1'000'000'000, 10'000'000'000})),
        urgent_(settings.fraction("urgent", 0.1, dice)) {}

  void start() override {
    person_ = world_.make_person("hurried");
    arm();
  }
  void stop() override { stopped_ = true; }
  bool done() const override { return open_ == 0; }

 private:
  void arm() {
    person_->env->loop().after(interval_, [this] {
      if (stopped_) return;
      submit();
      arm();
    });
  }

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

  void submit() {
    client::Request request{.verb = client::Verb::kCreate, .resource = api::resources::kPods, .ns = "default"};
    request.body = pod();
    ++open_;
    ask_until_answered(*person_, std::move(request), [this](base::Result<Json> result, int attempts) {
      --open_;
      if (result.ok() || (attempts > 1 && result.error().code == base::Code::kAlreadyExists)) return;
      world_.chronicle().violation("single-pods", "a good pod was refused: " + result.error().message);
    });
  }

  World& world_;
  base::Random dice_;
  base::Duration interval_;
  Settings::Range cpu_milli_, runs_for_;
  double urgent_;
  std::unique_ptr<Person> person_;
  std::int64_t made_ = 0;
  int open_ = 0;
  bool stopped_ = false;
};

}  // namespace

std::unique_ptr<Workload> make_single_pods(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<SinglePods>(world, settings, dice);
}

}  // namespace sim

// CronJobs of every concurrency policy; some change their schedule. In the end all are suspended.
#include "base/format.h"
#include "client/client.h"
#include "sim/workloads/all.h"
#include "sim/world/env.h"
#include "sim/world/nodes.h"
#include "sim/world/person_calls.h"

namespace sim {

using api::Json;

namespace {

constexpr const char* kSchedules[] = {"* * * * *", "@every 7s", "@every 25s", "*/2 * * * *"};
constexpr const char* kPolicies[] = {"Allow", "Forbid", "Replace"};

class Crons final : public Workload {
 public:
  Crons(World& world, Settings& settings, base::Random& dice)
      : world_(world),
        dice_(dice.next()),
        count_(settings.number("count", 4, dice)),
        runs_for_(settings.span_range("runs_for", {1'000'000'000, 40'000'000'000})),
        changes_(settings.pause_range("changes_every", {20'000'000'000, 60'000'000'000})),
        fails_(settings.fraction("fails", 0.1, dice)) {}

  void start() override {
    person_ = world_.make_person("crons");
    for (std::int64_t i = 0; i < count_; ++i) {
      client::Request request = about(i, client::Verb::kCreate);
      request.name.clear();
      request.body = cronjob(i);
      ask(std::move(request));
    }
    if (count_ > 0) arm();
  }
  void stop() override {
    stopped_ = true;
    for (std::int64_t i = 0; i < count_; ++i) patch(i, Json::object({{"suspend", true}}));
  }
  bool done() const override { return open_ == 0; }

 private:
  static client::Request about(std::int64_t index, client::Verb verb) {
    return {
        .verb = verb, .resource = api::resources::kCronJobs, .ns = "default", .name = base::format("cron-{}", index)};
  }

  void arm() {
    person_->env->loop().after({changes_.draw(dice_)}, [this] {
      if (stopped_) return;
      const auto index = static_cast<std::int64_t>(dice_.below(static_cast<std::uint64_t>(count_)));
      patch(index, Json::object({{"schedule", kSchedules[dice_.below(std::size(kSchedules))]}}));
      arm();
    });
  }

  Json cronjob(std::int64_t index) {
    const Json container = Json::object(
        {{"name", "main"},
         {"image", "work"},
         {"command", Json::array({"work"})},
         {"resources", Json::object({{"requests", Json::object({{"cpu", "100m"}, {"memory", "64Mi"}})}})}});
    const Json annotations = Json::object(
        {{kRunsFor, base::format_go_duration({runs_for_.draw(dice_)})}, {kExitCode, dice_.chance(fails_) ? "1" : "0"}});
    const Json pod =
        Json::object({{"metadata", Json::object({{"annotations", annotations}})},
                      {"spec", Json::object({{"restartPolicy", "Never"}, {"containers", Json::array({container})}})}});
    const Json task = Json::object({{"name", "work"}, {"replicas", 1}, {"template", pod}});
    const Json job = Json::object({{"spec", Json::object({{"tasks", Json::array({task})}})}});
    return Json::object(
        {{"metadata", Json::object({{"name", base::format("cron-{}", index)}})},
         {"spec", Json::object({{"schedule", kSchedules[dice_.below(std::size(kSchedules))]},
                                {"timeZone", "UTC"},
                                {"concurrencyPolicy", kPolicies[static_cast<std::size_t>(index) % 3]},
                                {"successfulJobsHistoryLimit", static_cast<std::int64_t>(dice_.below(3))},
                                {"jobTemplate", job}})}});
  }

  void patch(std::int64_t index, Json spec) {
    client::Request request = about(index, client::Verb::kPatch);
    request.body = Json::object({{"spec", std::move(spec)}});
    ask(std::move(request));
  }

  void ask(client::Request request) {
    ++open_;
    const bool creates = request.verb == client::Verb::kCreate;
    ask_until_answered(*person_, std::move(request), [this, creates](base::Result<Json> result, int attempts) {
      --open_;
      if (creates && !result.ok() && !(attempts > 1 && result.error().code == base::Code::kAlreadyExists))
        world_.chronicle().violation("crons", base::format("a good CronJob was refused: {}", result.error().message));
    });
  }

  World& world_;
  base::Random dice_;
  std::int64_t count_;
  Settings::Range runs_for_, changes_;
  double fails_;
  std::unique_ptr<Person> person_;
  int open_ = 0;
  bool stopped_ = false;
};

}  // namespace

std::unique_ptr<Workload> make_crons(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<Crons>(world, settings, dice);
}

}  // namespace sim

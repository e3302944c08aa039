// Users change their minds: they suspend, resume, restart and delete jobs.
#include "base/format.h"
#include "client/client.h"
#include "sim/workloads/all.h"
#include "sim/world/env.h"
#include "sim/world/person_calls.h"

namespace sim {

using api::Json;

namespace {

class JobChurn final : public Workload {
 public:
  JobChurn(World& world, Settings& settings, base::Random& dice)
      : world_(world),
        dice_(dice.next()),
        every_(settings.pause_range("every", {4'000'000'000, 12'000'000'000})),
        deletes_(settings.fraction("deletes", 0.3, dice)) {}

  void start() override {
    person_ = world_.make_person("fickle");
    arm();
  }
  void stop() override {
    stopped_ = true;
    // Suspended jobs would never end.
    for (const auto& [key, job] : world_.truth().objects(api::resources::kJobs)) {
      const std::string_view phase = job["status"]["state"]["phase"].as_string();
      if (phase == "Aborted" || phase == "Aborting") command(job, "ResumeJob");
    }
  }
  bool done() const override { return open_ == 0; }

 private:
  void arm() {
    person_->env->loop().after({every_.draw(dice_)}, [this] {
      if (stopped_) return;
      change_one();
      arm();
    });
  }

  void change_one() {
    std::vector<const Json*> jobs;
    for (const auto& [key, job] : world_.truth().objects(api::resources::kJobs))
      if (!api::is_deleting(job)) jobs.push_back(&job);
    if (jobs.empty()) return;
    const Json& job = *jobs[dice_.below(jobs.size())];
    if (dice_.chance(deletes_)) return remove(job);
    const std::string_view phase = job["status"]["state"]["phase"].as_string();
    command(job, phase == "Aborted" ? "ResumeJob" : dice_.chance(0.5) ? "AbortJob" : "RestartJob");
  }

  void remove(const Json& job) {
    client::Request request{.verb = client::Verb::kDelete,
                            .resource = api::resources::kJobs,
                            .ns = std::string(api::namespace_of(job)),
                            .name = std::string(api::name_of(job))};
    ask(std::move(request));
  }

  void command(const Json& job, std::string_view action) {
    client::Request request{.verb = client::Verb::kCreate,
                            .resource = api::resources::kCommands,
                            .ns = std::string(api::namespace_of(job))};
    request.body =
        Json::object({{"metadata", Json::object({{"name", base::format("fickle-{}", made_++)},
                                                 {"ownerReferences", Json::array({api::controller_reference(job)})}})},
                      {"action", action},
                      {"target", api::controller_reference(job)}});
    ask(std::move(request));
  }

  void ask(client::Request request) {
    ++open_;
    ask_until_answered(*person_, std::move(request), [this](base::Result<Json>, int) { --open_; });
  }

  World& world_;
  base::Random dice_;
  Settings::Range every_;
  double deletes_;
  std::unique_ptr<Person> person_;
  int made_ = 0;
  int open_ = 0;
  bool stopped_ = false;
};

}  // namespace

std::unique_ptr<Workload> make_job_churn(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<JobChurn>(world, settings, dice);
}

}  // namespace sim

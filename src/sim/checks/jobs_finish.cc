// In the end every job is finished, every pod of a finished job has ended, and nothing is left half deleted.
#include "base/format.h"
#include "sim/checks/all.h"
#include "sim/world/world.h"

namespace sim {

using api::Json;

namespace {

bool is_finished(std::string_view phase) {
  return phase == "Completed" || phase == "Failed" || phase == "Terminated" || phase == "Aborted";
}

class JobsFinish final : public Check {
 public:
  explicit JobsFinish(World& world) : world_(world) {}

  void begin() override {}

  std::string unrest() override {
    for (const auto& [key, job] : world_.truth().objects(api::resources::kJobs)) {
      const std::string_view phase = job["status"]["state"]["phase"].as_string();
      if (api::is_deleting(job)) return base::format("job {} is being deleted", key);
      if (!is_finished(phase)) return base::format("job {} is {}", key, phase.empty() ? "without a phase" : phase);
    }
    for (const auto& [key, pod] : world_.truth().objects(api::resources::kPods)) {
      if (api::is_deleting(pod)) return base::format("pod {} is being deleted", key);
      const std::string_view phase = pod["status"]["phase"].as_string();
      if (phase != "Succeeded" && phase != "Failed") return base::format("pod {} is {}", key, phase);
    }
    for (const auto& [key, command] : world_.truth().objects(api::resources::kCommands))
      return base::format("command {} was not taken", key);
    return {};
  }

  void finish() override {
    std::size_t completed = 0;
    const auto& jobs = world_.truth().objects(api::resources::kJobs);
    for (const auto& [key, job] : jobs) completed += job["status"]["state"]["phase"].as_string() == "Completed" ? 1 : 0;
    world_.chronicle().record(base::format("{} jobs, {} completed", jobs.size(), completed));
  }

 private:
  World& world_;
};

}  // namespace

std::unique_ptr<Check> make_jobs_finish(World& world, Settings&, base::Random&) {
  return std::make_unique<JobsFinish>(world);
}

}  // namespace sim

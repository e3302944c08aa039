// Training jobs arrive at a steady rate, of every framework or of those that are listed; some of their pods fail, and
// are tried again.
#include <algorithm>
#include <string_view>
#include <vector>

#include "api/kubeflow/v1/run_policy.h"
#include "base/format.h"
#include "sim/workloads/submitter.h"
#include "sim/world/nodes.h"

namespace sim {

using api::Json;

namespace {

struct Kind {
  std::string_view name;
  const api::ResourceId* resource;
  const char* replica_map;
  const char* container;
  const char* master;  // null: none
};

class TrainingJobs final : public Submitter {
 public:
  TrainingJobs(World& world, Settings& settings, base::Random& dice)
      : Submitter(world, settings, dice, "training-jobs", "training", base::seconds(5)),
        count_max_(settings.number("count", 1'000'000, dice)),
        size_(settings.range("size", {1, 4})),
        runs_for_(settings.span_range("runs_for", {1'000'000'000, 15'000'000'000})),
        fails_(settings.fraction("fails", 0, dice)),
        words_(settings.known_words("kinds", {"PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "PaddleJob", "JAXJob"})) {}

 private:
  bool is_enough() const override { return made_ >= count_max_; }

  // In MPIJobs of v2beta1 workers wait for logins until the job has ended, and failed launchers are made again.
  bool is_ssh(const Kind& kind) const { return kind.resource->version == "v2beta1"; }

  Json replica(const Kind& kind, std::int64_t count, bool fails, bool waits = false) {
    const Json requests = Json::object({{"cpu", "200m"}, {"memory", "64Mi"}});
    const Json container = Json::object({{"name", kind.container},
                                         {"image", "work"},
                                         {"command", Json::array({"work"})},
                                         {"resources", Json::object({{"requests", requests}})}});
    Json annotations = Json::object({{kRunsFor, base::format_go_duration({runs_for_.draw(dice_)})}});
    if (fails) annotations.set(kExitCode, dice_.chance(0.5) ? "137" : "1");
    const Json pod = Json::object({{"metadata", Json::object({{"annotations", std::move(annotations)}})},
                                   {"spec", Json::object({{"containers", Json::array({container})}})}});
    const char* const policy = waits ? "OnFailure" : fails && !is_ssh(kind) ? "ExitCode" : "Never";
    return Json::object({{"replicas", count}, {"restartPolicy", policy}, {"template", pod}});
  }

  void submit() override {
    namespace r = api::resources;
    const bool newer = world_.settings().mpi.version != "v1";
    std::vector<Kind> kinds = {{"PyTorchJob", &r::kPyTorchJobs, "pytorchReplicaSpecs", "pytorch", "Master"},
                               {"TFJob", &r::kTfJobs, "tfReplicaSpecs", "tensorflow", "Chief"},
                               {"MPIJob", newer ? &r::kSshMpiJobs : &r::kMpiJobs, "mpiReplicaSpecs", "mpi", "Launcher"},
                               {"XGBoostJob", &r::kXgboostJobs, "xgbReplicaSpecs", "xgboost", "Master"},
                               {"PaddleJob", &r::kPaddleJobs, "paddleReplicaSpecs", "paddle", nullptr},
                               {"JAXJob", &r::kJaxJobs, "jaxReplicaSpecs", "jax", nullptr}};
    if (!words_.empty())
      std::erase_if(kinds, [this](const Kind& one) { return std::ranges::find(words_, one.name) == words_.end(); });
    const Kind& kind = kinds[dice_.below(kinds.size())];
    const bool fails = dice_.chance(fails_);
    const std::int64_t workers = std::max<std::int64_t>(size_.draw(dice_), 1);
    const bool waits = is_ssh(kind);
    Json replicas = Json::object({{"Worker", replica(kind, workers, fails && !waits && dice_.chance(0.5), waits)}});
    if (kind.master) replicas.set(kind.master, replica(kind, 1, fails));
    Json spec = Json::object({{"runPolicy", Json::object({{"backoffLimit", 2}, {"cleanPodPolicy", "All"}})}});
    if (waits && dice_.chance(0.5)) spec.set("launcherCreationPolicy", "WaitForWorkersReady");
    spec.set(kind.replica_map, std::move(replicas));
    create(*kind.resource, "default",
           Json::object(
               {{"metadata", Json::object({{"name", base::format("train-{}", made_++)}})}, {"spec", std::move(spec)}}));
  }

  std::int64_t count_max_;
  Settings::Range size_, runs_for_;
  double fails_;
  std::vector<std::string> words_;  // names of kinds; empty: all
};

}  // namespace

std::unique_ptr<Workload> make_training_jobs(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<TrainingJobs>(world, settings, dice);
}

}  // namespace sim

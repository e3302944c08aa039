// Training jobs of every framework arrive at a steady rate; some of their pods fail, and are tried again.
#include <algorithm>

#include "api/kubeflow/v1/run_policy.h"
#include "base/format.h"
#include "sim/nodes.h"
#include "sim/person_calls.h"
#include "sim/workloads/all.h"

namespace sim {

using api::Json;

namespace {

struct Kind {
  const api::ResourceId& resource;
  const char* replica_map;
  const char* container;
  const char* master;  // null: none
};

class TrainingJobs final : public Workload {
 public:
  TrainingJobs(World& world, Settings& settings, base::Random& dice)
      : world_(world),
        dice_(dice.next()),
        interval_(settings.interval("rate", base::seconds(5))),
        count_max_(settings.number("count", 1'000'000, dice)),
        size_(settings.range("size", {1, 4})),
        runs_for_(settings.span_range("runs_for", {1'000'000'000, 15'000'000'000})),
        fails_(settings.fraction("fails", 0, dice)) {}

  void start() override {
    person_ = world_.make_person("training");
    arm();
  }
  void stop() override { stopped_ = true; }
  bool done() const override { return open_ == 0; }

 private:
  void arm() {
    person_->env->loop().after(interval_, [this] {
      if (stopped_ || made_ >= count_max_) return;
      submit();
      arm();
    });
  }

  Json replica(const Kind& kind, std::int64_t count, bool fails) {
    const Json requests = Json::object({{"cpu", "200m"}, {"memory", "64Mi"}});
    const Json container = Json::object({{"name", kind.container},
                                         {"image", "work"},
                                         {"command", Json::array({"work"})},
                                         {"resources", Json::object({{"requests", requests}})}});
    Json annotations = Json::object({{kRunsFor, base::format_go_duration({runs_for_.draw(dice_)})}});
    if (fails) annotations.set(kExitCode, dice_.chance(0.5) ? "137" : "1");
    const Json pod = Json::object({{"metadata", Json::object({{"annotations", std::move(annotations)}})},
                                   {"spec", Json::object({{"containers", Json::array({container})}})}});
    return Json::object({{"replicas", count}, {"restartPolicy", fails ? "ExitCode" : "Never"}, {"template", pod}});
  }

  void submit() {
    namespace r = api::resources;
    const Kind kinds[] = {{r::kPyTorchJobs, "pytorchReplicaSpecs", "pytorch", "Master"},
                          {r::kTfJobs, "tfReplicaSpecs", "tensorflow", "Chief"},
                          {r::kMpiJobs, "mpiReplicaSpecs", "mpi", "Launcher"},
                          {r::kXgboostJobs, "xgbReplicaSpecs", "xgboost", "Master"},
                          {r::kPaddleJobs, "paddleReplicaSpecs", "paddle", nullptr},
                          {r::kJaxJobs, "jaxReplicaSpecs", "jax", nullptr}};
    const Kind& kind = kinds[dice_.below(std::size(kinds))];
    const bool fails = dice_.chance(fails_);
    const std::int64_t workers = std::max<std::int64_t>(size_.draw(dice_), 1);
    Json replicas = Json::object({{"Worker", replica(kind, workers, fails && dice_.chance(0.5))}});
    if (kind.master) replicas.set(kind.master, replica(kind, 1, fails));
    Json spec = Json::object({{"runPolicy", Json::object({{"backoffLimit", 2}, {"cleanPodPolicy", "All"}})}});
    spec.set(kind.replica_map, std::move(replicas));
    client::Request request{.verb = client::Verb::kCreate, .resource = kind.resource, .ns = "default"};
    request.body = Json::object(
        {{"metadata", Json::object({{"name", base::format("train-{}", made_++)}})}, {"spec", std::move(spec)}});
    ++open_;
    ask_until_answered(*person_, std::move(request), [this](base::Result<Json> result, int attempts) {
      --open_;
      if (!result.ok() && !(attempts > 1 && result.error().code == base::Code::kAlreadyExists))
        world_.chronicle().violation("training-jobs",
                                     base::format("a good object was refused: {}", result.error().message));
    });
  }

  World& world_;
  base::Random dice_;
  base::Duration interval_;
  std::int64_t count_max_;
  Settings::Range size_, runs_for_;
  double fails_;
  std::unique_ptr<Person> person_;
  std::int64_t made_ = 0;
  int open_ = 0;
  bool stopped_ = false;
};

}  // namespace

std::unique_ptr<Workload> make_training_jobs(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<TrainingJobs>(world, settings, dice);
}

}  // namespace sim

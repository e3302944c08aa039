// No pod of a training job is made before its group is admitted (MPIJobs of v2beta1 make theirs at once); in the end
// every job has ended, and nothing that it was to clean up is left.
#include <set>
#include <string_view>

#include "api/kinds.h"
#include "base/format.h"
#include "sim/checks/all.h"
#include "sim/world/world.h"

namespace sim {

using api::Json;

namespace {

bool is_of_training(const Json& object, std::string_view version = "kubeflow.org/v1") {
  return api::controller_of(object)["apiVersion"].as_string() == version;
}

// The launcher and the service of MPIJobs of v2beta1 stay until the job goes.
bool has_to_go(const Json& object) {
  if (is_of_training(object)) return true;
  return is_of_training(object, "kubeflow.org/v2beta1") && api::kind_of(object) != "Service" &&
         !api::name_of(object).ends_with("-launcher");
}

class TrainingJobsEnd final : public Check {
 public:
  explicit TrainingJobsEnd(World& world) : world_(world) {}

  void begin() override {
    world_.truth().on_change([this](const api::ResourceId& resource, const Json* before, const Json* after) {
      if (resource == api::resources::kPodGroups && after) record_phase(*after);
      if (resource == api::resources::kPods && !before && after && is_of_training(*after)) made(*after);
    });
  }

  std::string unrest() override {
    jobs_ = succeeded_ = 0;
    for (const api::KindInfo& kind : api::all_kinds()) {
      if (kind.resource.group != "kubeflow.org") continue;
      for (const auto& [key, job] : world_.truth().objects(kind.resource)) {
        const Json& status = job["status"];
        std::string_view last;
        for (const Json& one : status["conditions"].items()) last = one["type"].as_string();
        if (last != "Succeeded" && last != "Failed") return base::format("{} {} is {}", kind.kind, key, last);
        if (!status.has("completionTime")) return base::format("{} {} has no end", kind.kind, key);
        ++jobs_;
        succeeded_ += last == "Succeeded" ? 1 : 0;
      }
    }
    for (const api::ResourceId& resource :
         {api::resources::kPods, api::resources::kServices, api::resources::kPodGroups})
      for (const auto& [key, object] : world_.truth().objects(resource))
        if (has_to_go(object)) return base::format("{} {} is left", api::kind_of(object), key);
    return {};
  }

  void finish() override {
    world_.chronicle().record(base::format("{} training jobs, {} succeeded", jobs_, succeeded_));
  }

 private:
  void record_phase(const Json& group) {
    const std::string_view phase = group["status"]["phase"].as_string();
    if (!phase.empty() && phase != "Pending") admitted_.insert(std::string(api::name_of(group)));
  }
  // A group that was admitted may fall back while the pod that takes the place of a failed one is on its way.
  void made(const Json& pod) {
    if (!admitted_.contains(api::controller_of(pod)["name"].str()))
      world_.chronicle().violation("training-jobs-end",
                                   base::format("{} was made before its group was admitted", api::name_of(pod)));
  }

  World& world_;
  std::set<std::string> admitted_;  // names of groups
  std::size_t jobs_ = 0;
  std::size_t succeeded_ = 0;
};

}  // namespace

std::unique_ptr<Check> make_training_jobs_end(World& world, Settings&, base::Random&) {
  return std::make_unique<TrainingJobsEnd>(world);
}

}  // namespace sim

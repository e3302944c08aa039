// No attempt of a step has two pods, a run makes its claim once, an exit handler starts once and last, and in the end
// every run has ended as its steps did.
#include <map>
#include <set>

#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/format.h"
#include "sim/checks/all.h"
#include "sim/world/world.h"

namespace sim {

using api::Json;

namespace {

constexpr std::string_view kRunLabel = "pipelines.kubeflow.org/run";

bool is_over(std::string_view state) {
  return state == "SUCCEEDED" || state == "CACHED" || state == "FAILED" || state == "CANCELED" || state == "SKIPPED";
}

class PipelinesRunOnce final : public Check {
 public:
  explicit PipelinesRunOnce(World& world) : world_(world) {}

  void begin() override {
    world_.truth().on_change([this](const api::ResourceId& resource, const Json* before, const Json* after) {
      if (resource == api::resources::kPods && !before && after && !api::label_of(*after, kRunLabel).empty())
        made(*after);
      if (resource == api::resources::kPersistentVolumeClaims && !before && after &&
          !claims_.insert(std::string(api::label_of(*after, kRunLabel))).second)
        world_.chronicle().violation("pipelines-run-once",
                                     base::format("claim {} is the second one of its run", api::name_of(*after)));
      if (resource == api::resources::kPipelineTasks && before && after) changed(*before, *after);
    });
  }

  std::string unrest() override {
    for (const auto& [key, run] : world_.truth().objects(api::resources::kPipelineRuns))
      if (!is_over(run["status"]["state"].as_string()))
        return base::format("run {} is {}", key, run["status"]["state"].as_string());
    return {};
  }

  void finish() override {
    std::map<std::string, std::set<std::string>> states;  // of the leaves of a run
    for (const auto& [key, task] : world_.truth().objects(api::resources::kPipelineTasks)) {
      const std::string state = task["status"]["state"].str();
      if (!is_over(state))
        world_.chronicle().violation("pipelines-run-once", base::format("the run of task {} has ended, and it is {}",
                                                                        task["spec"]["path"].as_string(), state));
      states[task["spec"]["runName"].str()].insert(state);
    }
    std::size_t succeeded = 0;
    const auto& runs = world_.truth().objects(api::resources::kPipelineRuns);
    for (const auto& [key, run] : runs) {
      const std::string state = run["status"]["state"].str();
      succeeded += state == "SUCCEEDED" ? 1 : 0;
      const auto& of_tasks = states[std::string(api::name_of(run))];
      const bool failed = of_tasks.contains("FAILED"), ended = of_tasks.contains("CANCELED");
      if ((state == "SUCCEEDED" && (failed || ended || of_tasks.empty())) || (state == "FAILED" && !failed))
        world_.chronicle().violation("pipelines-run-once", base::format("run {} is {}, unlike its tasks", key, state));
    }
    world_.chronicle().record(
        base::format("{} runs of pipelines, {} succeeded, {} pods", runs.size(), succeeded, pods_.size()));
  }

 private:
  std::string path_of(const Json& pod) const {
    const Json* task =
        world_.truth().find(api::resources::kPipelineTasks, "default/" + api::controller_of(pod)["name"].str());
    return task == nullptr ? std::string() : (*task)["spec"]["path"].str();
  }

  void made(const Json& pod) {
    const std::string name(api::name_of(pod));
    if (!pods_.insert(name).second)
      world_.chronicle().violation("pipelines-run-once", base::format("pod {} was made twice", name));
    const std::string run(api::label_of(pod, kRunLabel));
    if (path_of(pod) != "root.finish") {
      if (finishing_.contains(run))
        world_.chronicle().violation("pipelines-run-once",
                                     base::format("pod {} was made after the exit handler of its run", name));
      return;
    }
    finishing_.insert(run);
    if (!name.ends_with("-0") && !failed_pods(run))
      world_.chronicle().violation("pipelines-run-once", base::format("exit handler {} was made again", name));
    for (const auto& [key, other] : world_.truth().objects(api::resources::kPods)) {
      const std::string_view phase = other["status"]["phase"].as_string();
      if (api::label_of(other, kRunLabel) == run && key != "default/" + name && phase != "Succeeded" &&
          phase != "Failed")
        world_.chronicle().violation("pipelines-run-once",
                                     base::format("exit handler {} was made while {} was {}", name, key, phase));
    }
  }

  bool failed_pods(const std::string& run) const {
    for (const auto& [key, pod] : world_.truth().objects(api::resources::kPods))
      if (api::label_of(pod, kRunLabel) == run && pod["status"]["phase"].as_string() == "Failed") return true;
    return false;
  }

  void changed(const Json& before, const Json& after) {
    const std::string_view was = before["status"]["state"].as_string(), is = after["status"]["state"].as_string();
    if (is_over(was) && was != is)
      world_.chronicle().violation("pipelines-run-once",
                                   base::format("task {} of {} was {}, and is {}", after["spec"]["path"].as_string(),
                                                after["spec"]["runName"].as_string(), was, is));
  }

  World& world_;
  std::set<std::string> pods_, claims_, finishing_;
};

}  // namespace

std::unique_ptr<Check> make_pipelines_run_once(World& world, Settings&, base::Random&) {
  return std::make_unique<PipelinesRunOnce>(world);
}

}  // namespace sim

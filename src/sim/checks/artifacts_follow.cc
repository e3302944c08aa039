// A step reads the artifact that its producer wrote, a finished step's artifacts are listed once and stay, and one that
// was taken from another run is that run's.
#include <map>
#include <set>
#include <vector>

#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/format.h"
#include "sim/checks/all.h"
#include "sim/world/world.h"

namespace sim {

using api::Json;

namespace {

constexpr std::string_view kRunLabel = "pipelines.kubeflow.org/run", kImporter = "import";

bool is_good(const Json& task) {
  const std::string_view state = task["status"]["state"].as_string();
  return state == "SUCCEEDED" || state == "CACHED";
}

std::string path_of(const Json& task) { return task["spec"]["path"].str(); }

class ArtifactsFollow final : public Check {
 public:
  explicit ArtifactsFollow(World& world) : world_(world) {}

  void begin() override {
    world_.truth().on_change([this](const api::ResourceId& resource, const Json* before, const Json* after) {
      if (resource == api::resources::kPods && !before && after && !api::label_of(*after, kRunLabel).empty())
        made(*after);
      if (resource == api::resources::kPipelineTasks && before && after && is_good(*before) &&
          !((*before)["status"]["outputs"] == (*after)["status"]["outputs"]))
        complain(base::format("task {} of {} had ended, and has other outputs", path_of(*after), run_of(*after)));
    });
  }

  void finish() override {
    std::size_t cached = 0, read = 0;
    std::set<std::string> places;
    for (const auto& [key, task] : world_.truth().objects(api::resources::kPipelineTasks)) {
      const std::string path = path_of(task), run = run_of(task);
      if (path.ends_with(".read")) expect_words(task, "root.body.making.make", "model");
      if (path.ends_with(".look")) expect_words(task, "root.body.import", "data");
      if (!is_good(task)) continue;
      if (path.ends_with(".make")) {
        places.insert(std::string(uri_of(task, "model")));
        expect_one(task, "model");
        if (task["status"]["state"].as_string() == "CACHED") cached += came_from_another(task) ? 1 : 0;
      } else if (path.ends_with(".making")) {
        const Json* maker = task_at(run, path + ".make");
        if (maker == nullptr || !(task["status"]["outputs"] == (*maker)["status"]["outputs"]))
          complain(base::format("graph {} of {} has other outputs than its step", path, run));
      } else if (path.ends_with(".import")) {
        expect_one(task, "data");
        if (uri_of(task, "data") != imported_of(run)) complain(base::format("{} of {} is another artifact", path, run));
      } else if (path.ends_with(".read")) {
        ++read;
        expect_input(task, "root.body.making", "model");
      } else if (path.ends_with(".look")) {
        expect_input(task, "root.body.import", "data");
      }
    }
    world_.chronicle().record(
        base::format("{} models in {} places were read, {} came from other runs", read, places.size(), cached));
  }

 private:
  void complain(std::string_view text) { world_.chronicle().violation("artifacts-follow", text); }

  static std::string run_of(const Json& task) { return task["spec"]["runName"].str(); }

  const Json* task_at(const std::string& run, const std::string& path) const {
    for (const auto& [key, task] : world_.truth().objects(api::resources::kPipelineTasks))
      if (path_of(task) == path && run_of(task) == run) return &task;
    return nullptr;
  }

  static std::string_view uri_of(const Json& task, std::string_view name) {
    return task["status"]["outputs"]["artifacts"][name][std::size_t{0}]["uri"].as_string();
  }

  std::string_view imported_of(const std::string& run) const {
    const Json* found = world_.truth().find(api::resources::kPipelineRuns, "default/" + run);
    if (found == nullptr) return {};
    const Json& executors = (*found)["spec"]["pipelineSpec"]["deploymentSpec"]["executors"];
    return executors[kImporter]["importer"]["artifactUri"]["constant"].as_string();
  }

  void expect_one(const Json& task, std::string_view name) {
    const Json& outputs = task["status"]["outputs"]["artifacts"];
    if (outputs.size() != 1 || outputs[name].size() != 1 || uri_of(task, name).empty())
      complain(base::format("task {} of {} does not list its artifact once", path_of(task), run_of(task)));
  }

  void expect_input(const Json& task, const std::string& producer, std::string_view name) {
    const Json* made = task_at(run_of(task), producer);
    const Json& read = task["status"]["inputs"]["artifacts"][name];
    if (made == nullptr || read.size() != 1 || !(read == (*made)["status"]["outputs"]["artifacts"][name]))
      complain(base::format("task {} of {} read another artifact than {} made", path_of(task), run_of(task), producer));
  }

  // The outputs that were taken over are those of the other task, and no pod was made for them.
  bool came_from_another(const Json& task) {
    const std::string from = task["status"]["cachedFrom"].str();
    const Json* source = world_.truth().find(api::resources::kPipelineTasks, "default/" + from);
    if (source == nullptr || !is_good(*source) || !((*source)["status"]["outputs"] == task["status"]["outputs"]))
      complain(base::format("task {} of {} has other outputs than {}", path_of(task), run_of(task), from));
    if (words_.contains(std::string(api::name_of(task))))
      complain(base::format("task {} of {} was taken over, and has a pod", path_of(task), run_of(task)));
    return true;
  }

  void made(const Json& pod) {
    const std::string owner = api::controller_of(pod)["name"].str();
    words_[owner].push_back(pod["spec"]["containers"].dump());
    const Json* task = world_.truth().find(api::resources::kPipelineTasks, "default/" + owner);
    if (task != nullptr && path_of(*task).ends_with(".import"))
      complain(base::format("importer {} of {} has a pod", path_of(*task), run_of(*task)));
  }

  // Every pod of a reader is told the place that the producer wrote to.
  void expect_words(const Json& task, const std::string& producer, std::string_view name) {
    const Json* made = task_at(run_of(task), producer);
    const auto pods = words_.find(std::string(api::name_of(task)));
    if (pods == words_.end()) return;
    const std::string uri(made != nullptr && is_good(*made) ? uri_of(*made, name) : std::string_view());
    for (const std::string& words : pods->second)
      if (uri.empty() || words.find("\"" + uri + "\"") == std::string::npos)
        complain(base::format("a pod of task {} of {} does not read {:?}", path_of(task), run_of(task), uri));
  }

  World& world_;
  std::map<std::string, std::vector<std::string>> words_;  // of each pod, by the name of its task
};

}  // namespace

std::unique_ptr<Check> make_artifacts_follow(World& world, Settings&, base::Random&) {
  return std::make_unique<ArtifactsFollow>(world);
}

}  // namespace sim

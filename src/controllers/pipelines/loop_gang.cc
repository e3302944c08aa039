// A gang has one PodGroup, which the run owns: the controller of PodGroups leaves pods alone that name theirs.
#include "controllers/pipelines/loop_gang.h"

#include <map>
#include <optional>

#include "api/meta/resource.h"
#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/format.h"
#include "controllers/groups/usage.h"
#include "controllers/pipelines/hashes.h"
#include "controllers/pipelines/step_pod.h"
#include "controllers/pipelines/task_objects.h"

namespace controllers::pipelines {

using api::Json;
namespace resources = api::resources;

namespace {

std::string_view annotation_of(const ::pipelines::Executor& executor) {
  return executor.platform["podMetadata"]["annotations"][kLoopGang].as_string();
}

// The steps of gangs in a component, by path. Graphs share components, and 32 of them may stand in each other: each
// component is judged once, and only the ways to steps of gangs are walked, kTasksMax of them at most.
class GangSteps {
 public:
  explicit GangSteps(const ::pipelines::Pipeline& pipeline) : pipeline_(pipeline) {}

  void find(const ::pipelines::Component& component, const std::string& path, std::vector<std::string>& out) {
    if (!has_any(component) || out.size() >= ::pipelines::kTasksMax) return;
    if (!component.graph) return out.push_back(path);
    for (const ::pipelines::Task& task : component.graph->tasks)
      if (!task.iterator) find(pipeline_.component_of(task), base::format("{}.{}", path, task.name), out);
  }

 private:
  bool has_any(const ::pipelines::Component& component) {
    const auto [at, is_new] = known_.try_emplace(&component, false);
    if (!is_new) return at->second;
    bool any = false;
    if (!component.graph) any = annotation_of(pipeline_.executor_of(component)) == "true";
    if (component.graph)
      for (const ::pipelines::Task& task : component.graph->tasks)
        any = any || (!task.iterator && has_any(pipeline_.component_of(task)));
    return known_[&component] = any;
  }

  const ::pipelines::Pipeline& pipeline_;
  std::map<const ::pipelines::Component*, bool> known_;
};

std::string group_name(const RunFacts& facts, std::string_view loop, std::string_view step) {
  std::string name = facts.name.substr(0, 40);
  while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
  return base::format("{}-{}-gang", name, hash_of(base::format("{}/{}/{}", facts.uid, loop, step), 10));
}

const Json* task_at(const RunLook& look, std::string_view path) {
  const auto found = look.tasks.find(path);
  return found == look.tasks.end() ? nullptr : found->second;
}

const Json* pod_of_task(const RunLook& look, const Json& task) {
  const std::string_view name = task["status"]["podName"].as_string();
  return name.empty() ? nullptr : look.objects.named(resources::kPods, name);
}

// Whether the step of this turn will have no pod, or has none any more.
bool is_out(const RunLook& look, const std::string& turn, const std::string& step, bool turn_is_over) {
  const std::string path = turn + step;
  if (const Json* task = task_at(look, path); task != nullptr && pod_of_task(look, *task) != nullptr) return false;
  if (turn_is_over) return true;
  // A condition or graph around it may have ended without it.
  for (std::size_t end = path.size(); end != std::string::npos && end >= turn.size(); end = path.rfind('.', end - 1)) {
    const Json* task = task_at(look, std::string_view(path).substr(0, end));
    if (task != nullptr && is_final((*task)["status"]["state"].as_string())) return true;
  }
  return false;
}

// The amounts that one pod of the gang asks for; nothing: no pod of it is there or made.
std::optional<api::ResourceList> pod_needs(const RunLook& look, const LoopLook& loop, const std::string& step,
                                           const std::string& group) {
  if (const auto made = look.gang_pods.find(group); made != look.gang_pods.end()) return made->second;
  for (std::size_t i = 0; i < loop.turns.size(); ++i) {
    const Json* task = task_at(look, base::format("{}[{}]{}", loop.path, i, step));
    const Json* pod = task == nullptr ? nullptr : pod_of_task(look, *task);
    if (pod != nullptr) return quota_usage((*pod)["spec"]);
  }
  return std::nullopt;
}

Json wanted_spec(const RunLook& look, std::int64_t members, api::ResourceList needs) {
  for (auto& [name, quantity] : needs) quantity = quantity.times(members);
  Json spec = Json::object({{"minMember", members}, {"minResources", api::to_json(needs)}});
  if (const auto queue = api::annotation_of(look.run, kQueueAnnotation); !queue.empty()) spec.set("queue", queue);
  if (const auto priority = api::annotation_of(look.run, kPriorityAnnotation); !priority.empty())
    spec.set("priorityClassName", priority);
  return spec;
}

Json group_object(const RunLook& look, const std::string& name, Json spec) {
  Json owner = look.run;
  owner.set("apiVersion", "pipelines.kubeflow.org/v2beta1");
  owner.set("kind", "PipelineRun");
  return Json::object(
      {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
       {"kind", "PodGroup"},
       {"metadata", Json::object({{"name", name},
                                  {"namespace", look.facts.ns},
                                  {"labels", Json::object({{kRunLabel, look.facts.name}})},
                                  {"ownerReferences", Json::array({api::controller_reference(owner)})}})},
       {"spec", std::move(spec)},
       {"status", Json::object({{"phase", "Pending"}})}});
}

}  // namespace

std::vector<std::string> gang_steps(const ::pipelines::Pipeline& pipeline, const ::pipelines::Component& turn) {
  std::vector<std::string> out;
  GangSteps(pipeline).find(turn, {}, out);
  return out;
}

base::Result<std::string> group_of_step(const RunFacts& facts, const ::pipelines::Executor& executor,
                                        std::string_view loop, std::string_view path) {
  const std::string_view wish = annotation_of(executor);
  if (wish.empty() || wish == "false") return std::string();
  const auto refused = [](std::string_view why) {
    return base::make_error(base::Code::kInvalid, base::format("annotation {} of the step: {}", kLoopGang, why));
  };
  if (wish != "true") return refused(base::format("{:?} is neither \"true\" nor \"false\"", wish));
  if (loop.empty()) return refused("no loop is around the step");
  const std::size_t turn_ends = path.find(']', loop.size());
  return group_name(facts, loop, turn_ends == std::string_view::npos ? path : path.substr(turn_ends + 1));
}

void hold_gangs(RunLook& look, const LoopLook& loop) {
  for (const std::string& step : gang_steps(look.pipeline, loop.component)) {
    const std::string name = group_name(look.facts, loop.path, step);
    const Json* group = look.objects.named(resources::kPodGroups, name);
    if (look.ends) {
      if (group != nullptr && !api::is_deleting(*group)) look.making.remove(resources::kPodGroups, *group);
      continue;
    }
    auto members = static_cast<std::int64_t>(loop.items);
    for (std::size_t i = 0; i < loop.turns.size(); ++i)
      members -= is_out(look, base::format("{}[{}]", loop.path, i), step, loop.turns[i].is_over) ? 1 : 0;
    auto needs = pod_needs(look, loop, step, name);
    if (members < 1 || !needs) continue;
    Json spec = wanted_spec(look, members, *std::move(needs));
    if (group == nullptr) {
      look.programs.create(resources::kPodGroups, group_object(look, name, std::move(spec))).existing_is_fine = true;
    } else if ((*group)["spec"]["minMember"].as_int() != members) {
      Json change = Json::object({{"minMember", spec["minMember"]}, {"minResources", spec["minResources"]}});
      look.programs.patch(resources::kPodGroups, *group, client::PatchType::kMerge,
                          Json::object({{"spec", std::move(change)}}));
    }
  }
}

}  // namespace controllers::pipelines

// A gang has one PodGroup, which the run owns: the controller of PodGroups leaves pods alone that name theirs.
#include "controllers/pipelines/loop_gang.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "api/meta/resource.h"
#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/format.h"
#include "base/number.h"
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

const Json* pod_of_task(const RunLook& look, const Json& task) {
  const std::string_view name = task["status"]["podName"].as_string();
  return name.empty() ? nullptr : look.objects.named(resources::kPods, name);
}

// The pods of one step of a gang, over all turns of its loop.
struct StepPods {
  std::int64_t out = 0;         // turns in which it has none any more, or never will
  const Json* first = nullptr;  // of the first turn that has one
  std::size_t turn_of_first = SIZE_MAX;
};

// The place of a task in a turn of a loop: "root.loop[3].a.b" is ".a.b" of turn 3.
struct PlaceInLoop {
  std::size_t turn;
  std::string_view step;
};

std::optional<PlaceInLoop> place_in(const std::string& loop, std::string_view path) {
  path.remove_prefix(loop.size() + 1);
  const std::size_t end = path.find(']');
  const auto turn = base::parse_number<std::size_t>(path.substr(0, end));
  if (end == std::string_view::npos || !turn) return std::nullopt;
  return PlaceInLoop{*turn, path.substr(end + 1)};
}

// Counts the pods of a loop's gangs. The work follows the tasks that the loop has, and not its turns times its steps:
// thousands of each may stand in a document, and few of them have begun.
class PodCount {
 public:
  PodCount(const RunLook& look, const LoopLook& loop, const std::vector<std::string>& steps)
      : look_(look), loop_(loop), steps_(steps), pods_(steps.size()), out_from_(steps.size() + 1) {}

  std::vector<StepPods> count() {
    std::int64_t over = 0;
    for (const Standing& turn : loop_.turns) over += turn.is_over ? 1 : 0;
    const std::string before = loop_.path + "[";
    for (auto at = look_.tasks.lower_bound(before); at != look_.tasks.end() && at->first.starts_with(before); ++at)
      if (const auto place = place_in(loop_.path, at->first); place && place->turn < loop_.turns.size())
        add(*place, *at->second);
    std::int64_t ended_around = 0;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      ended_around += out_from_[i];
      pods_[i].out += over + ended_around;
    }
    return std::move(pods_);
  }

 private:
  // Tasks come in the order of their paths: a turn's together, and what is around a task before it.
  void add(const PlaceInLoop& place, const Json& task) {
    if (place.turn != turn_) ended_.clear();
    turn_ = place.turn;
    const bool is_ended = is_final(task["status"]["state"].as_string());
    const bool is_out = loop_.turns[place.turn].is_over || is_ended || has_ended_around(place.step);
    if (is_ended && !loop_.turns[place.turn].is_over && !has_ended_around(place.step)) end(place.step);
    const auto step = std::ranges::lower_bound(steps_, place.step);
    if (step == steps_.end() || *step != place.step) return;
    const Json* pod = pod_of_task(look_, task);
    if (pod == nullptr) return;
    StepPods& pods = pods_[static_cast<std::size_t>(step - steps_.begin())];
    if (is_out) --pods.out;
    if (place.turn >= pods.turn_of_first) return;
    pods.turn_of_first = place.turn;
    pods.first = pod;
  }

  // A condition or graph may have ended without the steps in it.
  void end(std::string_view part) {
    ended_.insert(part);
    const auto place_of = [this](std::string_view name) {
      return static_cast<std::size_t>(std::ranges::lower_bound(steps_, name) - steps_.begin());
    };
    const std::size_t own = place_of(part);
    if (own < steps_.size() && steps_[own] == part) ++pods_[own].out;
    ++out_from_[place_of(base::format("{}.", part))];
    --out_from_[place_of(base::format("{}/", part))];  // the letter behind "."
  }

  bool has_ended_around(std::string_view step) const {
    if (ended_.empty()) return false;
    for (std::size_t end = step.rfind('.'); end != std::string_view::npos && end > 0; end = step.rfind('.', end - 1))
      if (ended_.contains(step.substr(0, end))) return true;
    return false;
  }

  const RunLook& look_;
  const LoopLook& loop_;
  const std::vector<std::string>& steps_;  // in their order
  std::vector<StepPods> pods_;
  std::vector<std::int64_t> out_from_;  // how many more turns are out from this step on
  std::size_t turn_ = SIZE_MAX;
  std::set<std::string_view> ended_ = {};  // parts of this turn
};

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
  std::ranges::sort(out);
  return out;
}

std::string_view step_in_turn(std::string_view loop, std::string_view path) {
  const std::size_t turn_ends = path.find(']', loop.size());
  return turn_ends == std::string_view::npos ? path : path.substr(turn_ends + 1);
}

base::Result<std::string> group_of_step(const RunFacts& facts, const ::pipelines::Executor& executor,
                                        std::string_view loop, std::string_view path) {
  const std::string_view request = annotation_of(executor);
  if (request.empty() || request == "false") return std::string();
  const auto refused = [](std::string_view why) {
    return base::make_error(base::Code::kInvalid, base::format("annotation {} of the step: {}", kLoopGang, why));
  };
  if (request != "true") return refused(base::format("{:?} is neither \"true\" nor \"false\"", request));
  if (loop.empty()) return refused("no loop is around the step");
  return group_name(facts, loop, step_in_turn(loop, path));
}

void hold_gangs(RunLook& look, const LoopLook& loop) {
  const std::vector<std::string>& steps = loop.gang_steps;
  const auto group_of = [&](const std::string& name) { return look.objects.named(resources::kPodGroups, name); };
  if (look.ends) {
    for (const std::string& step : steps)
      if (const Json* group = group_of(group_name(look.facts, loop.path, step));
          group != nullptr && !api::is_deleting(*group))
        look.making.remove(resources::kPodGroups, *group);
    return;
  }
  const std::vector<StepPods> pods = PodCount(look, loop, steps).count();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto made = look.gang_pods.find({loop.path, steps[i]});
    const std::int64_t members = static_cast<std::int64_t>(loop.items) - pods[i].out;
    // Without a pod nobody waits for the group yet.
    if (members < 1 || (made == look.gang_pods.end() && pods[i].first == nullptr)) continue;
    const std::string name = group_name(look.facts, loop.path, steps[i]);
    const Json* group = group_of(name);
    if (group != nullptr && (*group)["spec"]["minMember"].as_int() == members) continue;
    Json spec =
        wanted_spec(look, members, made != look.gang_pods.end() ? made->second : quota_usage((*pods[i].first)["spec"]));
    if (group == nullptr) {
      look.programs.create(resources::kPodGroups, group_object(look, name, std::move(spec))).existing_is_fine = true;
      continue;
    }
    Json change = Json::object({{"minMember", spec["minMember"]}, {"minResources", spec["minResources"]}});
    look.programs.patch(resources::kPodGroups, *group, client::PatchType::kMerge,
                        Json::object({{"spec", std::move(change)}}));
  }
}

}  // namespace controllers::pipelines

// A status is written whole: whoever reads one task needs no other.
#include "controllers/pipelines/task_objects.h"

#include <algorithm>

#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/format.h"
#include "base/utf8.h"
#include "controllers/pipelines/hashes.h"
#include "controllers/pipelines/step_pod.h"

namespace controllers::pipelines {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::size_t kNameMax = 200;
constexpr std::size_t kHistoryMax = 20;
constexpr std::size_t kTextMax = 4096;

void set_text(Json& status, const char* field, std::string_view text) {
  if (text.empty())
    status.erase(field);
  else
    status.set(field, base::utf8_prefix(text, kTextMax));
}

}  // namespace

bool is_final(std::string_view state) {
  return state == "SUCCEEDED" || state == "SKIPPED" || state == "FAILED" || state == "CANCELED" || state == "CACHED";
}

bool is_leaf(std::string_view type) { return type == "CONTAINER" || type == "IMPORTER" || type == "CLAIM"; }

std::string task_object_name(const RunFacts& run, std::string_view path) {
  return base::format("{}-{}", run.name.substr(0, kNameMax), hash_of(path, 10));
}

std::string_view type_of(const ::pipelines::Pipeline& pipeline, const Place& place) {
  if (place.parent.empty()) return "ROOT";
  if (place.task.iterator && !place.turn) return "LOOP";
  if (place.component.graph) {
    const auto& tasks = place.component.graph->tasks;
    const bool conditions =
        !tasks.empty() && std::ranges::all_of(tasks, [](const auto& one) { return one.condition.has_value(); });
    return conditions ? "CONDITIONS" : "DAG";
  }
  switch (pipeline.executor_of(place.component).kind) {
    case ::pipelines::Executor::Kind::kContainer: return "CONTAINER";
    case ::pipelines::Executor::Kind::kImporter: return "IMPORTER";
    case ::pipelines::Executor::Kind::kMakesClaim:
    case ::pipelines::Executor::Kind::kDeletesClaim: return "CLAIM";
  }
  return "CONTAINER";
}

Json changed_status(const Json& status, const Change& change, base::Time now) {
  Json next = status.is_object() ? status : Json::object();
  const std::string time = base::format_rfc3339(now);
  if (next["state"].as_string() != change.state) {
    next.set("state", change.state);
    Json entry = Json::object({{"updateTime", time}, {"state", change.state}});
    set_text(entry, "error", change.error);
    std::vector<Json> history(next["stateHistory"].items().begin(), next["stateHistory"].items().end());
    history.push_back(std::move(entry));
    if (history.size() > kHistoryMax) history.erase(history.begin());
    next.set("stateHistory", Json::array(std::move(history)));
    if (is_final(change.state))
      next.set("endTime", time);
    else
      next.erase("endTime");
  }
  if (!next.has("startTime")) next.set("startTime", time);
  set_text(next, "error", change.error);
  set_text(next, "message", change.message);
  const auto set_values = [&next](const char* field, const std::optional<Values>& values) {
    if (!values) return;
    Json json = values->json();
    if (json.is_null())
      next.erase(field);
    else
      next.set(field, std::move(json));
  };
  set_values("inputs", change.inputs);
  set_values("outputs", change.outputs);
  if (change.attempt) next.set("attempt", *change.attempt);
  if (!change.pod.empty()) next.set("podName", change.pod);
  if (!change.cached_from.empty()) next.set("cachedFrom", change.cached_from);
  return next;
}

void begin_task(RunLook& look, const Place& place, const std::string& cache_key, const std::optional<Change>& change) {
  ++look.begun;
  Json labels = Json::object({{kRunLabel, look.facts.name}});
  if (!cache_key.empty()) labels.set(kCacheLabel, cache_key);
  Json owner = look.run;
  owner.set("apiVersion", "pipelines.kubeflow.org/v2beta1");
  owner.set("kind", "PipelineRun");
  Json spec = Json::object({{"runName", look.facts.name},
                            {"taskName", place.task.name},
                            {"displayName", place.task.display_name},
                            {"path", place.path},
                            {"parentPath", place.parent},
                            {"type", type_of(look.pipeline, place)},
                            {"componentName", place.component.name}});
  if (is_leaf(spec["type"].as_string())) look.changed[place.path] = change ? change->state : std::string();
  if (place.turn) spec.set("iteration", *place.turn);
  Json object =
      Json::object({{"apiVersion", "pipelines.kubeflow.org/v2beta1"},
                    {"kind", "PipelineTask"},
                    {"metadata", Json::object({{"name", task_object_name(look.facts, place.path)},
                                               {"namespace", look.facts.ns},
                                               {"labels", std::move(labels)},
                                               {"ownerReferences", Json::array({api::controller_reference(owner)})}})},
                    {"spec", std::move(spec)}});
  if (change) {
    Json status = changed_status(Json(), *change, look.turn.now);
    if (!cache_key.empty()) status.set("cacheKey", cache_key);
    Action& written = look.statuses.patch(resources::kPipelineTasks, object, client::PatchType::kMerge,
                                          Json::object({{"status", std::move(status)}}));
    written.subresource = "status";
    written.fate = place.path;
  }
  Action& made = look.making.create(resources::kPipelineTasks, std::move(object));
  made.existing_is_fine = true;
  made.fate = place.path;
}

Action& remove_group(Plan& plan, const Json& task) {
  Action& removed = plan.remove_by_name(resources::kPodGroups, "PodGroup", api::namespace_of(task),
                                        base::format("podgroup-{}", api::uid_of(task)));
  removed.missing_is_fine = true;
  return removed;
}

void write_task(RunLook& look, const Json& task, const Change& change) {
  Json status = changed_status(task["status"], change, look.turn.now);
  if (const std::string_view key = api::label_of(task, kCacheLabel); !key.empty()) status.set("cacheKey", key);
  if (status == task["status"]) return;
  if (is_leaf(task["spec"]["type"].as_string())) look.changed[task["spec"]["path"].str()] = change.state;
  Json object = task;
  object.set("status", std::move(status));
  Action& written = look.statuses.set_status(resources::kPipelineTasks, std::move(object));
  written.fate = task["spec"]["path"].str();
}

}  // namespace controllers::pipelines

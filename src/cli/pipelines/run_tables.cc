// Lists and trees for a person at a terminal.
#include <algorithm>
#include <map>

#include "api/argo/v1alpha1/workflow.h"
#include "api/pipelines/v2beta1/pipeline.h"
#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/format.h"
#include "cli/pipelines/pipeline.h"
#include "cli/table.h"
#include "cli/text/people_table.h"
#include "pipelines/argo/run_workflow.h"
#include "pipelines/ir/pipeline.h"
#include "pipelines/rest/catalogue_objects.h"
#include "pipelines/rest/objects.h"

namespace cli {

using api::Json;
namespace resources = api::resources;
namespace rest = pipelines::rest;

void print_rows(World& world, std::vector<std::vector<std::string>> rows) {
  constexpr int kAnyWidth = 100'000;
  world.as_it_is = true;
  Terminal terminal = world.terminal;
  if (!terminal.is_for_people) terminal.columns = kAnyWidth;
  world.out += people_table(terminal, std::move(rows));
}

namespace {

std::string or_dash(std::string text) { return text.empty() ? "-" : text; }

std::string state_of(const Json& object) {
  const std::string_view state = object["status"]["state"].as_string();
  return std::string(state.empty() ? "PENDING" : state);
}

std::string span(World& world, const Json& begin, const Json& end) {
  const auto from = base::parse_rfc3339(begin.as_string());
  if (!from) return "-";
  return base::format_human_duration(base::parse_rfc3339(end.as_string()).value_or(world.now()) - *from);
}

base::Status list_of_pipelines(World& world, Api& server, const std::string& ns) {
  TRY(const std::vector<Json> pipelines, list(server, resources::kPipelines, ns));
  TRY(const std::vector<Json> all, list(server, resources::kPipelineVersions, ns));
  std::map<std::string, std::vector<Json>> versions;
  for (const Json& one : all)
    versions[base::format("{}/{}", api::namespace_of(one), one["spec"]["pipelineName"].as_string())].push_back(one);
  std::vector<std::vector<std::string>> rows = {{"NAMESPACE", "NAME", "VERSIONS", "NEWEST", "AGE", "TITLE"}};
  for (const Json& one : pipelines) {
    const auto& of = versions[api::key_of(one)];
    const Json* newest = rest::newest_version(of);
    rows.push_back({std::string(api::namespace_of(one)), std::string(api::name_of(one)), std::to_string(of.size()),
                    newest == nullptr ? "-" : rest::shown_name(*newest), age_of(world, one), rest::shown_name(one)});
  }
  if (pipelines.empty())
    world.out += "No pipelines found\n";
  else
    print_rows(world, std::move(rows));
  return {};
}

// The lines of a graph: each task, and inside of those that hold a graph, its tasks.
void add_graph(const pipelines::Pipeline& pipeline, const pipelines::Graph& graph, const std::string& indent,
               std::vector<std::vector<std::string>>& rows) {
  for (const pipelines::Task& task : graph.tasks) {
    const pipelines::Component& component = pipeline.component_of(task);
    std::string what = "step";
    if (component.graph) what = "graph";
    if (task.iterator) what = "loop";
    if (task.condition) what = "if";
    if (task.runs_in_any_case) what = "at the end";
    std::string after;
    for (const std::string& one : task.depends) after += (after.empty() ? "" : ", ") + one;
    rows.push_back({indent + task.name, what, or_dash(after)});
    if (component.graph) add_graph(pipeline, *component.graph, indent + "  ", rows);
  }
}

// The same of a Workflow, from a template down. Templates that use each other in a circle end at a depth.
void add_template(const Json& document, std::string_view name, const std::string& indent,
                  std::vector<std::vector<std::string>>& rows) {
  constexpr std::size_t kIndentMax = 20, kRowsMax = 1'000;
  for (const Json& one : document["spec"]["templates"].items()) {
    if (one["name"].as_string() != name || indent.size() > kIndentMax) continue;
    std::vector<Json> uses(one["dag"]["tasks"].items().begin(), one["dag"]["tasks"].items().end());
    for (const Json& group : one["steps"].items()) uses.insert(uses.end(), group.items().begin(), group.items().end());
    for (const Json& use : uses) {
      if (rows.size() > kRowsMax) return;
      std::string what = use.has("when") ? "if" : "step", after = use["depends"].str();
      if (use.has("withItems") || use.has("withParam") || use.has("withSequence")) what = "loop";
      for (const Json& before : use["dependencies"].items()) after += (after.empty() ? "" : ", ") + before.str();
      rows.push_back({indent + use["name"].str(), what, or_dash(after)});
      add_template(document, use["template"].as_string(), indent + "  ", rows);
    }
  }
}

base::Status graph_of_run(World& world, Api& server, const Json& run) {
  const std::string ns(api::namespace_of(run)), name(api::name_of(run));
  TRY(std::vector<Json> tasks,
      list(server, resources::kPipelineTasks, ns, base::format("pipelines.kubeflow.org/run={}", name)));
  std::ranges::sort(tasks, [](const Json& a, const Json& b) {
    return natural_less(a["spec"]["path"].as_string(), b["spec"]["path"].as_string());
  });
  world.out += base::format("run {}/{} {}{}\n", ns, name, state_of(run),
                            run["status"]["error"].as_string().empty() ? "" : ": " + run["status"]["error"].str());
  std::vector<std::vector<std::string>> rows = {{"TASK", "STATE", "TIME", "POD", "REASON"}};
  for (const Json& task : tasks) {
    const std::string path = short_path(task);
    if (path.empty()) continue;
    const std::size_t dot = path.rfind('.');
    const std::string indent(2 * static_cast<std::size_t>(std::ranges::count(path, '.')), ' ');
    const Json& status = task["status"];
    std::string why = status["error"].str();
    if (why.empty()) why = status["message"].str();
    rows.push_back({indent + path.substr(dot == std::string::npos ? 0 : dot + 1), state_of(task),
                    span(world, status["startTime"], status["endTime"]), or_dash(status["podName"].str()),
                    or_dash(why)});
  }
  if (rows.size() > 1) print_rows(world, std::move(rows));
  return {};
}

// A run of version 1. The words of its states are those of the runs beside it.
std::vector<std::string> row_of_workflow(World& world, const Json& workflow) {
  const Json& status = workflow["status"];
  return {std::string(api::namespace_of(workflow)),
          std::string(api::name_of(workflow)),
          workflow_state(workflow),
          or_dash(status["progress"].str()),
          span(world, status["startedAt"], status["finishedAt"]),
          age_of(world, workflow),
          pipelines::argo::run_texts(workflow).name};
}

// A cluster may know the runs of one version only, and a person may see those of one only.
base::Result<std::vector<Json>> runs_of_both_versions(World& world, Api& server, const std::string& ns) {
  auto runs = list(server, resources::kPipelineRuns, ns), workflows = list(server, resources::kWorkflows, ns);
  const auto is_unknown = [](const auto& found) { return !found.ok() && found.error().code == base::Code::kNotFound; };
  if (is_unknown(runs) && is_unknown(workflows))
    return base::make_error(base::Code::kNotFound,
                            "the cluster knows no runs of pipelines; `volcano crd kubeflow` prints what defines them");
  if (!runs.ok() && !workflows.ok()) return (is_unknown(runs) ? workflows : runs).take_error();
  std::vector<Json> all;
  for (auto* found : {&runs, &workflows}) {
    if (found->ok())
      all.insert(all.end(), (*found)->begin(), (*found)->end());
    else if (!is_unknown(*found))
      world.err +=
          base::format("{} are not shown: {}\n", found == &runs ? "runs" : "Workflows", found->error().message);
  }
  return all;
}

}  // namespace

base::Status list_pipelines(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  const std::string ns = values.on("all-namespaces") ? std::string() : values.text("namespace");
  if (values.on("pipelines")) return list_of_pipelines(world, *server, ns);
  TRY(std::vector<Json> runs, runs_of_both_versions(world, *server, ns));
  if (runs.empty()) {
    world.out += "No runs found\n";
    return {};
  }
  std::ranges::sort(runs, [](const Json& a, const Json& b) {
    return std::pair(rest::created_at(b), b["metadata"]["name"].str()) <
           std::pair(rest::created_at(a), a["metadata"]["name"].str());
  });
  std::vector<std::vector<std::string>> rows = {{"NAMESPACE", "NAME", "STATE", "TASKS", "TIME", "AGE", "TITLE"}};
  for (const Json& run : runs) {
    if (pipelines::argo::is_workflow(run)) {
      rows.push_back(row_of_workflow(world, run));
      continue;
    }
    const Json &status = run["status"], &counts = status["tasks"];
    rows.push_back({std::string(api::namespace_of(run)), std::string(api::name_of(run)), state_of(run),
                    base::format("{}/{}", counts["succeeded"].as_int(), counts["total"].as_int()),
                    span(world, status["startedAt"], status["finishedAt"]), age_of(world, run), rest::shown_name(run)});
  }
  print_rows(world, std::move(rows));
  return {};
}

base::Status show_graph(World& world, const Values& values) {
  const std::string& name = values.text("run");
  if (name.empty()) return usage_error("a run, a pipeline or a file must be given");
  rest::Documents documents;
  if (is_file_name(name)) {
    TRY(documents, documents_in(world, name));
  } else {
    TRY(const std::unique_ptr<Api> server, connect(world, values));
    const std::string& ns = values.text("namespace");
    const auto run = run_named(*server, ns, name);
    if (run.ok() && pipelines::argo::is_workflow(*run)) return show_workflow_graph(world, *run);
    if (run.ok()) return graph_of_run(world, *server, *run);
    if (run.error().code != base::Code::kNotFound) return base::Error(run.error());
    auto version = version_of(*server, ns, name, values.text("version"));
    if (!version.ok() && version.error().code == base::Code::kNotFound)
      return base::make_error(base::Code::kNotFound,
                              base::format("namespace {} has no run and no pipeline {:?}", ns, name));
    if (!version.ok()) return version.take_error();
    documents = {(*version)["spec"]["pipelineSpec"], (*version)["spec"]["platformSpec"]};
  }
  std::vector<std::vector<std::string>> rows = {{"TASK", "KIND", "AFTER"}};
  if (pipelines::argo::is_workflow(documents.pipeline)) {
    const std::string_view entry = documents.pipeline["spec"]["entrypoint"].as_string();
    add_template(documents.pipeline, entry, "", rows);
    world.out += base::format("pipeline {}\n", entry);
    print_rows(world, std::move(rows));
    return {};
  }
  TRY(const pipelines::Pipeline pipeline, pipelines::read_pipeline(documents.pipeline, documents.platform));
  if (pipeline.root.graph) add_graph(pipeline, *pipeline.root.graph, "", rows);
  world.out += base::format("pipeline {}\n", pipeline.name);
  print_rows(world, std::move(rows));
  return {};
}

}  // namespace cli

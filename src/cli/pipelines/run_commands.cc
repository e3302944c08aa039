// Runs as they go, a line for each new state of a task; and what a person asks of a run.
#include <algorithm>
#include <map>

#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/format.h"
#include "cli/job_logs.h"
#include "cli/pipelines/pipeline.h"
#include "cli/table.h"
#include "pipelines/argo/run_workflow.h"

namespace cli {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr base::Duration kLook = base::seconds(5);
constexpr std::string_view kRunLabel = "pipelines.kubeflow.org/run";

std::string selector_of(const std::string& run) { return base::format("{}={}", kRunLabel, run); }

// The state, and why it is that.
std::string state_of(const Json& object) {
  const Json& status = object["status"];
  const std::string_view state = status["state"].as_string();
  std::string text(state.empty() ? "PENDING" : state);
  for (const char* why : {"error", "message"})
    if (const std::string_view given = status[std::string_view(why)].as_string(); !given.empty())
      return text + ": " + std::string(given);
  return text;
}

// `as_read`: what is written follows from what was read. Otherwise the run's status may change meanwhile.
base::Result<Json> changed(Api& server, const Json& run, Json spec, bool as_read) {
  Json metadata = as_read ? Json::object({{"resourceVersion", api::resource_version_of(run)}})
                          : Json::object({{"uid", api::uid_of(run)}});
  return call_one(server, {.verb = client::Verb::kPatch,
                           .resource = resources::kPipelineRuns,
                           .ns = std::string(api::namespace_of(run)),
                           .name = std::string(api::name_of(run)),
                           .subresource = {},
                           .body = Json::object({{"metadata", std::move(metadata)}, {"spec", std::move(spec)}}),
                           .patch_type = client::PatchType::kMerge});
}

base::Result<Json> run_of(Api& server, const Values& values) {
  if (values.text("run").empty()) return usage_error("a run must be given");
  return run_named(server, values.text("namespace"), values.text("run"));
}

class Follower {
 public:
  Follower(World& world, Api& server, const std::string& ns, const std::string& name)
      : world_(world), server_(server), ns_(ns), name_(name), begin_(world.now()) {
    tasks_ = server.follow({.resource = resources::kPipelineTasks, .ns = ns, .label_selector = selector_of(name)});
    run_ = server.follow({.resource = resources::kPipelineRuns, .ns = ns, .field_selector = "metadata.name=" + name});
  }
  ~Follower() {
    server_.stop(tasks_);
    server_.stop(run_);
  }

  base::Status until_end(base::Duration limit) {
    for (;;) {
      base::Duration patience = kLook;
      if (limit.ns > 0) patience = std::min(patience, limit - (world_.now() - begin_));
      if (patience.ns <= 0)
        return base::make_error(base::Code::kTimeout, base::format("not ended after {}; it goes on by itself",
                                                                   base::format_go_duration(limit)));
      const Happening news = server_.next(patience);
      if (news.kind == Happening::Kind::kEnd && !news.end.ok()) return base::Error(news.end.error());
      if (news.kind == Happening::Kind::kGone && news.stream == run_)
        return base::make_error(base::Code::kNotFound, "it was deleted");
      if (news.kind != Happening::Kind::kObject) continue;
      if (news.stream == tasks_) report(short_path(news.object), news.object);
      // The last states of tasks are read once more: the run's may have come before them.
      if (news.stream == run_ && has_run_ended(news.object["status"]["state"].as_string())) return end(news.object);
    }
  }

 private:
  void report(const std::string& path, const Json& object) {
    const std::string state = state_of(object);
    if (path.empty() || std::exchange(reported_[path], state) == state) return;
    world_.out += base::format("{:>5}  {}  {}\n", base::format_human_duration(world_.now() - begin_), path, state);
    world_.show(world_);
  }

  base::Status end(const Json& run) {
    TRY(const std::vector<Json> tasks, list(server_, resources::kPipelineTasks, ns_, selector_of(name_)));
    for (const Json& task : tasks) report(short_path(task), task);
    const bool succeeded = run["status"]["state"].as_string() == "SUCCEEDED";
    world_.out += base::format("run {}/{} {}\n", ns_, name_, state_of(run));
    if (!succeeded) world_.exit_status = 1;
    return {};
  }

  World& world_;
  Api& server_;
  const std::string ns_, name_;
  const base::Time begin_;
  int tasks_ = 0, run_ = 0;
  std::map<std::string, std::string> reported_;
};

// The tasks of a run; those of a Workflow are its nodes that have pods.
base::Result<std::vector<Json>> tasks_with_logs(Api& server, const Json& run) {
  const std::string name(api::name_of(run));
  if (!pipelines::argo::is_workflow(run))
    return list(server, resources::kPipelineTasks, std::string(api::namespace_of(run)), selector_of(name));
  std::vector<Json> tasks;
  for (const Json::Member& one : run["status"]["nodes"].members()) {
    if (one.value["type"].as_string() != "Pod" || !one.value["name"].as_string().starts_with(name + ".")) continue;
    const std::string path = "root" + one.value["name"].str().substr(name.size());
    tasks.push_back(Json::object(
        {{"spec", Json::object({{"path", path}, {"taskName", one.value["displayName"]}})},
         {"status", Json::object({{"podName", one.value["id"]}, {"startTime", one.value["startedAt"]}})}}));
  }
  std::ranges::sort(tasks, {}, [](const Json& task) { return task["status"]["startTime"].str(); });
  return tasks;
}

}  // namespace

bool has_run_ended(std::string_view state) {
  return state == "SUCCEEDED" || state == "FAILED" || state == "CANCELED" || state == "SKIPPED";
}

std::string short_path(const Json& task) {
  const std::string_view path = task["spec"]["path"].as_string();
  return path.starts_with("root.") ? std::string(path.substr(5)) : std::string();
}

base::Status follow_run(World& world, Api& server, const std::string& ns, const std::string& name,
                        base::Duration limit) {
  return Follower(world, server, ns, name).until_end(limit);
}

base::Status retry_run(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  TRY(const Json run, run_of(*server, values));
  if (pipelines::argo::is_workflow(run)) return retry_workflow(world, *server, run, !values.on("no-wait"));
  const std::string_view state = run["status"]["state"].as_string();
  if (state != "FAILED" && state != "CANCELED")
    return usage_error(base::format("it is {}; only a run that failed or was ended is tried again",
                                    state.empty() ? "PENDING" : state));
  const std::int64_t retries = run["spec"]["retries"].as_int() + 1;
  TRY_VOID(changed(*server, run, Json::object({{"retries", retries}, {"terminate", Json()}}), true));
  const std::string ns(api::namespace_of(run)), name(api::name_of(run));
  world.out += base::format("run {}/{} is tried again\n", ns, name);
  world.show(world);
  if (values.on("no-wait")) return {};
  // Until the controller follows, the run still shows how it ended before.
  const int stream =
      server->follow({.resource = resources::kPipelineRuns, .ns = ns, .field_selector = "metadata.name=" + name});
  for (bool waits = true; waits;) {
    const Happening news = server->next(kLook);
    if (news.kind == Happening::Kind::kEnd && !news.end.ok()) return base::Error(news.end.error());
    if (news.kind == Happening::Kind::kGone) return base::make_error(base::Code::kNotFound, "it was deleted");
    waits = news.kind != Happening::Kind::kObject || news.object["status"]["observedRetries"].as_int() < retries;
  }
  server->stop(stream);
  return follow_run(world, *server, ns, name, {});
}

base::Status terminate_run(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  TRY(const Json run, run_of(*server, values));
  if (pipelines::argo::is_workflow(run)) return terminate_workflow(world, *server, run);
  const std::string_view state = run["status"]["state"].as_string();
  if (has_run_ended(state)) return usage_error(base::format("it has ended already: {}", state));
  TRY_VOID(changed(*server, run, Json::object({{"terminate", true}}), false));
  world.out += base::format("run {}/{} is ending\n", api::namespace_of(run), api::name_of(run));
  return {};
}

base::Status show_run_logs(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  TRY(const Json run, run_of(*server, values));
  const std::string& wanted = values.text("task");
  TRY(const std::vector<Json> tasks, tasks_with_logs(*server, run));
  LogPrinter printer(world, wanted.empty());
  bool found = false;
  for (const Json& task : tasks) {
    const std::string pod = task["status"]["podName"].str(), path = short_path(task);
    if (!wanted.empty() && path != wanted && task["spec"]["taskName"].as_string() != wanted) continue;
    found = true;
    if (pod.empty()) continue;
    const int stream = server->read_log(
        {.ns = values.text("namespace"), .pod = pod, .container = "main", .follow = values.on("follow")});
    printer.add(stream, {path, "main", pod});
  }
  if (!found && !wanted.empty()) return usage_error(base::format("the run has no task {:?}", wanted));
  if (printer.empty()) return usage_error("no step of it has a pod");
  while (!printer.empty()) {
    const Happening news = server->next(kLook);
    if (printer.knows(news.stream) && !printer.take(news)) break;
  }
  return {};
}

}  // namespace cli

// Runs of version 1, which are Workflows of Argo: their steps are nodes of the status.
#include <algorithm>
#include <map>
#include <utility>

#include "api/argo/v1alpha1/workflow.h"
#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/format.h"
#include "cli/pipelines/pipeline.h"
#include "cli/table.h"
#include "cli/text/people_table.h"
#include "pipelines/argo/workflow_retry.h"

namespace cli {

using api::Json;
namespace resources = api::resources;

namespace {

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text.empty() ? "PENDING" : text;
}

std::string or_dash(std::string text) { return text.empty() ? "-" : text; }

// The state of a Workflow or a node of one, and why it is that.
std::string state_of(const Json& status) {
  const std::string why = status["message"].str(), state = upper(status["phase"].str());
  return why.empty() ? state : base::format("{}: {}", state, why);
}

bool has_ended(const Json& workflow) {
  const std::string_view phase = workflow["status"]["phase"].as_string();
  return phase == "Succeeded" || phase == "Failed" || phase == "Error";
}

// A line for each new state of a step.
class Steps {
 public:
  Steps(World& world, std::string run) : world_(world), run_(std::move(run)), begin_(world.now()) {}

  void show(const Json& workflow) {
    for (const Json::Member& one : workflow["status"]["nodes"].members()) {
      const std::string name = one.value["name"].str(), type = one.value["type"].str();
      if (!name.starts_with(run_ + ".") || (type != "Pod" && type != "Suspend")) continue;
      const std::string path = name.substr(run_.size() + 1), state = state_of(one.value);
      if (std::exchange(shown_[path], state) == state) continue;
      world_.out += base::format("{:>5}  {}  {}\n", base::format_human_duration(world_.now() - begin_), path, state);
    }
    world_.show(world_);
  }
  // The steps of an earlier attempt are known already.
  void know(const Json& workflow) {
    for (const Json::Member& one : workflow["status"]["nodes"].members())
      if (one.value["name"].as_string().starts_with(run_ + "."))
        shown_[one.value["name"].str().substr(run_.size() + 1)] = state_of(one.value);
  }

 private:
  World& world_;
  const std::string run_;
  const base::Time begin_;
  std::map<std::string, std::string> shown_;
};

// Until it has ended; the exit status is its result. `before`: as it was when another try was asked for.
base::Status follow_workflow(World& world, Api& server, const Json& before) {
  constexpr base::Duration kLook = base::seconds(5);
  const std::string ns(api::namespace_of(before)), name(api::name_of(before));
  Steps steps(world, name);
  steps.know(before);
  const int stream =
      server.follow({.resource = resources::kWorkflows, .ns = ns, .field_selector = "metadata.name=" + name});
  for (;;) {
    const Happening news = server.next(kLook);
    if (news.kind == Happening::Kind::kEnd && !news.end.ok()) return base::Error(news.end.error());
    if (news.kind == Happening::Kind::kGone) return base::make_error(base::Code::kNotFound, "it was deleted");
    if (news.kind != Happening::Kind::kObject) continue;
    // Until the request is followed, its nodes are those of the attempt before.
    if (pipelines::argo::asks_for_retry(news.object)) continue;
    steps.show(news.object);
    if (!has_ended(news.object)) continue;
    server.stop(stream);
    world.out += base::format("run {}/{} {}\n", ns, name, state_of(news.object["status"]));
    if (news.object["status"]["phase"].as_string() != "Succeeded") world.exit_status = 1;
    return {};
  }
}

}  // namespace

base::Result<Json> run_named(Api& server, const std::string& ns, const std::string& name) {
  auto found = get(server, resources::kPipelineRuns, ns, name);
  if (!found.ok() && found.error().code == base::Code::kNotFound) found = get(server, resources::kWorkflows, ns, name);
  if (!found.ok() && found.error().code == base::Code::kNotFound)
    return base::make_error(base::Code::kNotFound, base::format("namespace {} has no run {:?}", ns, name));
  return found;
}

std::string workflow_state(const Json& workflow) { return upper(workflow["status"]["phase"].str()); }

base::Status show_workflow_graph(World& world, const Json& workflow) {
  const std::string name(api::name_of(workflow)), why = workflow["status"]["message"].str();
  world.out += base::format("run {}/{} {}{}\n", api::namespace_of(workflow), name, workflow_state(workflow),
                            why.empty() ? why : ": " + why);
  std::vector<Json> nodes;
  for (const Json::Member& one : workflow["status"]["nodes"].members())
    if (one.value["name"].as_string().starts_with(name + ".")) nodes.push_back(one.value);
  std::ranges::sort(
      nodes, [](const Json& a, const Json& b) { return natural_less(a["name"].as_string(), b["name"].as_string()); });
  std::vector<std::vector<std::string>> rows = {{"TASK", "STATE", "TIME", "POD", "REASON"}};
  for (const Json& node : nodes) {
    const std::string path = node["name"].str().substr(name.size() + 1);
    const std::string indent(2 * static_cast<std::size_t>(std::ranges::count(path, '.')), ' ');
    const auto from = base::parse_rfc3339(node["startedAt"].as_string());
    const auto to = base::parse_rfc3339(node["finishedAt"].as_string());
    const std::string pod = node["type"].as_string() == "Pod" ? node["id"].str() : "";
    std::string title = node["displayName"].str();
    if (title.starts_with(name + ".")) title.erase(0, name.size() + 1);  // the exit handler's
    rows.push_back({indent + title, upper(node["phase"].str()),
                    from ? base::format_human_duration(to.value_or(world.now()) - *from) : "-", or_dash(pod),
                    or_dash(node["message"].str())});
  }
  world.as_it_is = true;
  Terminal terminal = world.terminal;
  if (!terminal.is_for_people) terminal.columns = 100'000;
  if (rows.size() > 1) world.out += people_table(terminal, std::move(rows));
  return {};
}

base::Status retry_workflow(World& world, Api& server, const Json& workflow, bool waits) {
  const std::string state = workflow_state(workflow), ns(api::namespace_of(workflow)), name(api::name_of(workflow));
  if (state != "FAILED" && state != "ERROR")
    return usage_error(base::format("it is {}; only a run that failed or was ended is tried again", state));
  client::Request request{
      .verb = client::Verb::kPatch, .resource = resources::kWorkflows, .ns = ns, .name = name, .subresource = {}};
  request.body = pipelines::argo::retry_request();
  request.body.edit("metadata").set("resourceVersion", api::resource_version_of(workflow));
  TRY_VOID(server.call(std::move(request)));
  world.out += base::format("run {}/{} is tried again\n", ns, name);
  world.show(world);
  return waits ? follow_workflow(world, server, workflow) : base::Status();
}

base::Status terminate_workflow(World& world, Api& server, const Json& workflow) {
  const std::string state = workflow_state(workflow), ns(api::namespace_of(workflow)), name(api::name_of(workflow));
  if (!workflow["status"]["finishedAt"].as_string().empty())
    return usage_error(base::format("it has ended already: {}", state));
  client::Request request{
      .verb = client::Verb::kPatch, .resource = resources::kWorkflows, .ns = ns, .name = name, .subresource = {}};
  request.body = Json::object({{"metadata", Json::object({{"uid", api::uid_of(workflow)}})},
                               {"spec", Json::object({{"shutdown", "Terminate"}})}});
  TRY_VOID(server.call(std::move(request)));
  world.out += base::format("run {}/{} is ending\n", ns, name);
  return {};
}

}  // namespace cli

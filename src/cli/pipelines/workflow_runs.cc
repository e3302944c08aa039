// Runs of version 1, which are Workflows of Argo: their steps are nodes of the status.
#include <algorithm>

#include "api/argo/v1alpha1/workflow.h"
#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/format.h"
#include "cli/pipelines/pipeline.h"
#include "cli/text/people_table.h"

namespace cli {

using api::Json;
namespace resources = api::resources;

namespace {

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text.empty() ? "PENDING" : text;
}

std::string or_dash(std::string text) { return text.empty() ? "-" : text; }

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

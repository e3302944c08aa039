// Workflows of Argo: whatever is let in comes to an end, and what a status says comes back as it was written.
#include <set>

#include "api/json/yaml.h"
#include "api/meta/resource.h"
#include "pipelines/argo/workflow_check.h"
#include "pipelines/argo/workflow_engine.h"
#include "targets.h"

namespace fuzz {

namespace {

using api::Json;
namespace argo = pipelines::argo;

// Every pod succeeds with outputs of one letter, every object is there.
argo::WorkflowDecision look(const Json& workflow, std::map<std::string, Json>& pods, base::Time now) {
  return argo::decide({.workflow = workflow,
                       .now = now,
                       .pod = [&](const std::string& name) -> const Json* {
                         const auto found = pods.find(name);
                         return found == pods.end() ? nullptr : &found->second;
                       },
                       .is_gone = [](const std::string&) { return true; },
                       .refusal = [](const std::string&) { return std::string(); },
                       .manifest =
                           [](const std::string& node) {
                             Json object = Json::object();
                             object.edit("metadata").edit("annotations").set(argo::kNodeAnnotation, node);
                             return argo::ManifestState{true, std::move(object), {}};
                           },
                       .outputs =
                           [](const Json&, std::size_t files) {
                             return base::Result<argo::PodOutputs>(
                                 argo::PodOutputs{std::vector<std::optional<std::string>>(files, "x"), "result"});
                           }});
}

}  // namespace

void workflow(std::string_view input) {
  auto spec = api::parse_yaml(input);
  if (!spec.ok() || !spec->is_object()) return;
  api::FieldErrors errors;
  argo::check_workflow(*spec, errors);
  if (!errors.empty()) return promise(!errors.take_texts().front().empty(), "an error says something");
  Json object = Json::object({{"apiVersion", "argoproj.io/v1alpha1"},
                              {"kind", "Workflow"},
                              {"metadata", Json::object({{"name", "w"}, {"namespace", "n"}, {"uid", "u"}})},
                              {"spec", *spec}});
  std::map<std::string, Json> pods;
  base::Time now{1'774'000'000'000'000'000};
  for (int i = 0; i < 30; ++i) {
    const argo::WorkflowDecision decision = look(object, pods, now);
    std::set<std::string> made;
    for (const Json& pod : decision.pods) {
      const std::string name(api::name_of(pod));
      promise(made.insert(name).second && !pods.contains(name), "no pod is made twice", name);
      Json ended = pod;
      ended.set("status", Json::object({{"phase", "Succeeded"}}));
      pods.emplace(name, std::move(ended));
    }
    Json status = decision.status, nodes = Json::object();
    for (const auto& [id, node] : decision.nodes) {
      const Json text = to_json(node);
      const auto again = argo::node_of(text);
      promise(again && to_json(*again) == text, "a node is read as it was written", id);
      nodes.set(id, text);
    }
    status.set("nodes", nodes.empty() ? object["status"]["nodes"] : nodes);
    object.set("status", std::move(status));
    now = now + base::hours(1);
  }
}

}  // namespace fuzz

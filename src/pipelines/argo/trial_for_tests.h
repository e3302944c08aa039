// A Workflow that is looked at again and again, with pods that end when a test says so.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "api/json/yaml.h"
#include "api/meta/resource.h"
#include "pipelines/argo/operation.h"

namespace pipelines::argo::testing {

using api::Json;

class Trial {
 public:
  explicit Trial(std::string_view spec) {
    auto parsed = api::parse_yaml(spec);
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
    workflow = Json::object({{"apiVersion", "argoproj.io/v1alpha1"},
                             {"kind", "Workflow"},
                             {"metadata", Json::object({{"name", "wf"}, {"namespace", "ns"}, {"uid", "u"}})},
                             {"spec", parsed.ok() ? *parsed : Json()}});
    look();
  }

  // Until nothing changes.
  void look() {
    for (int i = 0; i < 20; ++i) {
      last = decide({.workflow = workflow,
                     .now = now,
                     .pod =
                         [&](const std::string& name) {
                           const auto found = pods.find(name);
                           return found == pods.end() ? nullptr : &found->second;
                         },
                     .is_gone = [&](const std::string& name) { return gone.contains(name); },
                     .refusal = [&](const std::string&) { return refused_pods; },
                     .manifest = [&](const std::string& node) { return objects[node]; },
                     .outputs =
                         [&](const Json& pod, std::size_t files) {
                           std::vector<std::optional<std::string>> texts(files);
                           const auto found = reported.find(std::string(api::name_of(pod)));
                           if (found != reported.end() && files > 0) texts[0] = found->second;
                           PodOutputs out{std::move(texts)};
                           if (printed.contains(std::string(api::name_of(pod))))
                             out.result = printed[std::string(api::name_of(pod))];
                           return base::Result<PodOutputs>(std::move(out));
                         }});
      for (const Json& pod : last.pods) pods[std::string(api::name_of(pod))] = pod;
      for (const Json& claim : last.claims) claims.insert(std::string(api::name_of(claim)));
      for (const std::string& claim : last.spent_claims) claims.erase(claim);
      for (const std::string& pod : last.ended_pods) has_learned = pods.erase(pod) > 0 || has_learned;
      for (const ManifestAction& action : last.manifests) act(action);
      Json status = last.status;
      Json nodes = Json::object();
      for (const auto& [id, node] : last.nodes) nodes.set(id, to_json(node));
      if (!last.nodes.empty() || !status.has("finishedAt")) status.set("nodes", nodes);
      if (last.nodes.empty()) status.set("nodes", workflow["status"]["nodes"]);
      if (last.is_retried) workflow.edit("metadata").erase("annotations");
      const bool is_same = !last.is_retried && status == workflow["status"] && !std::exchange(has_learned, false);
      workflow.set("status", std::move(status));
      if (is_same) return;
    }
    ADD_FAILURE() << "it does not settle";
  }

  void act(const ManifestAction& action) {
    ManifestState& state = objects[action.node];
    acted.push_back(action);
    if (action.verb == ManifestAction::Verb::kGet) has_learned = !std::exchange(state.is_known, true) || has_learned;
    if (action.verb == ManifestAction::Verb::kCreate) {
      state.refusal = refusal;
      if (refusal.empty()) state.object = action.manifest;
    }
  }

  const Node* node(std::string_view display) const {
    for (const auto& [id, one] : last.nodes)
      if (one.display == display) return &one;
    return nullptr;
  }

  void end(std::string_view display, std::string_view phase = "Succeeded", std::string_view outputs = "") {
    const Node* one = node(display);
    ASSERT_NE(one, nullptr) << display;
    ASSERT_TRUE(pods.contains(one->id)) << display;
    Json& pod = pods[one->id];
    const int code = phase == "Failed" ? 3 : 0;
    pod.set("status",
            Json::object({{"phase", phase},
                          {"containerStatuses",
                           Json::array({Json::object(
                               {{"name", "main"},
                                {"state", Json::object({{"terminated", Json::object({{"exitCode", code}})}})}})})}}));
    if (!outputs.empty()) reported[one->id] = outputs;
    if (!outputs.empty()) printed[one->id] = outputs;
    look();
  }

  void wait(base::Duration time) {
    now = now + time;
    look();
  }

  std::string phase() const { return workflow["status"]["phase"].str(); }
  std::string message() const { return workflow["status"]["message"].str(); }
  // "a b": the pods that have not ended.
  std::string running() const {
    std::string out;
    for (const auto& [id, one] : last.nodes)
      if (one.type == "Pod" && !one.is_over()) names.insert(one.display);
    for (const std::string& name : names) out += (out.empty() ? "" : " ") + name;
    names.clear();
    return out;
  }
  std::string phase_of(std::string_view display) const {
    const Node* one = node(display);
    return one == nullptr ? "" : std::string(text_of(one->phase));
  }
  std::string last_word(std::string_view display) const {
    const Node* one = node(display);
    if (one == nullptr) return "";
    const Json& args = pods.at(one->id)["spec"]["containers"][0]["args"];
    return args[args.size() - 1].str();
  }
  std::string argument(std::string_view display) const {
    const Node* one = node(display);
    return one == nullptr ? "" : pods.at(one->id)["spec"]["containers"][0]["args"][0].str();
  }

  Json workflow;
  base::Time now{base::seconds(1'000'000).ns};
  std::map<std::string, Json> pods;
  std::set<std::string> gone, claims;
  std::map<std::string, std::string> reported, printed;  // the text of the first output file, by pod; its output
  mutable std::map<std::string, ManifestState> objects;
  std::vector<ManifestAction> acted;
  std::string refusal, refused_pods;
  WorkflowDecision last;

 private:
  mutable std::set<std::string> names;
  bool has_learned = false;
};

}  // namespace pipelines::argo::testing

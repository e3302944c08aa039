// One look at a Workflow: which nodes there are now, and what is to be done. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "base/time.h"
#include "pipelines/argo/workflow_node.h"

namespace pipelines::argo {

inline constexpr std::size_t kNodesMax = 2000;          // of a Workflow
inline constexpr std::size_t kItemsMax = 1000;          // of one loop
inline constexpr std::size_t kResultMax = 128UL << 10;  // bytes of a step's result: the last ones of what it prints
inline constexpr int kDepthMax = 50;                    // of templates that use templates

inline constexpr std::string_view kWorkflowLabel = "workflows.argoproj.io/workflow";
inline constexpr std::string_view kNodeAnnotation = "workflows.argoproj.io/node-id";
inline constexpr std::string_view kNodeNameAnnotation = "workflows.argoproj.io/node-name";

// Volumes of pods that hand outputs on: the program that runs their command, and the namespace's claim of artifacts.
inline constexpr std::string_view kLauncherVolume = "kfp-launcher";
inline constexpr std::string_view kArtifactsVolume = "kfp-artifacts";

// The known state of a resource template's object.
struct ManifestState {
  bool is_known = false;     // the server was asked
  api::Json object = {};     // null: it is not there
  std::string refusal = {};  // the server's answer to the last attempt to write it
};

// The report of a pod that has ended.
struct PodOutputs {
  std::vector<std::optional<std::string>> files;  // texts of its output files
  std::optional<std::string> result = {};         // what it printed
};

struct WorkflowLook {
  const api::Json& workflow;
  base::Time now;
  // The pod of this name in the Workflow's namespace; null: none is known.
  std::function<const api::Json*(const std::string& name)> pod;
  // Whether the server itself said that there is no such pod.
  std::function<bool(const std::string& name)> is_gone;
  // Why the server will never take a pod of this name; empty: nothing says so.
  std::function<std::string(const std::string& name)> refusal;
  std::function<ManifestState(const std::string& node)> manifest;
  // The outputs of a pod with so many output files, as its launcher reported them.
  std::function<base::Result<PodOutputs>(const api::Json& pod, std::size_t files)> outputs;
  std::string launcher = "kfp-launcher";           // the ConfigMap of the launcher
  std::string artifacts = "mlpipeline-artifacts";  // the claim of artifacts
  std::string scheduler_name = "volcano";          // of pods for which the Workflow names none
  std::int64_t report_bytes_max = 4096;            // of a pod's termination message
  std::string report_address = {};                 // to which larger outputs are sent (launcher/sent_report.h)
};

// A write or a look of a resource template, done with the rights of a service account.
struct ManifestAction {
  enum class Verb : std::uint8_t { kCreate, kApply, kPatch, kDelete, kGet };
  Verb verb = Verb::kGet;
  std::string node;     // its id
  std::string account;  // the name of the service account
  api::Json manifest;
};

struct WorkflowDecision {
  std::map<std::string, Node> nodes;      // by id
  api::Json status;                       // without the nodes
  std::vector<api::Json> pods;            // to make
  std::vector<std::string> lost_pods;     // to ask for: a node has one, and no view does
  std::vector<std::string> ended_pods;    // to delete
  std::vector<api::Json> claims;          // to make
  std::vector<std::string> spent_claims;  // to delete
  std::vector<ManifestAction> manifests;
  std::optional<base::Duration> look_again = {};
  bool remove = false;  // its time to live is over
  bool is_retried =
      false;  // what the status or the nodes lack goes from them, and the request (workflow_retry.h) with it
};

WorkflowDecision decide(const WorkflowLook& look);

}  // namespace pipelines::argo

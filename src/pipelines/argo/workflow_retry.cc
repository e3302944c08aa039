// The nodes that go when a Workflow is tried again.
#include "pipelines/argo/workflow_retry.h"

#include <optional>
#include <utility>

#include "api/meta/resource.h"
#include "base/format.h"
#include "pipelines/argo/node_book.h"

namespace pipelines::argo {

using api::Json;

namespace {

// A node that failed, or was left out because another failed, and every node of the exit handler.
bool goes(const Node& node, const std::string& handler) {
  return has_failed(node.phase) || node.phase == Phase::kOmitted || node.name.starts_with(handler);
}

}  // namespace

Json retry_request() {
  const Json annotations = Json::object({{kRetryAnnotation, "true"}});
  return Json::object({{"metadata", Json::object({{"annotations", annotations}})},
                       {"spec", Json::object({{"shutdown", Json()}})},
                       {"status", Json::object({{"phase", "Running"}, {"finishedAt", Json()}, {"message", Json()}})}});
}

bool asks_for_retry(const Json& workflow) {
  if (api::annotation_of(workflow, kRetryAnnotation).empty()) return false;
  const auto phase = phase_of(workflow["status"]["phase"].as_string());
  if (!phase || (*phase != Phase::kRunning && !has_failed(*phase))) return false;
  // One that is at work has not failed.
  const auto root = node_of(workflow["status"]["nodes"][api::name_of(workflow)]);
  return !root || root->is_over();
}

WorkflowDecision begin_retry(const WorkflowLook& look) {
  WorkflowDecision out;
  out.nodes = NodeBook(look.workflow, look.now).take();
  out.status = look.workflow["status"].is_object() ? look.workflow["status"] : Json::object();
  out.status.erase("nodes");
  const std::string handler = base::format("{}.onExit", api::name_of(look.workflow));
  bool has_pods = false;
  for (const auto& [id, node] : out.nodes) {
    const Json* pod = node.type == "Pod" && goes(node, handler) ? look.pod(id) : nullptr;
    if (pod == nullptr) continue;
    has_pods = true;
    if (!api::is_deleting(*pod)) out.ended_pods.push_back(id);
  }
  // A node that begins would find the pod of its last attempt.
  if (has_pods) return out;
  std::erase_if(out.nodes, [&handler](const auto& one) { return goes(one.second, handler); });
  out.is_retried = true;
  out.status.set("phase", "Running");
  for (const char* field : {"finishedAt", "message", "outputs"}) out.status.erase(field);
  // Claims that the end took away are made again.
  if (out.status["persistentVolumeClaims"].empty()) out.status.erase("persistentVolumeClaims");
  return out;
}

}  // namespace pipelines::argo

// How an event of the agent names its object and the container that it is about.
#include "node/agent/core/pod_events.h"

#include "base/format.h"
#include "node/machine/container_text.h"
#include "node/pod/pod_plan.h"

namespace node {

using api::Json;

namespace {

std::string field_path(const ContainerState* container) {
  if (container == nullptr) return {};
  return base::format("spec.{}{{{}}}", spec_list(*container), container->name);
}

}  // namespace

PodEvents::PodEvents(client::Client& client, rt::Env& env, const std::string& node_name)
    : recorder_(client, env, "kubelet", node_name), node_name_(node_name) {}

void PodEvents::record(const Json& object, const char* type, const char* reason, const std::string& message,
                       const ContainerState* container) {
  recorder_.record(object, {type, reason, reason_text(message), field_path(container)});
}

// A kubelet's events about its node give the node's name as its uid, too.
void PodEvents::warn_about_node(const char* reason, const std::string& message) {
  const Json metadata = Json::object({{"name", node_name_}, {"uid", node_name_}});
  const Json node = Json::object({{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", metadata}});
  recorder_.record(node, {"Warning", reason, message});
}

}  // namespace node

// How the node and its pods are watched.
#include "colocation/node_view.h"

#include "api/meta/resource.h"
#include "base/format.h"

namespace colocation {

using api::Json;
namespace resources = api::resources;

void NodeView::start() {
  nodes_ = std::make_unique<client::Informer>(
      means_.client, means_.env, resources::kNodes,
      client::InformerOptions{.field_selector = base::format("metadata.name={}", means_.options.node_name)});
  nodes_->on_change([this](const Json*, const Json* after, bool) {
    if (after) callbacks_.node_changed();
  });
  pods_watch_ = std::make_unique<client::Informer>(
      means_.client, means_.env, resources::kPods,
      client::InformerOptions{.field_selector = base::format("spec.nodeName={}", means_.options.node_name)});
  pods_watch_->on_change([this](const Json* before, const Json* after, bool) {
    if (before) pods_.erase(std::string(api::uid_of(*before)));
    // A server that does not know the selector tells of all pods.
    if (after && (*after)["spec"]["nodeName"].as_string() == means_.options.node_name)
      pods_[std::string(api::uid_of(*after))] = pod_facts(*after, means_.options.names);
    callbacks_.pods_changed();
  });
  nodes_->start();
  pods_watch_->start();
}

Json NodeView::own_object() const {
  const AgentOptions& options = means_.options;
  if (options.pod_name.empty()) {
    const Json* present = node();
    Json metadata = Json::object({{"name", options.node_name}});
    if (present) metadata.set("uid", api::uid_of(*present));
    return Json::object({{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", metadata}});
  }
  Json metadata = Json::object({{"name", options.pod_name}, {"namespace", options.pod_namespace}});
  for (const auto& [uid, pod] : pods_)
    if (pod.name == options.pod_name && pod.ns == options.pod_namespace) metadata.set("uid", uid);
  return Json::object({{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata}});
}

}  // namespace colocation

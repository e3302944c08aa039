// How the objects that a pod refers to are found.
#include "node/agent/pods/pod_lookups.h"

#include "api/meta/resource.h"
#include "base/format.h"

namespace node {

using api::Json;

PodLookups::PodLookups(AgentLoop& loop, client::Client& client, const Options& options, const NodeObject& node,
                       const NodeServices& services, const PodTokens& tokens, Changed changed)
    : options_(options),
      node_(node),
      services_(services),
      tokens_(tokens),
      changed_(std::move(changed)),
      config_maps_(client, loop.env(), api::resources::kConfigMaps),
      secrets_(client, loop.env(), api::resources::kSecrets),
      claims_(client, loop.env(), api::resources::kPersistentVolumeClaims),
      volumes_(client, loop.env(), api::resources::kPersistentVolumes) {}

void PodLookups::start() {
  const auto follow = [this](client::Informer& informer, const char* kind) {
    informer.on_change([this, kind](const Json* before, const Json* after, bool initial) {
      if (!initial) changed_(kind, after != nullptr ? *after : *before);
    });
  };
  follow(config_maps_, "ConfigMap");
  follow(secrets_, "Secret");
  for (client::Informer* informer : watches()) informer->start();
}

const Json* PodLookups::find(std::string_view kind, std::string_view ns, std::string_view name) const {
  const std::string key = ns.empty() ? std::string(name) : base::format("{}/{}", ns, name);
  if (kind == "ConfigMap") return config_maps_.find(key);
  if (kind == "Secret") return secrets_.find(key);
  if (kind == "PersistentVolumeClaim") return claims_.find(key);
  return volumes_.find(key);
}

Lookups PodLookups::of(const PodWorker& worker) const {
  Lookups look;
  look.find = [this](std::string_view kind, std::string_view ns, std::string_view name) {
    return find(kind, ns, name);
  };
  look.allocatable = node_.allocatable();
  look.host_ip = options_.host_ip;
  const std::string& of_machine =
      options_.api_host_of_machine.empty() ? options_.host_ip : options_.api_host_of_machine;
  look.api_host =
      worker.pod["spec"]["hostNetwork"].as_bool() || options_.api_host.empty() ? of_machine : options_.api_host;
  look.api_port = options_.api_port;
  look.services = services_.linked_to(worker.pod);
  look.token = [this, uid = std::string(api::uid_of(worker.pod))](const Json& source) {
    return tokens_.find(uid, source);
  };
  look.pod_ip = worker.state.ip.empty() ? options_.host_ip : worker.state.ip;
  return look;
}

}  // namespace node

// Objects that pods refer to: what volumes, variables and image pulls read.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "client/watch/informer.h"
#include "node/agent/core/agent_loop.h"
#include "node/agent/core/pod_table.h"
#include "node/agent/node/node_object.h"
#include "node/agent/node/node_services.h"
#include "node/agent/pods/pod_tokens.h"
#include "node/pod/lookups.h"

namespace node {

// Owns the watches of ConfigMaps, Secrets, claims and volumes. Asks the Node for its allocatable amounts, the services
// for variables, and the tokens for theirs. Loop thread only.
class PodLookups {
 public:
  // `changed` follows each change of a ConfigMap or Secret after the first list.
  using Changed = std::function<void(const char* kind, const api::Json& object)>;

  PodLookups(AgentLoop& loop, client::Client& client, const Options& options, const NodeObject& node,
             const NodeServices& services, const PodTokens& tokens, Changed changed);

  void start();
  // Pods begin once these are synced.
  std::vector<client::Informer*> watches() { return {&config_maps_, &secrets_, &claims_, &volumes_}; }
  // The result is valid during this turn of the loop.
  Lookups of(const PodWorker& worker) const;
  const api::Json* secret(const std::string& key) const { return secrets_.find(key); }

 private:
  const api::Json* find(std::string_view kind, std::string_view ns, std::string_view name) const;

  const Options& options_;
  const NodeObject& node_;
  const NodeServices& services_;
  const PodTokens& tokens_;
  Changed changed_;
  client::Informer config_maps_, secrets_, claims_, volumes_;
};

}  // namespace node

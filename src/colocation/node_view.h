// The node and its pods as the API server has them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "client/watch/informer.h"
#include "colocation/agent_means.h"
#include "colocation/policy/pod_facts.h"

namespace colocation {

// Owns the watches of the node and of its pods, and the facts of those pods. Loop thread only.
class NodeView {
 public:
  using Pods = std::map<std::string, PodFacts>;  // by uid
  struct Callbacks {
    std::function<void()> node_changed, pods_changed;
  };
  NodeView(const AgentMeans& means, Callbacks callbacks) : means_(means), callbacks_(std::move(callbacks)) {}

  void start();
  // False before start().
  bool synced() const { return nodes_ && pods_watch_ && nodes_->synced() && pods_watch_->synced(); }
  // Null: it is not known.
  const api::Json* node() const { return nodes_ ? nodes_->find(means_.options.node_name) : nullptr; }
  const Pods& pods() const { return pods_; }
  // The object that events of the agent are about: its pod, or the node.
  api::Json own_object() const;

 private:
  const AgentMeans& means_;
  Callbacks callbacks_;
  std::unique_ptr<client::Informer> nodes_, pods_watch_;
  Pods pods_;
};

}  // namespace colocation

// The node's condition about the agent: whether it does its work, and why not.
#pragma once

#include <string>

#include "client/client.h"
#include "colocation/node_view.h"

namespace colocation {

// Owns what the server was told last. Asks the view for the node. Loop thread only.
class NodeCondition {
 public:
  NodeCondition(const AgentMeans& means, const NodeView& view) : means_(means), view_(view) {}

  // `trouble` is empty where the agent does its work.
  void publish(const std::string& trouble);
  bool is_reported() const { return !reported_.empty(); }
  // The words of an agent that has ended.
  client::Request end_request() const;

 private:
  struct Words {
    std::string status, reason, message;
  };

  client::Request request(const Words& words) const;

  const AgentMeans& means_;
  const NodeView& view_;
  std::string reported_;  // empty: nothing
  base::Duration reported_at_ = {};
  bool under_way_ = false;
};

}  // namespace colocation

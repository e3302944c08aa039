// The nodes of a Workflow during one look: which uses of templates have one, how they end, and how many are at work.
// Inside of argo only.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pipelines/argo/results.h"

namespace pipelines::argo {

// A use of a template.
struct Call {
  std::string name;  // of the node
  std::string display;
  std::string template_name;
  api::Json arguments = {};  // filled in: {parameters, artifacts}
  std::string boundary = {};
  int depth = 0;
};

class NodeBook {
 public:
  // The nodes of the Workflow's status; those that are not of this Workflow count as absent.
  NodeBook(const api::Json& workflow, base::Time now);

  const Nodes& all() const { return nodes_; }
  Nodes take() { return std::move(nodes_); }
  std::size_t size() const { return nodes_.size(); }
  // The node with this name; null: there is none yet.
  Node* find(const std::string& name);
  const Node* by_id(const std::string& id) const;
  // The nodes that are not over.
  std::vector<Node*> active();

  Node& begin(const Call& call, std::string_view type, Phase phase);
  const Node* end(Node& node, Phase phase, std::string message = {});
  // The end of a use that never ran.
  const Node* skip(const Call& call, Phase phase, std::string message);
  const Node* fail(const Call& call, std::string message);
  void add_child(const std::string& parent, const Node& child);

  std::size_t active_pods() const { return active_pods_; }
  // The pods, Steps and DAGs at work in the Steps or DAG with this id.
  std::size_t active_in(const std::string& boundary) const;

 private:
  const std::string workflow_;
  const base::Time now_;
  Nodes nodes_;
  std::size_t active_pods_ = 0;
  std::map<std::string, std::size_t> active_in_ = {};
};

}  // namespace pipelines::argo

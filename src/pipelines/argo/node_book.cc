// How nodes begin and end.
#include "pipelines/argo/node_book.h"

#include <algorithm>
#include <utility>

#include "api/meta/resource.h"

namespace pipelines::argo {

using api::Json;

namespace {

// The nodes that the parallelism of a template counts.
bool is_counted(const Node& node) { return node.type == "Pod" || node.type == "Steps" || node.type == "DAG"; }

}  // namespace

NodeBook::NodeBook(const Json& workflow, base::Time now) : workflow_(api::name_of(workflow)), now_(now) {
  for (const Json::Member& one : workflow["status"]["nodes"].members()) {
    auto node = node_of(one.value);
    if (!node || node->id != one.name() || node->id != node_id(workflow_, node->name)) continue;
    active_pods_ += node->type == "Pod" && !node->is_over() ? 1 : 0;
    active_in_[node->boundary] += is_counted(*node) && !node->is_over() ? 1 : 0;
    nodes_.emplace(node->id, *std::move(node));
  }
}

Node* NodeBook::find(const std::string& name) {
  const auto found = nodes_.find(node_id(workflow_, name));
  return found == nodes_.end() ? nullptr : &found->second;
}

const Node* NodeBook::by_id(const std::string& id) const {
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? nullptr : &found->second;
}

std::vector<Node*> NodeBook::active() {
  std::vector<Node*> out;
  for (auto& [id, node] : nodes_)
    if (!node.is_over()) out.push_back(&node);
  return out;
}

Node& NodeBook::begin(const Call& call, std::string_view type, Phase phase) {
  const std::string id = node_id(workflow_, call.name);
  Node& node = nodes_[id];
  node.id = id;
  node.name = call.name;
  node.display = call.display;
  node.type = type;
  node.template_name = call.template_name;
  node.boundary = call.boundary;
  node.phase = phase;
  node.started = now_;
  if (argo::is_over(phase)) node.finished = now_;
  active_pods_ += node.type == "Pod" ? 1 : 0;
  active_in_[node.boundary] += is_counted(node) && !node.is_over() ? 1 : 0;
  return node;
}

const Node* NodeBook::end(Node& node, Phase phase, std::string message) {
  if (is_counted(node) && !node.is_over()) --active_in_[node.boundary];
  node.phase = phase;
  node.message = std::move(message);
  node.finished = now_;
  return &node;
}

const Node* NodeBook::skip(const Call& call, Phase phase, std::string message) {
  Node& node = begin(call, "Skipped", phase);
  node.message = std::move(message);
  return &node;
}

const Node* NodeBook::fail(const Call& call, std::string message) {
  Node* node = find(call.name);
  if (node == nullptr) node = &begin(call, "Skipped", Phase::kError);
  return end(*node, Phase::kError, std::move(message));
}

void NodeBook::add_child(const std::string& parent, const Node& child) {
  Node* node = find(parent);
  if (node == nullptr || std::ranges::find(node->children, child.id) != node->children.end()) return;
  node->children.push_back(child.id);
}

std::size_t NodeBook::active_in(const std::string& boundary) const {
  const auto active = active_in_.find(boundary);
  return active == active_in_.end() ? 0 : active->second;
}

}  // namespace pipelines::argo

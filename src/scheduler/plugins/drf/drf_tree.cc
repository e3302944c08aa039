// Hierarchical dominant resource fairness: which queue is furthest below its part of the tree?
#include "scheduler/plugins/drf/drf_tree.h"

#include <algorithm>
#include <cstdlib>

#include "base/split.h"

namespace scheduler {
namespace {

std::vector<std::string> parts_of(std::string_view path) {
  if (path.empty()) return {};
  const std::vector<std::string_view> parts = base::split(path, '/');
  return {parts.begin(), parts.end()};
}

double weight_from(const std::vector<std::string>& weights, std::size_t i) {
  if (i >= weights.size()) return 1;
  char* end = nullptr;
  const double weight = std::strtod(weights[i].c_str(), &end);
  return weights[i].empty() || *end != 0 || !(weight >= 1) ? 1 : weight;
}

Resource allocated_of(const Job& job) { return Resource(job.allocated) + Resource(job.promised()); }

}  // namespace

const Resource& DrfTree::request_of(const Model& model, const Job& job) {
  Wanted& wanted = wanted_[job.id.index];
  if (wanted.changes == job.changes) return wanted.request;
  wanted.changes = job.changes;
  wanted.request = Resource();
  for (const TaskId id : job.tasks) wanted.request += Resource(model.shape_of(model.task(id)).request);
  return wanted.request;
}

std::uint32_t DrfTree::node_for_queue(const Queue& queue, bool make) {
  const std::vector<std::string> path = parts_of(queue.annotations["volcano.sh/hierarchy"].as_string());
  const std::vector<std::string> weights = parts_of(queue.annotations["volcano.sh/hierarchy-weights"].as_string());
  std::vector<std::uint32_t>& walked = path_of_queue_[queue.id.index];
  walked = {0};
  std::uint32_t at = 0;
  for (std::size_t i = 1; i < path.size(); ++i) {
    const auto found = nodes_[at].inner.find(path[i]);
    if (found != nodes_[at].inner.end()) {
      at = found->second;
    } else if (make) {
      const auto fresh = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({});
      nodes_.back().parent = at;
      nodes_.back().weight = weight_from(weights, i);
      nodes_[at].children.push_back(fresh);
      nodes_[at].inner.emplace(path[i], fresh);
      at = fresh;
    } else {
      break;
    }
    walked.push_back(at);
  }
  return at;
}

void DrfTree::build(const Model& model) {
  nodes_.assign(1, Node{});
  leaf_of_job_.clear();
  path_of_queue_.clear();
  total_ = Resource(model.nodes.total());
  dims_ = total_.names();
  model.for_each_job([&](const Job& job) {
    if (!job.has_group || !job.queue.is_set() || !model.queue(job.queue).in_use) return;
    const std::uint32_t under = node_for_queue(model.queue(job.queue), true);
    const auto leaf = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({});
    nodes_[leaf].parent = under;
    nodes_[leaf].job = job.id;
    nodes_[leaf].request = request_of(model, job);
    nodes_[under].children.push_back(leaf);
    leaf_of_job_[job.id.index] = leaf;
  });
  seen_epoch_ = 0;
  follow(model);
}

// Takes over what was placed or taken away since the last look.
void DrfTree::follow(const Model& model) {
  if (seen_epoch_ == model.touched_epoch() && seen_touched_ == model.touched().size()) return;
  seen_epoch_ = model.touched_epoch();
  seen_touched_ = model.touched().size();
  total_allocated_ = Resource();
  for (Node& node : nodes_) {
    if (!node.job.is_set()) continue;
    node.allocated = allocated_of(model.job(node.job));
    total_allocated_ += node.allocated;
  }
  recompute();
}

double DrfTree::share_of_total(const Resource& allocated) const {
  double most = 0;
  for (const Dim d : dims_) most = std::max(most, share_of(allocated.get(d), total_.get(d)));
  return most;
}

void DrfTree::judge_leaf(Node& leaf) const {
  leaf.share = share_of_total(leaf.allocated);
  leaf.saturated = false;
  for (const Dim d : leaf.allocated.names()) {
    const double has = leaf.allocated.get(d), wants = leaf.request.get(d);
    const bool demanding = total_allocated_.get(d) < total_.get(d);
    leaf.saturated |= wants != 0 && ((has != 0 && has >= wants) || !demanding);
  }
}

void DrfTree::judge_inner(Node& node) const {
  double smallest = 1;
  node.saturated = true;
  for (const std::uint32_t child : node.children) {
    const Node& one = nodes_[child];
    if (one.share != 0 && !one.saturated) smallest = std::min(smallest, one.share);
    node.saturated = node.saturated && one.saturated;
  }
  node.allocated = Resource();
  for (const std::uint32_t child : node.children) {
    const Node& one = nodes_[child];
    if (one.share == 0) continue;
    Resource part = one.allocated;
    if (!one.saturated) part *= smallest / one.share;
    node.allocated += part;
  }
  node.share = share_of_total(node.allocated);
}

void DrfTree::recompute() {
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    if (nodes_[i].job.is_set())
      judge_leaf(nodes_[i]);
    else
      judge_inner(nodes_[i]);
  }
}

double DrfTree::compare_paths(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) const {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const Node &left = nodes_[a[i]], &right = nodes_[b[i]];
    if (left.saturated != right.saturated) return left.saturated ? 1 : -1;
    const double difference = left.share / left.weight - right.share / right.weight;
    if (difference != 0) return difference;
  }
  return 0;
}

double DrfTree::compare(const Model& model, QueueId a, QueueId b) {
  follow(model);
  for (const QueueId id : {a, b}) {
    if (!path_of_queue_.contains(id.index)) node_for_queue(model.queue(id), false);
  }
  return compare_paths(path_of_queue_.at(a.index), path_of_queue_.at(b.index));
}

std::vector<TaskId> DrfTree::reclaimable(const Model& model, const Task& reclaimer,
                                         const std::vector<TaskId>& candidates) {
  std::vector<TaskId> out;
  follow(model);
  const auto own = reclaimer.job.is_set() ? leaf_of_job_.find(reclaimer.job.index) : leaf_of_job_.end();
  if (own == leaf_of_job_.end()) return out;
  const Resource wanted(model.shape_of(reclaimer).request);
  const QueueId queue = model.job(reclaimer.job).queue;
  nodes_[own->second].allocated += wanted;
  total_allocated_ += wanted;
  for (const TaskId id : candidates) {
    const Task& task = model.task(id);
    const auto leaf = task.job.is_set() ? leaf_of_job_.find(task.job.index) : leaf_of_job_.end();
    if (leaf == leaf_of_job_.end()) continue;
    const Resource gives(model.shape_of(task).request);
    nodes_[leaf->second].allocated -= gives;
    total_allocated_ -= gives;
    recompute();
    if (compare_paths(path_of_queue_.at(queue.index), path_of_queue_.at(model.job(task.job).queue.index)) < 0)
      out.push_back(id);
    nodes_[leaf->second].allocated += gives;
    total_allocated_ += gives;
  }
  seen_epoch_ = 0;  // the tree is as the model again with the next look
  return out;
}

}  // namespace scheduler

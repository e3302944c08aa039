// Hierarchical dominant resource fairness: which queue is furthest below its part of the tree?
#include "scheduler/plugins/drf/drf_tree.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <utility>

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

constexpr std::size_t kViewsMax = 8;

// Up to here sums of whole numbers are exact, in whatever order they are added.
constexpr double kExactMax = 9007199254740992.0;

bool is_exact(const Resource& sum) {
  for (Dim d = 0; d < sum.size(); ++d) {
    if (sum.get(d) >= kExactMax) return false;
  }
  return true;
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
  if (const auto known = path_of_queue_.find(queue.id.index); known != path_of_queue_.end())
    return known->second.back();
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
  leaves_.clear();
  marked_.clear();
  log_.clear();
  views_.clear();
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
    nodes_[leaf].allocated = allocated_of(job);
    nodes_[leaf].changes = job.changes;
    nodes_[under].children.push_back(leaf);
    leaf_of_job_[job.id.index] = leaf;
    leaves_.push_back(leaf);
  });
  sum_allocated();
}

void DrfTree::sum_allocated() {
  total_allocated_ = Resource();
  for (const std::uint32_t leaf : leaves_) total_allocated_ += nodes_[leaf].allocated;
}

void DrfTree::mark(JobId job) {
  const auto leaf = leaf_of_job_.find(job.index);
  if (leaf == leaf_of_job_.end() || std::exchange(nodes_[leaf->second].is_marked, true)) return;
  marked_.push_back(leaf->second);
}

// Takes over what was placed or taken away since the last look.
void DrfTree::follow(const Model& model) {
  if (seen_epoch_ == model.touched_epoch() && seen_touched_ == model.touched().size()) return;
  seen_epoch_ = model.touched_epoch();
  seen_touched_ = model.touched().size();
  bool exact = is_exact(total_allocated_);
  std::erase_if(marked_, [&](std::uint32_t leaf) {
    Node& node = nodes_[leaf];
    const Job& job = model.job(node.job);
    if (std::exchange(node.changes, job.changes) != job.changes) {
      total_allocated_ -= node.allocated;
      node.allocated = allocated_of(job);
      total_allocated_ += node.allocated;
      log_.push_back(leaf);
    }
    // Another plugin can keep it from hearing that an eviction was undone: the job is read until none is left.
    node.is_marked = job.count(TaskStatus::kEvicting) > 0;
    return !node.is_marked;
  });
  exact = exact && is_exact(total_allocated_);
  if (!exact) sum_allocated();
}

std::vector<bool> DrfTree::in_demand(const Resource& allocated) const {
  std::vector<bool> out(std::max(total_.size(), allocated.size()));
  for (Dim d = 0; d < out.size(); ++d) out[d] = allocated.get(d) < total_.get(d);
  return out;
}

DrfTree::View& DrfTree::view_for(std::vector<bool> in_demand) {
  for (View& view : views_) {
    if (view.in_demand != in_demand) continue;
    catch_up(view);
    return view;
  }
  if (views_.size() == kViewsMax) views_.erase(views_.begin());
  View& view = views_.emplace_back();
  view.in_demand = std::move(in_demand);
  view.saturated.resize(nodes_.size());
  view.rows.resize(nodes_.size() * stride());
  view.seen = log_.size();
  for (auto i = static_cast<std::uint32_t>(nodes_.size()); i-- > 0;) {
    if (nodes_[i].job.is_set())
      judge_leaf(view, i, nodes_[i].allocated);
    else
      judge_inner(view, i);
  }
  return view;
}

// The nodes above the leaf.
void DrfTree::add_path(std::uint32_t leaf, std::vector<std::uint32_t>& nodes) const {
  for (std::uint32_t at = nodes_[leaf].parent;; at = nodes_[at].parent) {
    nodes.push_back(at);
    if (at == 0) return;
  }
}

void DrfTree::catch_up(View& view) const {
  if (view.seen == log_.size()) return;
  std::vector<std::uint32_t> above;
  for (; view.seen < log_.size(); ++view.seen) {
    judge_leaf(view, log_[view.seen], nodes_[log_[view.seen]].allocated);
    add_path(log_[view.seen], above);
  }
  judge_all(view, above);
}

void DrfTree::judge_share(double* row) const {
  row[0] = 0;
  for (std::size_t i = 0; i < dims_.size(); ++i) row[0] = std::max(row[0], share_of(row[i + 1], total_.get(dims_[i])));
}

void DrfTree::judge_leaf(View& view, std::uint32_t leaf, const Resource& allocated) const {
  double* row = view.rows.data() + leaf * stride();
  for (std::size_t i = 0; i < dims_.size(); ++i) row[i + 1] = allocated.get(dims_[i]);
  judge_share(row);
  bool saturated = false;
  for (Dim d = 0; d < allocated.size(); ++d) {
    const double has = allocated.get(d), wants = nodes_[leaf].request.get(d);
    if (has < kResourceEpsilon) continue;
    const bool demanding = d < view.in_demand.size() && view.in_demand[d];
    saturated |= wants != 0 && (has >= wants || !demanding);
  }
  view.saturated[leaf] = saturated;
}

void DrfTree::judge_inner(View& view, std::uint32_t node) const {
  const std::size_t width = stride();
  double* out = view.rows.data() + node * width;
  double smallest = 1;
  bool saturated = true;
  for (const std::uint32_t child : nodes_[node].children) {
    const double share = view.rows[child * width];
    if (share != 0 && !view.saturated[child]) smallest = std::min(smallest, share);
    saturated = saturated && view.saturated[child];
  }
  std::fill(out, out + width, 0.0);
  // In the order of the children, whichever of them changed: sums of parts depend on it.
  for (const std::uint32_t child : nodes_[node].children) {
    const double* one = view.rows.data() + child * width;
    if (one[0] == 0) continue;
    const double factor = view.saturated[child] ? 1 : smallest / one[0];
    for (std::size_t i = 1; i < width; ++i) out[i] += one[i] * factor;
  }
  judge_share(out);
  view.saturated[node] = saturated;
}

// Children first.
void DrfTree::judge_all(View& view, std::vector<std::uint32_t>& nodes) const {
  std::sort(nodes.begin(), nodes.end(), std::greater<>());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  for (const std::uint32_t node : nodes) judge_inner(view, node);
}

double DrfTree::compare_paths(const View& view, QueueId a, QueueId b) const {
  const std::vector<std::uint32_t>&left = path_of_queue_.at(a.index), &right = path_of_queue_.at(b.index);
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (left[i] == right[i]) continue;
    if (view.saturated[left[i]] != view.saturated[right[i]]) return view.saturated[left[i]] ? 1 : -1;
    const double difference = view.rows[left[i] * stride()] / nodes_[left[i]].weight -
                              view.rows[right[i] * stride()] / nodes_[right[i]].weight;
    if (difference != 0) return difference;
  }
  return 0;
}

double DrfTree::compare(const Model& model, QueueId a, QueueId b) {
  follow(model);
  for (const QueueId id : {a, b}) node_for_queue(model.queue(id), false);
  return compare_paths(view_for(in_demand(total_allocated_)), a, b);
}

// Whether the first queue is behind the second with both leaves as tried; the view is as before afterwards.
bool DrfTree::is_behind(const Trial& own, const Trial& other, const Resource& total, QueueId a, QueueId b) {
  View& view = view_for(in_demand(total));
  std::vector<std::uint32_t> nodes;
  for (const Trial* one : {&own, &other}) {
    judge_leaf(view, one->leaf, one->allocated);
    add_path(one->leaf, nodes);
  }
  judge_all(view, nodes);
  const bool out = compare_paths(view, a, b) < 0;
  for (const Trial* one : {&own, &other}) judge_leaf(view, one->leaf, nodes_[one->leaf].allocated);
  judge_all(view, nodes);
  return out;
}

std::vector<TaskId> DrfTree::reclaimable(const Model& model, const Task& reclaimer,
                                         const std::vector<TaskId>& candidates) {
  std::vector<TaskId> out;
  follow(model);
  const auto own = reclaimer.job.is_set() ? leaf_of_job_.find(reclaimer.job.index) : leaf_of_job_.end();
  if (own == leaf_of_job_.end()) return out;
  const Resource wanted(model.shape_of(reclaimer).request);
  const QueueId queue = model.job(reclaimer.job).queue;
  const Trial with{own->second, nodes_[own->second].allocated + wanted};
  const Resource total = total_allocated_ + wanted;
  for (const TaskId id : candidates) {
    const Task& task = model.task(id);
    const auto leaf = task.job.is_set() ? leaf_of_job_.find(task.job.index) : leaf_of_job_.end();
    if (leaf == leaf_of_job_.end()) continue;
    const Resource gives(model.shape_of(task).request);
    const bool is_own = leaf->second == own->second;
    const Trial without{leaf->second, (is_own ? with.allocated : nodes_[leaf->second].allocated) - gives};
    if (is_behind(with, without, total - gives, queue, model.job(task.job).queue)) out.push_back(id);
  }
  return out;
}

}  // namespace scheduler

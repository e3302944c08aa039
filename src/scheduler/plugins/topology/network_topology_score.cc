// How good is a node for a pod, by where it lies in the network?
#include "scheduler/plugins/topology/network_topology_score.h"

#include <algorithm>
#include <cmath>

namespace scheduler {
namespace {

class PartScorer final : public NodeScorer {
 public:
  PartScorer(Model& model, const TopologyWeights& weights, JobId job, std::uint32_t part)
      : model_(model), weights_(weights), job_(job), part_(part) {}
  Reach reach() const override { return Reach::kCluster; }
  Normalise normalise() const override { return Normalise::kWhole; }

  void add_scores(const NodeSet& candidates, std::vector<double>& totals) override {
    const Job& job = model_.job(job_);
    if (!job.topology || part_ >= job.topology->sub_jobs.size()) return;
    const DomainId hint = job.topology->sub_jobs[part_].hint;
    if (!hint.is_set()) return;
    const DomainTree& tree = model_.hyper_nodes.tree();
    // Neighbours in the table mostly lie in one domain; it is judged once.
    DomainId last;
    double value = nearness(tree, last, hint), most = 0;
    std::size_t at_most = 0;
    const auto value_of = [&](std::uint32_t n) {
      const DomainId leaf = tree.leaf_of(n);
      if (leaf != last) value = nearness(tree, last = leaf, hint);
      return value;
    };
    candidates.for_each([&](std::uint32_t n) {
      const double one = value_of(n);
      if (one > most) most = one, at_most = 0;
      at_most += one == most;
    });
    if (at_most > 1) count_tasks(job);
    const double tasks = job.topology->sub_jobs[part_].task_count();
    candidates.for_each([&](std::uint32_t n) {
      double one = value_of(n);
      if (one == most && at_most > 1 && tree.leaf_of(n).is_set()) one += tasks_in_[tree.leaf_of(n).index] / tasks;
      totals[n] += one * 100 * weights_.all;
    });
  }

 private:
  // How many of the part's tasks lie in each leaf.
  void count_tasks(const Job& job) {
    const DomainTree& tree = model_.hyper_nodes.tree();
    tasks_in_.assign(tree.size(), 0);
    for (const TaskId id : job.tasks) {
      const NodeId node = model_.task(id).node;
      if (!node.is_set() || model_.sub_job_of(id) != part_) continue;
      if (const DomainId leaf = tree.leaf_of(node.index); leaf.is_set()) ++tasks_in_[leaf.index];
    }
  }

  static double nearness(const DomainTree& tree, DomainId leaf, DomainId hint) {
    if (!leaf.is_set()) return 0;
    if (leaf == hint) return 1;
    const std::int64_t low = tree.tiers().front(), high = tree.tiers().back();
    if (low == high) return 1;
    return static_cast<double>(high - tree[tree.common(leaf, hint)].tier) / static_cast<double>(high - low);
  }

  Model& model_;
  const TopologyWeights& weights_;
  JobId job_;
  std::uint32_t part_;
  std::vector<double> tasks_in_;  // by domain; scratch
};

class NormalPodScorer final : public NodeScorer {
 public:
  NormalPodScorer(Model& model, DomainSums& sums, DomainGroups& groups, const TopologyWeights& weights,
                  const Request& request)
      : model_(model), sums_(sums), groups_(groups), weights_(weights) {
    request_.add(request, 1);
  }
  Reach reach() const override { return Reach::kCluster; }
  Normalise normalise() const override { return Normalise::kWhole; }
  const NodeGroups* groups() override { return &groups_.of(model_); }

  void add_scores(const NodeSet& candidates, std::vector<double>& totals) override {
    const NodeGroups& groups = groups_.of(model_);
    score_groups(scores_);
    candidates.for_each([&](std::uint32_t n) { totals[n] += scores_[groups.of_node[n]]; });
  }

  void score_groups(std::vector<double>& out) override {
    const DomainTree& tree = model_.hyper_nodes.tree();
    const NodeGroups& groups = groups_.of(model_);
    sums_.catch_up();
    settle_shortages(tree);
    const double all = sum_of_tiers(tree.tiers().front(), tree.tiers().back());
    out.assign(groups.count, 0);
    for (std::uint32_t g = 0; g < groups.count; ++g) {
      out[g] = value_of(tree, groups_.domains_of(g), all) * 100 * weights_.all;
    }
  }

 private:
  double weight_of(std::int64_t tier) const { return std::pow(weights_.fading, static_cast<double>(tier - 1)); }

  // Over every whole number between; a tier without domains counts too.
  double sum_of_tiers(std::int64_t low, std::int64_t high) const {
    const auto count = static_cast<double>(high - low + 1);
    const double f = weights_.fading;
    return f == 1 ? count : weight_of(low) * (1 - std::pow(f, count)) / (1 - f);
  }

  // How much each domain lacks to be full, weighted by its tier; only where something was placed or freed since.
  void settle_shortages(const DomainTree& tree) {
    if (generation_ != model_.hyper_nodes.generation() || shortage_.size() != tree.size()) {
      generation_ = model_.hyper_nodes.generation();
      shortage_.assign(tree.size(), 0);
      used_.assign(tree.size() * weights_.by_dim.size(), -1);
    }
    for (std::uint32_t d = 0; d < tree.size(); ++d) {
      bool changed = false;
      std::size_t at = d * weights_.by_dim.size();
      for (const auto& [dim, weight] : weights_.by_dim) {
        const std::int64_t used = sums_.used(DomainId{d}, dim);
        changed |= used_[at] != used;
        used_[at++] = used;
      }
      if (changed || first_)
        shortage_[d] = weight_of(tree[DomainId{d}].tier) * (1 - fullness(sums_, weights_, DomainId{d}, request_));
    }
    first_ = false;
  }

  // A tier in which no domain holds the node counts as full.
  double value_of(const DomainTree& tree, const std::vector<DomainId>& around, double all) const {
    double short_of_full = 0;
    const Domain* before = nullptr;
    for (const DomainId id : around) {
      if (before != nullptr && tree[id].tier == before->tier) continue;
      before = &tree[id];
      short_of_full += shortage_[id.index];
    }
    const double value = (all - short_of_full) / all;
    return std::isfinite(value) ? value : 0;
  }

  Model& model_;
  DomainSums& sums_;
  DomainGroups& groups_;
  const TopologyWeights& weights_;
  Sums request_;
  std::uint64_t generation_ = 0;
  bool first_ = true;
  std::vector<double> shortage_;    // by domain
  std::vector<std::int64_t> used_;  // by domain and weighted dimension: what shortage_ was computed from
  std::vector<double> scores_;      // scratch
};

}  // namespace

double fullness(const DomainSums& sums, const TopologyWeights& weights, DomainId domain, const Sums& more) {
  double total = 0, divisor = 0;
  for (const auto& [dim, weight] : weights.by_dim) {
    const std::int64_t wanted = more.get(dim);
    if (wanted <= 0 || weight == 0) continue;
    const std::int64_t after = sums.used(domain, dim) + wanted, capacity = sums.allocatable(domain, dim);
    if (after > capacity) return 0;
    total += static_cast<double>(weight) * static_cast<double>(after) / static_cast<double>(capacity);
    divisor += static_cast<double>(weight);
  }
  return divisor > 0 ? total / divisor : 0;
}

double part_of_tasks_in(Model& model, const Job& job, std::uint32_t part, DomainId domain) {
  const NodeSet& inside = model.hyper_nodes.tree().set_of(domain);
  double all = 0, there = 0;
  for (const TaskId id : job.tasks) {
    if (model.sub_job_of(id) != part) continue;
    ++all;
    const NodeId node = model.task(id).node;
    there += node.is_set() && inside.has(node.index);
  }
  return all > 0 ? there / all : 0;
}

std::unique_ptr<NodeScorer> make_part_scorer(Model& model, const TopologyWeights& weights, JobId job,
                                             std::uint32_t part) {
  return std::make_unique<PartScorer>(model, weights, job, part);
}

std::unique_ptr<NodeScorer> make_normal_pod_scorer(Model& model, DomainSums& sums, DomainGroups& groups,
                                                   const TopologyWeights& weights, const Request& request) {
  return std::make_unique<NormalPodScorer>(model, sums, groups, weights, request);
}

const NodeGroups& DomainGroups::of(Model& model) {
  if (generation_ == model.hyper_nodes.generation() && groups_.of_node.size() == model.nodes.size()) return groups_;
  generation_ = model.hyper_nodes.generation();
  const DomainTree& tree = model.hyper_nodes.tree();
  std::map<std::vector<DomainId>, std::uint32_t> known;
  groups_.of_node.clear();
  domains_.clear();
  for (std::uint32_t n = 0; n < model.nodes.size(); ++n) {
    const auto [slot, added] = known.try_emplace(tree.domains_of(n), static_cast<std::uint32_t>(domains_.size()));
    if (added) domains_.push_back(slot->first);
    groups_.of_node.push_back(slot->second);
  }
  groups_.count = static_cast<std::uint32_t>(domains_.size());
  return groups_;
}

}  // namespace scheduler

// How good is a node for a pod, by where it lies in the network?
#include "scheduler/plugins/network_topology_score.h"

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
      totals[n] += one * 100 * static_cast<double>(weights_.all);
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
  NormalPodScorer(Model& model, DomainSums& sums, const TopologyWeights& weights, const Request& request)
      : model_(model), sums_(sums), weights_(weights) {
    request_.add(request, 1);
  }
  Reach reach() const override { return Reach::kCluster; }
  Normalise normalise() const override { return Normalise::kWhole; }

  void add_scores(const NodeSet& candidates, std::vector<double>& totals) override {
    const DomainTree& tree = model_.hyper_nodes.tree();
    if (!tree.has_hyper_nodes()) return;  // the same for every node
    sums_.catch_up();
    const double all = sum_of_tiers(tree.tiers().front(), tree.tiers().back());
    const std::vector<DomainId>* last = nullptr;
    double value = 0;
    candidates.for_each([&](std::uint32_t n) {
      const std::vector<DomainId>& around = tree.domains_of(n);
      if (last == nullptr || around != *last) value = value_of(tree, around, all);
      last = &around;
      totals[n] += value * 100 * static_cast<double>(weights_.all);
    });
  }

 private:
  double weight_of(std::int64_t tier) const { return std::pow(weights_.fading, static_cast<double>(tier - 1)); }

  // Over every whole number between; a tier without domains counts too.
  double sum_of_tiers(std::int64_t low, std::int64_t high) const {
    const auto count = static_cast<double>(high - low + 1);
    const double f = weights_.fading;
    return f == 1 ? count : weight_of(low) * (1 - std::pow(f, count)) / (1 - f);
  }

  // A tier in which no domain holds the node counts as full.
  double value_of(const DomainTree& tree, const std::vector<DomainId>& around, double all) const {
    double short_of_full = 0;
    const Domain* before = nullptr;
    for (const DomainId id : around) {
      if (before != nullptr && tree[id].tier == before->tier) continue;
      before = &tree[id];
      short_of_full += weight_of(tree[id].tier) * (1 - fullness(sums_, weights_, id, request_));
    }
    const double value = (all - short_of_full) / all;
    return std::isfinite(value) ? value : 0;
  }

  Model& model_;
  DomainSums& sums_;
  const TopologyWeights& weights_;
  Sums request_;
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

std::unique_ptr<NodeScorer> make_part_scorer(Model& model, const TopologyWeights& weights, JobId job, std::uint32_t part) {
  return std::make_unique<PartScorer>(model, weights, job, part);
}

std::unique_ptr<NodeScorer> make_normal_pod_scorer(Model& model, DomainSums& sums, const TopologyWeights& weights, const Request& request) {
  return std::make_unique<NormalPodScorer>(model, sums, weights, request);
}

}  // namespace scheduler

// Nodeorder: the Kubernetes scores, weighted and summed.
#include "scheduler/plugins/nodeorder/nodeorder.h"

#include <algorithm>
#include <cmath>

#include "scheduler/framework/plugin.h"
#include "scheduler/model/model.h"
#include "scheduler/plugins/nodeorder/capacity_kernel.h"
#include "scheduler/plugins/nodeorder/current_balance.h"
#include "scheduler/plugins/nodeorder/image_locality.h"
#include "scheduler/search/node_evaluators.h"

namespace scheduler {
namespace {

// Least allocated, most allocated and balanced allocation in one pass: all three only read the node's own columns.
class CapacityScorer final : public NodeScorer {
 public:
  // `balance` outlives it.
  CapacityScorer(const Model& model, const NodeOrderWeights& weights, const Shape& shape, CurrentBalance& balance)
      : model_(model), nodes_(model.nodes), shape_(shape), weights_(weights), balance_now_(balance) {
    for (const Part& part : shape.request.parts) {
      if (part.dim > kPods && part.amount > 0 && model.dimensions.name(part.dim) == "nvidia.com/gpu") gpu_ = part;
    }
    cpu_ = static_cast<double>(shape.request.get(kCpu));
    memory_ = static_cast<double>(shape.request.get(kMemory));
    balanced_ = weights.balanced != 0 && (cpu_ > 0 || memory_ > 0 || gpu_.amount > 0);
  }
  Reach reach() const override { return Reach::kNode; }

  void add_scores(const NodeSet& candidates, std::vector<double>& totals) override {
    // Rows without a node behind the last are not worth scoring.
    const std::size_t rows = std::min((nodes_.size() + 3) / 4 * 4, totals.size());
    if (gpu_.amount > 0 || candidates.count() * 8 < rows) return NodeScorer::add_scores(candidates, totals);
    add_capacity_scores(columns(), totals.data(), rows);
  }

  double score(std::uint32_t n) override {
    double total = capacity_score(columns(), n);
    if (balanced_ && gpu_.amount > 0) total += weights_.balanced * balance_with_gpu(n);
    return total;
  }

 private:
  // Columns move when nodes are added. Balance over three resources is not among what the kernel knows.
  CapacityTask columns() {
    const bool balances = balanced_ && gpu_.amount == 0;
    return {.cpu_cap = nodes_.allocatable(kCpu).data(),
            .memory_cap = nodes_.allocatable(kMemory).data(),
            .cpu_used = nodes_.nonzero_cpu().data(),
            .memory_used = nodes_.nonzero_memory().data(),
            .cpu_real = nodes_.seen_cpu().data(),
            .memory_real = nodes_.seen_memory().data(),
            .cpu = static_cast<double>(shape_.nonzero_cpu),
            .memory = static_cast<double>(shape_.nonzero_memory),
            .cpu_wanted = cpu_,
            .memory_wanted = memory_,
            .least = weights_.least,
            .most = weights_.most,
            .balanced = balances ? weights_.balanced : 0,
            .balance_now = balances ? balance_now_.column(model_).data() : nullptr};
  }

  static double fraction(double used, double cap) { return std::min(1.0, used / cap); }

  double spread(std::uint32_t n, bool with_pod) const {
    const auto cpu_cap = static_cast<double>(nodes_.allocatable(kCpu)[n]);
    const auto memory_cap = static_cast<double>(nodes_.allocatable(kMemory)[n]);
    const double add = with_pod ? 1 : 0;
    double fractions[3];
    int count = 0;
    if (cpu_cap != 0) fractions[count++] = fraction(static_cast<double>(nodes_.seen_cpu()[n]) + add * cpu_, cpu_cap);
    if (memory_cap != 0)
      fractions[count++] = fraction(static_cast<double>(nodes_.seen_memory()[n]) + add * memory_, memory_cap);
    if (gpu_.amount > 0 && n < nodes_.allocatable(gpu_.dim).size() && nodes_.allocatable(gpu_.dim)[n] != 0) {
      const auto used = static_cast<double>(nodes_.used(gpu_.dim)[n] + nodes_.pipelined(gpu_.dim)[n]);
      fractions[count++] =
          fraction(used + add * static_cast<double>(gpu_.amount), static_cast<double>(nodes_.allocatable(gpu_.dim)[n]));
    }
    if (count < 2) return 0;
    if (count == 2) return std::fabs(fractions[0] - fractions[1]) / 2;
    const double middle = (fractions[0] + fractions[1] + fractions[2]) / 3;
    double variance = 0;
    for (const double f : fractions) variance += (f - middle) * (f - middle);
    return std::sqrt(variance / 3);
  }

  double balance_with_gpu(std::uint32_t n) const {
    const double after = std::trunc((1 - spread(n, true)) * 100);
    const double before = std::trunc((1 - spread(n, false)) * 100);
    return 50 + std::trunc((50 + after - before) / 2);
  }

  const Model& model_;
  const NodeTable& nodes_;
  const Shape& shape_;
  const NodeOrderWeights weights_;
  CurrentBalance& balance_now_;
  Part gpu_{0, 0};
  double cpu_ = 0, memory_ = 0;
  bool balanced_ = false;
};

class PreferredAffinityScorer final : public NodeScorer {
 public:
  PreferredAffinityScorer(const Model& model, const Shape& shape, double weight)
      : raw_(model.nodes.known().words().size() * 64), weight_(weight) {
    for (const NodeTerm& term : shape.preferred_terms) {
      model.nodes.nodes_matching(term).for_each([&](std::uint32_t n) { raw_[n] += term.weight; });
    }
  }
  Reach reach() const override { return Reach::kStatic; }
  Normalise normalise() const override { return Normalise::kMax; }
  double weight() const override { return weight_; }
  std::int64_t raw(std::uint32_t n) override { return raw_[n]; }

 private:
  std::vector<std::int64_t> raw_;
  double weight_;
};

class TaintScorer final : public NodeScorer {
 public:
  TaintScorer(const Model& model, const Shape& shape, double weight) : nodes_(model.nodes), weight_(weight) {
    for (const auto& taints : model.nodes.taint_sets()) {
      counts_.push_back(std::count_if(taints.begin(), taints.end(), [&](const Taint& taint) {
        return taint.effect == Taint::Effect::kPreferNoSchedule && !tolerates_softly(shape, taint);
      }));
      matters_ |=
          counts_.back() != 0 && !model.nodes.nodes_with_taints(static_cast<std::uint32_t>(counts_.size() - 1)).empty();
    }
  }
  // Every node scores the same if no node has such a taint.
  bool matters() const { return matters_; }
  Reach reach() const override { return Reach::kStatic; }
  Normalise normalise() const override { return Normalise::kReverseMax; }
  double weight() const override { return weight_; }
  std::int64_t raw(std::uint32_t n) override { return counts_[nodes_[NodeId{n}].taint_set]; }

 private:
  // Only tolerations for this effect, or for every effect, are looked at.
  static bool tolerates_softly(const Shape& shape, const Taint& taint) { return tolerates(shape.tolerations, taint); }

  const NodeTable& nodes_;
  std::vector<std::int64_t> counts_;  // by taint set
  double weight_;
  bool matters_ = false;
};

class NodeOrderPlugin final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    const Arguments& arguments = setup.arguments();
    const auto weight = [&](std::string_view key, std::int64_t fallback) {
      return arguments.get_weight(key, fallback);
    };
    weights_ = {.least = weight("leastrequested.weight", 1),
                .most = weight("mostrequested.weight", 0),
                .balanced = weight("balancedresource.weight", 1),
                .node_affinity = weight("nodeaffinity.weight", 2),
                .pod_affinity = weight("podaffinity.weight", 2),
                .taints = weight("tainttoleration.weight", 3),
                .images = weight("imagelocality.weight", 1),
                .spread = weight("podtopologyspread.weight", 2)};
    Model& model = setup.model();
    const auto add = [&](auto make) { setup.on<NodeOrder>(make); };
    add([this, &model](const Task& task) -> std::unique_ptr<NodeScorer> {
      const Shape& shape = model.shape_of(task);
      return weights_.images == 0 ? nullptr : images_.scorer_for(model, shape, weights_.images);
    });
    add([this, &model](const Task& task) -> std::unique_ptr<NodeScorer> {
      return std::make_unique<CapacityScorer>(model, weights_, model.shape_of(task), balance_now_);
    });
    add([this, &model](const Task& task) -> std::unique_ptr<NodeScorer> {
      const Shape& shape = model.shape_of(task);
      if (weights_.node_affinity == 0 || shape.preferred_terms.empty()) return nullptr;
      return std::make_unique<PreferredAffinityScorer>(model, shape, weights_.node_affinity);
    });
    add([this, &model](const Task& task) -> std::unique_ptr<NodeScorer> {
      if (weights_.taints == 0) return nullptr;
      auto scorer = std::make_unique<TaintScorer>(model, model.shape_of(task), weights_.taints);
      if (!scorer->matters()) return nullptr;
      return scorer;
    });
    add([this, &model](const Task& task) {
      return make_pod_affinity_scorer(model, domains_, task, weights_.pod_affinity);
    });
    add([this, &model](const Task& task) { return make_spread_scorer(model, domains_, task, weights_.spread); });
    if (weights_.spread == 0) return;
    setup.on<ClassKey>([&model](const Task& task) {
      const MatcherId spread = default_spread_of(model, task);
      return spread.is_set() ? spread.index + 1 : 0;
    });
  }

 private:
  NodeOrderWeights weights_;
  DomainCache domains_;
  ImageLocality images_;
  CurrentBalance balance_now_;
};

}  // namespace

std::unique_ptr<Plugin> make_nodeorder() { return std::make_unique<NodeOrderPlugin>(); }

}  // namespace scheduler

// Binpack: nodes that are already well used come first.
#include <algorithm>
#include <map>

#include "base/format.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/model/model.h"
#include "scheduler/plugins/binpack/binpack_kernel.h"
#include "scheduler/search/node_evaluators.h"

namespace scheduler {
namespace {

struct Weights {
  double all = 1;
  std::map<Dim, std::int64_t> by_dim;
};

class BinpackScorer final : public NodeScorer {
 public:
  BinpackScorer(const Model& model, const Weights& weights, const Shape& shape)
      : nodes_(model.nodes), weight_(weights.all) {
    for (const Part& part : shape.request.parts) {
      auto found = weights.by_dim.find(part.dim);
      if (part.amount > 0 && found != weights.by_dim.end() && found->second != 0) {
        parts_.push_back({part, static_cast<double>(found->second)});
        divisor_ += parts_.back().weight;
      }
    }
    terms_.resize(parts_.size());
  }
  Reach reach() const override { return Reach::kNode; }

  void add_scores(const NodeSet& candidates, std::vector<double>& totals) override {
    if (parts_.empty()) return;
    // Rows without a node behind the last are not worth scoring.
    const std::size_t rows = std::min((nodes_.size() + 3) / 4 * 4, totals.size());
    if (candidates.count() * 8 < rows) return NodeScorer::add_scores(candidates, totals);
    add_binpack_scores(terms(), divisor_, weight_, totals.data(), rows);
  }

  double score(std::uint32_t node) override {
    return parts_.empty() ? 0 : binpack_score(terms(), divisor_, weight_, node);
  }

 private:
  struct WeightedPart {
    Part part;
    double weight;
  };

  // Columns move when nodes are added.
  std::span<const BinpackTerm> terms() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Part& part = parts_[i].part;
      terms_[i] = {nodes_.allocatable(part.dim).data(), nodes_.used(part.dim).data(), part.amount, parts_[i].weight};
    }
    return terms_;
  }

  const NodeTable& nodes_;
  const double weight_;
  double divisor_ = 0;
  std::vector<WeightedPart> parts_;
  std::vector<BinpackTerm> terms_;
};

std::int64_t weight_of(const Arguments& arguments, const std::string& key) { return arguments.get_int_from(key, 0, 1); }

class Binpack final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    const Arguments& arguments = setup.arguments();
    Model& model = setup.model();
    weights_.all = arguments.get_weight("binpack.weight", 1);
    weights_.by_dim[kCpu] = weight_of(arguments, "binpack.cpu");
    weights_.by_dim[kMemory] = weight_of(arguments, "binpack.memory");
    for (const std::string& name : arguments.get_names("binpack.resources")) {
      weights_.by_dim[model.dimensions.intern(name)] = weight_of(arguments, "binpack.resources." + name);
    }
    if (weights_.all == 0) return;
    setup.on<NodeOrder>([this, &model](const Task& task) -> std::unique_ptr<NodeScorer> {
      return std::make_unique<BinpackScorer>(model, weights_, model.shape_of(task));
    });
  }

 private:
  Weights weights_;
};

}  // namespace

std::unique_ptr<Plugin> make_binpack() { return std::make_unique<Binpack>(); }

}  // namespace scheduler

// Binpack: nodes that are already well used come first.
#include <map>

#include "base/format.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/model/model.h"
#include "scheduler/search/node_evaluators.h"

namespace scheduler {
namespace {

struct Weights {
  std::int64_t all = 1;
  std::map<Dim, std::int64_t> by_dim;
};

class BinpackScorer final : public NodeScorer {
 public:
  BinpackScorer(const Model& model, const Weights& weights, const Shape& shape)
      : nodes_(model.nodes), weights_(weights) {
    for (const Part& part : shape.request.parts) {
      auto found = weights.by_dim.find(part.dim);
      if (part.amount > 0 && found != weights.by_dim.end())
        terms_.push_back({part, static_cast<double>(found->second)});
    }
  }
  Reach reach() const override { return Reach::kNode; }

  double score(std::uint32_t node) override {
    double sum = 0, divisor = 0;
    for (const Term& term : terms_) {
      divisor += term.weight;
      const Column& allocatable = nodes_.allocatable(term.part.dim);
      const std::int64_t capacity = allocatable[node];
      if (capacity == 0 || term.weight == 0) continue;
      const std::int64_t after = nodes_.used(term.part.dim)[node] + term.part.amount;
      if (after > capacity) return 0;
      sum += static_cast<double>(after) * term.weight / static_cast<double>(capacity);
    }
    return divisor > 0 ? sum / divisor * 100 * static_cast<double>(weights_.all) : 0;
  }

 private:
  struct Term {
    Part part;
    double weight;
  };
  const NodeTable& nodes_;
  const Weights& weights_;
  std::vector<Term> terms_;
};

std::int64_t weight_of(const Arguments& arguments, const std::string& key) {
  const std::int64_t weight = arguments.get_int(key, 1);
  return weight < 0 ? 1 : weight;
}

class Binpack final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    const Arguments& arguments = setup.arguments();
    Model& model = setup.model();
    weights_.all = arguments.get_int("binpack.weight", 1);
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

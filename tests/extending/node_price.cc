// Node-price: of the nodes that take a pod, the cheapest comes first; some are too dear for it. The example of
// docs/extending.md: an extension that is compiled and tested, and no part of the program.
#include "node_price.h"

#include <charconv>

#include "scheduler/framework/plugin.h"
#include "scheduler/model/model.h"
#include "scheduler/search/node_by_node_filter.h"

namespace extending {

using namespace scheduler;

namespace {

constexpr std::string_view kPriceLabel = "example.com/price";  // of a node: whole cents an hour
constexpr std::string_view kTooDear = "node(s) cost more than node-price.max allows";

// The price of an hour on the node. A node that does not say so, or says nonsense, costs nothing.
std::int64_t price_of(const Model& model, std::uint32_t node) {
  const Symbol label = model.symbols.find(kPriceLabel);
  const Symbol value = label.is_set() ? value_of(model.nodes[NodeId{node}].labels, label) : Symbol{};
  if (!value.is_set()) return 0;
  const std::string& text = model.symbols.text(value);
  std::int64_t cents = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cents);
  return error == std::errc() && end == text.data() + text.size() && cents > 0 ? cents : 0;
}

// 100 for the cheapest of the candidates, and less the more a node costs.
class PriceScorer final : public NodeScorer {
 public:
  PriceScorer(const Model& model, double weight) : model_(model), weight_(weight) {}

  Reach reach() const override { return Reach::kStatic; }  // a label: nothing that runs there changes it
  Normalise normalise() const override { return Normalise::kReverseMax; }
  double weight() const override { return weight_; }
  std::int64_t raw(std::uint32_t node) override { return price_of(model_, node); }

 private:
  const Model& model_;
  const double weight_;
};

// Refuses nodes above a price. No eviction makes a node cheaper, so the refusal is for good.
class PriceFilter final : public NodeByNodeFilter {
 public:
  PriceFilter(const Model& model, std::int64_t max) : model_(model), max_(max) {}

  Reach reach() const override { return Reach::kStatic; }

 private:
  std::string_view refusal(std::uint32_t node) override { return price_of(model_, node) > max_ ? kTooDear : ""; }

  const Model& model_;
  const std::int64_t max_;
};

class NodePrice final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    const auto weight = static_cast<double>(setup.arguments().get_int("node-price.weight", 1));
    const std::int64_t max = setup.arguments().get_int("node-price.max", -1);  // below 0: no limit
    Model& model = setup.model();
    setup.on<NodeOrder>([&model, weight](const Task&) -> std::unique_ptr<NodeScorer> {
      return std::make_unique<PriceScorer>(model, weight);
    });
    if (max < 0) return;
    setup.on<Predicate>([&model, max](const Task&) -> std::unique_ptr<NodeFilter> {
      return std::make_unique<PriceFilter>(model, max);
    });
  }
};

}  // namespace

std::unique_ptr<scheduler::Plugin> make_node_price() { return std::make_unique<NodePrice>(); }

}  // namespace extending

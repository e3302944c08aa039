// Resource strategy fit: full nodes first for some resources, empty ones first for others; ordinary pods keep away from
// nodes with scarce devices, and leave cpu and memory for them.
#include <algorithm>
#include <map>

#include "api/json/json.h"
#include "base/format.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/model/model.h"
#include "scheduler/plugins/binpack/binpack_kernel.h"
#include "scheduler/search/node_evaluators.h"

namespace scheduler {
namespace {

struct Strategy {
  bool most = false;  // full nodes first
  std::int64_t weight = 1;
};

// Strategies by resource name; a name may end in one `*`, and then the longest prefix counts.
class Strategies {
 public:
  void set(const std::string& name, Strategy strategy) {
    const std::size_t star = name.find('*');
    if (star == std::string::npos)
      exact_[name] = strategy;
    else if (star > 0 && star + 1 == name.size())
      prefixes_[name.substr(0, star)] = strategy;
  }
  bool empty() const { return exact_.empty() && prefixes_.empty(); }
  const Strategy* find(const std::string& name) const {
    if (const auto found = exact_.find(name); found != exact_.end()) return &found->second;
    const Strategy* best = nullptr;
    std::size_t longest = 0;
    for (const auto& [prefix, strategy] : prefixes_) {
      if (!name.starts_with(prefix) || (best != nullptr && prefix.size() <= longest)) continue;
      best = &strategy;
      longest = prefix.size();
    }
    return best;
  }

 private:
  std::map<std::string, Strategy> exact_, prefixes_;
};

struct Scarce {
  std::map<std::string, double> weights;
  double total = 0;
  double weight = 0;  // of the whole score
};

struct KeptFree {
  std::string resource;
  double cpu = 1;
  double memory = 1;
};

class StrategyScorer final : public NodeScorer {
 public:
  StrategyScorer(const Model& model, const Strategies& strategies, double weight, const Shape& shape)
      : nodes_(model.nodes), weight_(weight) {
    for (const Part& part : shape.request.parts) {
      const Strategy* strategy = part.amount > 0 ? strategies.find(model.dimensions.name(part.dim)) : nullptr;
      if (strategy == nullptr) continue;
      dims_.push_back(part.dim);
      terms_.push_back({.allocatable = nullptr,
                        .used = nullptr,
                        .amount = part.amount,
                        .weight = static_cast<double>(strategy->weight),
                        .free = !strategy->most});
      divisor_ += static_cast<double>(strategy->weight);
    }
  }
  Reach reach() const override { return Reach::kNode; }
  bool matters() const { return divisor_ > 0; }

  double score(std::uint32_t n) override {
    for (std::size_t i = 0; i < terms_.size(); ++i) {  // columns move when nodes are added
      terms_[i].allocatable = nodes_.allocatable(dims_[i]).data();
      terms_[i].used = nodes_.used(dims_[i]).data();
    }
    return binpack_score(terms_, divisor_, weight_, n);
  }

 private:
  const NodeTable& nodes_;
  std::vector<Dim> dims_;
  std::vector<BinpackTerm> terms_;
  double divisor_ = 0;
  double weight_;
};

class ScarceScorer final : public NodeScorer {
 public:
  ScarceScorer(Model& model, const Scarce& scarce, const Shape& shape)
      : nodes_(model.nodes), scarce_(scarce), shape_(shape) {
    for (const auto& [name, weight] : scarce.weights) terms_.push_back({model.dimensions.intern(name), weight});
  }
  Reach reach() const override { return Reach::kStatic; }

  double score(std::uint32_t n) override {
    for (const Part& part : shape_.request.parts) {
      if (part.amount > 0 && nodes_.allocatable(part.dim)[n] == 0) return 0;
    }
    double has = 0;
    for (const auto& [dim, weight] : terms_) has += nodes_.allocatable(dim)[n] > 0 ? weight : 0;
    return (1 - has / scarce_.total) * 100 * scarce_.weight;
  }

 private:
  const NodeTable& nodes_;
  const Scarce& scarce_;
  const Shape& shape_;
  std::vector<std::pair<Dim, double>> terms_;
};

class ProportionFilter final : public NodeFilter {
 public:
  ProportionFilter(Model& model, const std::vector<KeptFree>& rules, const Shape& shape)
      : nodes_(model.nodes), shape_(shape) {
    for (const KeptFree& rule : rules) {
      rules_.push_back({model.dimensions.intern(rule.resource), rule.cpu, rule.memory,
                        base::format("proportional of resource {} check failed", rule.resource)});
    }
  }
  Reach reach() const override { return Reach::kNode; }
  void narrow(NodeSet& nodes, Strictness, FitErrors* errors) override {
    NodeSet bad = nodes;
    nodes.for_each([&](std::uint32_t n) {
      const Rule* broken = broken_rule(n);
      if (broken == nullptr)
        bad.remove(n);
      else if (errors != nullptr)
        errors->add(broken->message, 1);
    });
    if (errors != nullptr) errors->add_unresolvable(bad);
    nodes.subtract(bad);
  }
  bool fits(std::uint32_t n) override { return broken_rule(n) == nullptr; }

 private:
  struct Rule {
    Dim dim;
    double cpu;
    double memory;
    std::string message;
  };
  const Rule* broken_rule(std::uint32_t n) const {
    const auto left = [&](Dim d) { return static_cast<double>(nodes_.idle(d)[n] - shape_.request.get(d)); };
    for (const Rule& rule : rules_) {
      if (!nodes_[NodeId{n}].allocatable.has(rule.dim)) continue;
      // If all are in use, the pod still has to fit into what is idle: it cannot wait for others to end.
      const auto devices = static_cast<double>(nodes_.idle(rule.dim)[n]);
      if (left(kCpu) < devices * rule.cpu || left(kMemory) < devices * rule.memory * 1e6) return &rule;
    }
    return nullptr;
  }

  const NodeTable& nodes_;
  const Shape& shape_;
  std::vector<Rule> rules_;
};

bool is_most(std::string_view type) { return type == "MostAllocated"; }
bool is_type(std::string_view type) { return type == "MostAllocated" || type == "LeastAllocated"; }

class ResourceStrategyFit final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    const Arguments& arguments = setup.arguments();
    Model& model = setup.model();
    weight_ = static_cast<double>(arguments.get_int_from("resourceStrategyFitWeight", 0, kDefaultWeight));
    read_resources(arguments);
    read_scarce(arguments.get_map("sra"));
    read_proportional(arguments.get_map("proportional"));
    setup.on<ClassKey>([&model](const Task& task) { return model.details.preference_id(task.id); });
    setup.on<NodeOrder>([this, &model](const Task& task) { return scorer_for(model, task); });
    if (scarce_.total > 0) {
      setup.on<NodeOrder>([this, &model](const Task& task) -> std::unique_ptr<NodeScorer> {
        return std::make_unique<ScarceScorer>(model, scarce_, model.shape_of(task));
      });
    }
    if (!kept_free_.empty()) {
      setup.on<Predicate>([this, &model](const Task& task) -> std::unique_ptr<NodeFilter> {
        const Shape& shape = model.shape_of(task);
        for (const KeptFree& rule : kept_free_) {
          if (shape.request.get(model.dimensions.intern(rule.resource)) > 0) return nullptr;
        }
        return std::make_unique<ProportionFilter>(model, kept_free_, shape);
      });
    }
  }

 private:
  static constexpr std::int64_t kDefaultWeight = 10;

  void read_resources(const Arguments& arguments) {
    const Arguments map = arguments.get_map("resources");
    for (const std::string& name : map.keys_after("")) {
      const Arguments one = map.get_map(name);
      const std::string type = one.get_string("type", "LeastAllocated");
      const std::int64_t weight = one.get_int_from("weight", 1, 1);
      if (!is_type(type))
        arguments.warn(base::format(
            "resources.{}.type: {} is neither LeastAllocated nor MostAllocated; the former is used", name, type));
      strategies_.set(name, {is_most(type), weight});
    }
    if (!strategies_.empty()) return;
    strategies_.set("cpu", {});
    strategies_.set("memory", {});
  }

  void read_scarce(const Arguments& sra) {
    const bool on = sra.get_bool("enable", false);
    const std::vector<std::string> names = sra.get_names("resources");
    const std::int64_t weight = sra.get_int_from("weight", 0, kDefaultWeight);
    const Arguments weights = sra.get_map("resourceWeight");
    for (const std::string& name : names) {
      const auto one = static_cast<double>(weights.get_int_from(name, 0, 1));
      if (!on || !scarce_.weights.emplace(name, one).second) continue;
      scarce_.total += one;
    }
    scarce_.weight = static_cast<double>(weight);
  }

  void read_proportional(const Arguments& proportional) {
    const bool on = proportional.get_bool("enable", false);
    const std::vector<std::string> names = proportional.get_names("resources");
    const Arguments amounts = proportional.get_map("resourceProportion");
    for (const std::string& name : names) {
      const KeptFree rule{name, amounts.get_double(name + ".cpu", 1), amounts.get_double(name + ".memory", 1)};
      if (on) kept_free_.push_back(rule);
    }
  }

  // The pod's own wish replaces the configuration; a type without usable weights scores nothing.
  std::unique_ptr<NodeScorer> scorer_for(const Model& model, const Task& task) {
    const std::uint32_t id = model.details.preference_id(task.id);
    const Strategies* strategies = &strategies_;
    if (id != 0 && !model.details.preference(id).type.empty()) {
      auto [slot, added] = preferences_.try_emplace(id);
      if (added) slot->second = strategies_from(model.details.preference(id));
      strategies = &slot->second;
    }
    auto scorer = std::make_unique<StrategyScorer>(model, *strategies, weight_, model.shape_of(task));
    if (!scorer->matters()) return nullptr;
    return scorer;
  }

  static Strategies strategies_from(const ScoringPreference& preference) {
    Strategies out;
    const auto weights = api::parse_json(preference.weights);
    if (!is_type(preference.type) || !weights.ok()) return out;
    for (const auto& member : weights->members()) {
      if (member.value.is_int() && member.value.as_int() > 0)
        out.set(std::string(member.name()), {is_most(preference.type), member.value.as_int()});
    }
    return out;
  }

  double weight_ = kDefaultWeight;
  Strategies strategies_;
  Scarce scarce_;
  std::vector<KeptFree> kept_free_;
  std::map<std::uint32_t, Strategies> preferences_;  // of pods, by number; few differ
};

}  // namespace

std::unique_ptr<Plugin> make_resource_strategy_fit() { return std::make_unique<ResourceStrategyFit>(); }

}  // namespace scheduler

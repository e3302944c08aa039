// Which nodes does each scheduler get?
#include "controllers/sharding/policies.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace controllers::sharding {
namespace {

using Nodes = std::vector<const NodeFacts*>;

// Two digits, so that a pod of a few thousandths of a core moves no node.
double rounded(double utilization) { return std::round(utilization * 100) / 100; }

bool accepts_rate(const Policy& policy, const NodeFacts& node) {
  if (!node.cpu) return false;
  const double used = rounded(*node.cpu);
  return used >= policy.utilization_min && used <= policy.utilization_max;
}

double score_rate(const Policy& policy, const NodeFacts& node) {
  const double range = policy.utilization_max - policy.utilization_min;
  if (range <= 0) return 1;
  return std::clamp((rounded(node.cpu.value_or(0)) - policy.utilization_min) / range, 0.0, 1.0);
}

double score_warmup(const Policy& policy, const NodeFacts& node) {
  const auto found = node.labels.find(policy.label);
  return found != node.labels.end() && found->second == policy.label_value ? 1 : 0;
}

void select_limit(const Policy& policy, Nodes& nodes) {
  if (policy.nodes_max > 0 && nodes.size() > static_cast<std::size_t>(policy.nodes_max))
    nodes.resize(static_cast<std::size_t>(policy.nodes_max));
}

// The parts that a policy has; null: not in that.
struct Kind {
  std::string_view name;
  bool (*accepts)(const Policy&, const NodeFacts&);
  double (*score)(const Policy&, const NodeFacts&);
  void (*select)(const Policy&, Nodes&);
};
constexpr Kind kKinds[] = {
    {"allocation-rate", accepts_rate, score_rate, nullptr},
    {"warmup", nullptr, score_warmup, nullptr},
    {"node-limit", nullptr, nullptr, select_limit},
};

const Kind* find_kind(const Policy& policy) {
  for (const Kind& kind : kKinds) {
    if (kind.name == policy.name) return &kind;
  }
  return nullptr;  // parse_config() refuses others
}

template <class Visit>
void for_each_kind(const SchedulerShare& share, Visit&& visit) {
  for (const Policy& policy : share.policies) {
    if (const Kind* kind = find_kind(policy)) visit(*kind, policy);
  }
}

double total_score(const SchedulerShare& share, const NodeFacts& node) {
  double total = 0;
  for_each_kind(share, [&](const Kind& kind, const Policy& policy) {
    if (kind.score != nullptr) total += policy.weight * kind.score(policy, node);
  });
  return total;
}

void sort_by_score(const SchedulerShare& share, Nodes& nodes) {
  std::vector<std::pair<double, const NodeFacts*>> scored;
  for (const NodeFacts* node : nodes) scored.emplace_back(total_score(share, *node), node);
  std::stable_sort(scored.begin(), scored.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = scored[i].second;
}

Assignment assign_one(const SchedulerShare& share, Nodes nodes) {
  for_each_kind(share, [&](const Kind& kind, const Policy& policy) {
    if (kind.accepts != nullptr)
      std::erase_if(nodes, [&](const NodeFacts* node) { return !kind.accepts(policy, *node); });
  });
  sort_by_score(share, nodes);
  Assignment out{.scheduler = share.name, .nodes = {}};
  for_each_kind(share, [&](const Kind& kind, const Policy& policy) {
    if (kind.select != nullptr) kind.select(policy, nodes);
    out.nodes_wanted = std::max(out.nodes_wanted, static_cast<std::size_t>(policy.nodes_min));
  });
  for (const NodeFacts* node : nodes) out.nodes.push_back(node->name);
  std::sort(out.nodes.begin(), out.nodes.end());
  return out;
}

}  // namespace

std::vector<Assignment> assign(const Config& config, const std::vector<NodeFacts>& nodes) {
  std::vector<Assignment> out;
  std::set<std::string, std::less<>> taken;
  for (const SchedulerShare& share : config.schedulers) {
    Nodes left;
    for (const NodeFacts& node : nodes) {
      if (!taken.contains(node.name)) left.push_back(&node);
    }
    out.push_back(assign_one(share, std::move(left)));
    taken.insert(out.back().nodes.begin(), out.back().nodes.end());
  }
  return out;
}

}  // namespace controllers::sharding

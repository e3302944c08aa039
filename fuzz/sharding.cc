// Configurations that share nodes out: whatever is accepted shares the nodes out within its own limits, and none twice.
#include <set>

#include "controllers/sharding/policies.h"
#include "targets.h"

namespace fuzz {

void sharding(std::string_view input) {
  namespace shards = controllers::sharding;
  (void)shards::parse_scheduler_flags({std::string(input)});
  const auto config = shards::parse_config(input, shards::Config());
  if (!config.ok()) return promise(!config.error().message.empty(), "an error says something");
  promise(!config->schedulers.empty() && config->sync_period.ns > 0, "what is accepted makes sense");
  std::vector<shards::NodeFacts> nodes;
  for (int i = 0; i < 70; ++i)
    nodes.push_back({.name = std::to_string(1000 + i),
                     .labels = {},
                     .cpu = i % 7 == 0 ? std::nullopt : std::optional(i / 70.0),
                     .memory = {}});
  const auto assigned = shards::assign(*config, nodes);
  promise(assigned.size() == config->schedulers.size(), "every scheduler is answered");
  std::set<std::string> taken;
  for (std::size_t i = 0; i < assigned.size(); ++i) {
    for (const std::string& node : assigned[i].nodes)
      promise(taken.insert(node).second, "no node is given twice", node);
    for (const shards::Policy& policy : config->schedulers[i].policies) {
      const auto most = static_cast<std::size_t>(policy.nodes_max);
      promise(policy.nodes_max == 0 || assigned[i].nodes.size() <= most, "a limit is a limit");
    }
  }
}

}  // namespace fuzz

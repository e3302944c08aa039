// The configuration that gives nodes to schedulers: the ConfigMap `sharding.yaml`, and the flags before it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace controllers::sharding {

// A policy's treatment of the nodes that nobody has yet; rows in policies.cc.
struct Policy {
  std::string name;
  double weight = 1;  // of its score
  // allocation-rate: the node's share of requested CPU, 0 to 1.
  double utilization_min = 0, utilization_max = 1;
  // warmup
  std::string label = "node.volcano.sh/warmup", label_value = "true";
  // node-limit; a maximum of 0: no limit.
  std::int64_t nodes_min = 0, nodes_max = 0;
  bool operator==(const Policy&) const = default;
};

struct SchedulerShare {
  std::string name;  // of the scheduler, and of its NodeShard
  std::string type;  // for people
  std::vector<Policy> policies;
  bool operator==(const SchedulerShare&) const = default;
};

struct Config {
  std::vector<SchedulerShare> schedulers;  // those before others choose before them
  base::Duration sync_period = base::minutes(1);
  bool follows_nodes = true;  // changes of nodes and pods count at once, not only at the next sync
  bool operator==(const Config&) const = default;
};

inline constexpr std::string_view kConfigKey = "sharding.yaml";

// Reads the text in the ConfigMap; what it does not say is as in `defaults`. Errors name the field and its value.
base::Result<Config> parse_config(std::string_view text, const Config& defaults);

// Of --scheduler-configs: name:type:minUtil:maxUtil:preferWarmup:minNodes:maxNodes each.
base::Result<std::vector<SchedulerShare>> parse_scheduler_flags(const std::vector<std::string>& entries);
const std::vector<std::string>& default_scheduler_flags();

// A period that is not above zero is two minutes.
base::Duration sound_period(base::Duration period);

}  // namespace controllers::sharding

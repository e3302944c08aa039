// Which part of a cluster does a scheduler read, and how?
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scheduler/cache/scheduler_share.h"
#include "scheduler/model/model.h"

namespace scheduler {

struct IntakeOptions {
  std::vector<std::string> scheduler_names = {"volcano"};
  std::string default_queue = "default";
  std::vector<std::pair<std::string, std::string>> node_selector;  // any may match; empty: every node
  bool priority_classes = true;
  FeatureGates gates;
  ShardingMode sharding_mode = ShardingMode::kNone;
  std::string sharding_name = "volcano";
  bool claims_nodes = false;  // of hard shards, before they are used: see NodeShards::claims_first
  SchedulerShare share;
  bool csi_storage = true;  // read CSIDriver and CSIStorageCapacity
  // Each pod stands for itself: there are no groups and queues, and who decides pods one by one is told of each.
  bool single_pods = false;
};

}  // namespace scheduler

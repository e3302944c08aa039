// The scheduler's flags, as the intake and the search for nodes read them.
#pragma once

#include "scheduler/cache/intake.h"
#include "scheduler/options.h"
#include "scheduler/search/node_sampling.h"

namespace scheduler {

// An unknown sharding mode counts as none; programs refuse it before.
inline IntakeOptions intake_options(const Options& options) {
  IntakeOptions out;
  out.scheduler_names = options.names();
  out.default_queue = options.default_queue;
  out.node_selector = options.node_labels();
  const auto gates = FeatureGates::parse(options.feature_gates);
  if (gates.ok()) out.gates = *gates;
  out.priority_classes = options.priority_class && out.gates.on("PriorityClass");
  if (options.sharding_mode == "hard") out.sharding_mode = ShardingMode::kHard;
  if (options.sharding_mode == "soft") out.sharding_mode = ShardingMode::kSoft;
  out.sharding_name = options.sharding_name;
  out.claims_nodes = options.claims_nodes;
  out.csi_storage = options.csi_storage;
  out.single_pods = options.single_pods;
  out.share = SchedulerShare(options.share_pod_name, options.share_members);
  return out;
}

inline SamplingOptions sampling_options(const Options& options) {
  return {options.sampling_asked, options.minimum_feasible_nodes, options.minimum_percentage_nodes,
          options.percentage_nodes};
}

}  // namespace scheduler

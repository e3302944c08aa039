// The input of one scheduling cycle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "scheduler/framework/config.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/model/model.h"
#include "scheduler/search/node_search.h"
#include "scheduler/session/lapsed_reserves.h"
#include "scheduler/session/queue_devices.h"

namespace scheduler {

class Ledger;

struct SessionInput {
  Model& model;
  Ledger& ledger;
  const Config& config;
  PluginSet& plugins;
  NodeSearch& search;
  QueueDevices& queue_devices;
  LapsedReserves& lapsed_reserves;
  base::Time now;
  std::string uid;
  std::uint64_t cycle = 0;
  const std::vector<JobId>& changed_jobs;  // since the previous session was opened, that one's own changes included
  bool keeps_reasons = true;               // WaitReasons of those that wait
  bool all_jobs_changed = false;           // plugins are new: everything counts as changed
  bool queues_changed = false;             // what queues say differs from the previous session
  bool nodes_changed = false;              // what nodes say does
  std::string scheduler_name;
  // A group that lacks pods is told so when none came or went for so long: before, it still arrives.
  base::Duration arrival_grace{};
  bool proves_rollbacks = false;  // for tests
  // The turn of pods that are decided one by one: whose turn it is, in this order. Empty where they come in groups.
  std::vector<TaskId> single_pods{};
};

// Waits now, but a discarded statement of this session had a place for it.
inline bool was_placed_and_discarded(const Task& task, std::uint64_t cycle) {
  return task.status == TaskStatus::kPending && task.last_cycle == cycle && is_allocated_like(task.last_status);
}

}  // namespace scheduler

// How many devices may the claims of a queue's pods hold? Part of the capacity plugin.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "scheduler/model/core/ids.h"
#include "scheduler/model/devices/claim_demand.h"

namespace scheduler {

class Model;
class PluginSetup;
class Session;

class DeviceQuota {
 public:
  void attach(PluginSetup& setup);
  void open(Session& session);

 private:
  // By jobs that were let in and hold nothing yet. Counted when a cycle asks first.
  DeviceDemands& admitted(QueueId queue);
  void count_admitted();

  Model* model_ = nullptr;
  Session* session_ = nullptr;
  bool enabled_ = true;     // capacity.DynamicResourceAllocationEnable
  bool capacities_ = true;  // capacity.DRAConsumableCapacityEnable
  bool hierarchical_ = false;
  bool is_counted_ = false;
  std::map<std::uint32_t, DeviceDemands> inqueue_;  // by queue, those above included
  std::set<JobId> lapsed_;
};

}  // namespace scheduler

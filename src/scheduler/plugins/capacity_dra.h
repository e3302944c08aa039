// How many devices may the claims of a queue's pods hold? Part of the capacity plugin.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "scheduler/model/ids.h"

namespace scheduler {

class Model;
class PluginSetup;
class Session;

class DeviceQuota {
 public:
  struct Demand {
    double count = 0;
    std::map<std::string, double, std::less<>> capacity;  // by dimension, in whole units
  };
  using Demands = std::map<std::string, Demand, std::less<>>;  // by device class

  void attach(PluginSetup& setup);
  void open(Session& session);

 private:
  Model* model_ = nullptr;
  Session* session_ = nullptr;
  bool enabled_ = true;     // capacity.DynamicResourceAllocationEnable
  bool capacities_ = true;  // capacity.DRAConsumableCapacityEnable
  bool hierarchical_ = false;
  std::map<std::uint32_t, Demands> inqueue_;  // by queue, those above included: of jobs admitted that hold nothing yet
};

}  // namespace scheduler

// The use of the machine between two looks at it. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "colocation/agent.h"
#include "colocation/machine/observe.h"
#include "colocation/node_view.h"
#include "colocation/policy/offer.h"
#include "colocation/policy/online_stalls.h"

namespace colocation {

// The use since the reading before.
struct Measured {
  base::Duration at;                           // the uptime of the look
  NodeAmounts pods;                            // of all pods
  NodeAmounts whole;                           // what pressure is judged by
  NodeAmounts online;                          // without what offline pods hold of the offer
  std::map<std::string, NodeAmounts> of_pod;   // by uid
  bool has_cpu = false, has_memory = false;    // whether there is a figure
  bool memory_stalls = false;                  // 150 ms of a second
  bool cpu_stalls = false, io_stalls = false;  // of any task of the machine, as long
  OnlineStalls online_stalls;
  std::int64_t memory_total = 0, memory_available = 0;  // of the machine

  std::int64_t io_bytes_of(const std::string& uid) const {
    const auto moved = online_stalls.io_bytes.find(uid);
    return moved == online_stalls.io_bytes.end() ? 0 : moved->second;
  }
  NodeAmounts of(const std::string& uid) const {
    const auto used = of_pod.find(uid);
    return used == of_pod.end() ? NodeAmounts() : used->second;
  }
};

struct Looks {
  const std::optional<MachineReading>& before;
  const MachineReading& now;
  base::Duration before_at, at;  // uptimes
};
Measured measure(const Looks& looks, const NodeView::Pods& pods, bool include_system_usage);

}  // namespace colocation

// For whom were pods evicted, and what was true then?
//
// A group whose evictions did not lead to its placement causes no further ones until something of this has changed.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "scheduler/model/core/uid.h"

namespace scheduler {

struct EvictionRound {
  struct Victim {
    std::string key;  // "ns/pod"
    Uid uid;
  };
  std::vector<Victim> victims;
  std::set<std::string> groups;    // of the victims
  std::vector<std::string> nodes;  // that were emptied
  Uid group_uid;                   // of the beneficiary
  base::Time at;
  bool had_its_turn = false;  // allocate has tried the group once with all victims gone
  std::int32_t ready = 0;     // so many of its pods have places once the round has served its purpose
  // Digests of the beneficiary with its pods and of the queues, and the generation of the nodes' facts.
  std::uint64_t group_digest = 0;
  std::uint64_t queues_digest = 0;
  std::uint64_t node_facts = 0;
};

}  // namespace scheduler

// For whom were pods evicted, and what was true then?
//
// A group whose evictions did not lead to its placement causes no further ones until something of this has changed.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "scheduler/model/core/text.h"
#include "scheduler/model/core/uid.h"

namespace scheduler {

struct EvictionRound {
  struct Victim {
    std::string key;  // "ns/pod"
    Uid uid;
    std::vector<std::string> claims;  // that it may hold for a moment longer
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
  // A round that an earlier scheduler began is read from the PodGroup: one digest of all that, and lists that may have
  // been too long to be written. 0: it began here.
  std::uint64_t state = 0;
  bool has_unknown_groups = false;
  bool has_unknown_nodes = false;
  Text text;  // of the PodGroup's annotation; empty: the round has not failed yet
};

inline constexpr std::string_view kEvictionRoundAnnotation = "volcano.sh/eviction-round";

// The annotation's text. `state`: the digest of the group, the queues and the nodes.
std::string text_of(const EvictionRound& round, std::uint64_t state);
// Unset: the text is none of ours.
std::optional<EvictionRound> eviction_round_from(std::string_view text);

}  // namespace scheduler

// When a node sheds offline pods, and which (agent.md 7). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "colocation/policy/config.h"
#include "colocation/policy/offer.h"
#include "colocation/policy/pod_facts.h"

namespace colocation {

// Disks have no amounts and no watermark: there are only stalls.
enum class NodeResource : std::uint8_t { kCpu, kMemory, kIo };
std::string_view resource_word(NodeResource resource);                      // "cpu", "memory", "io"
std::int64_t amount_of(const NodeAmounts& amounts, NodeResource resource);  // 0 of disks

struct Watermarks {
  std::int64_t cpu_high = 80, cpu_low = 30, memory_high = 60, memory_low = 30;

  std::int64_t high(NodeResource resource) const { return resource == NodeResource::kCpu ? cpu_high : memory_high; }
  std::int64_t low(NodeResource resource) const { return resource == NodeResource::kCpu ? cpu_low : memory_low; }
  bool operator==(const Watermarks&) const = default;
};
// The node's annotations, in place of the configuration; `problem` says what is wrong with them.
Watermarks watermarks_for(const Config& config, const api::Json& node, std::string* problem = nullptr);

// Percent of the allocatable amounts; -1: it cannot be said.
std::int64_t percent_used(std::int64_t used, std::int64_t allocatable);

// Looks in a row, ten seconds apart, in which a resource was used up to its high watermark.
class PressureCount {
 public:
  void look(NodeResource resource, std::int64_t percent, const Watermarks& marks);
  // About a minute of them; never of disks.
  bool is_pressed(NodeResource resource) const { return counts_[static_cast<std::size_t>(resource)] >= 6; }
  void reset() { counts_[0] = counts_[1] = 0; }

 private:
  int counts_[2] = {0, 0};
};

struct GangFacts {
  std::int64_t running = 0;
  std::int64_t min_member = 0;
};

// A pod that may go, with what it is seen to use.
struct Candidate {
  const PodFacts* pod = nullptr;
  NodeAmounts used;
  std::int64_t io_bytes = 0;  // read and written since the look before
};

// The pods that go together: one, or all members of a gang that loses its minimum with the first of them.
struct Victim {
  std::vector<const PodFacts*> pods;
  NodeAmounts frees;
};

struct EvictionInput {
  NodeResource resource = NodeResource::kMemory;
  std::vector<Candidate> candidates;       // offline pods; those that cannot go are left out here
  std::map<std::string, GangFacts> gangs;  // by "namespace/name"
  std::int64_t excess = 0;                 // what has to be free, in units of the resource
  std::int64_t releasing = 0;              // what pods hold that are on their way out
};
// In the order in which they go: those that break no gang, then by the effective request for the resource (of disks: by
// what they read and write), largest first, by the extended one, by priority, and by lost work, least first. Empty:
// enough is being released already.
std::vector<Victim> victims_in_order(const EvictionInput& input);

}  // namespace colocation

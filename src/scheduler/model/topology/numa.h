// How are the CPUs of each node laid out, and which of them are free? (Numatopology, nodeinfo.volcano.sh/v1alpha1)
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"

namespace scheduler {

using CpuSet = std::vector<std::int32_t>;  // ascending, each once

struct Cpu {
  std::int32_t id = 0, numa = 0, socket = 0, core = 0;
  bool operator==(const Cpu&) const = default;
};

struct NumaNode {
  std::string cpu_policy;       // CPUManagerPolicy
  std::string topology_policy;  // TopologyManagerPolicy
  std::vector<Cpu> cpus;        // by id
  CpuSet allocatable;
  bool has_sets = false;      // says which CPUs are allocatable
  std::int32_t reserved = 0;  // whole CPUs kept for the system
  bool operator==(const NumaNode&) const = default;
};

class NumaNodes {
 public:
  // True when it says something else than before.
  bool set(const api::Json& object);
  void remove(std::string_view node);
  const NumaNode* find(std::string_view node) const;
  bool empty() const { return nodes_.empty(); }

 private:
  std::map<std::string, NumaNode, std::less<>> nodes_;
};

// "0,2-4" as a set; what cannot be read is left out, and no range is longer than a machine could be.
CpuSet cpu_set_from(std::string_view text);
std::string to_text(const CpuSet& cpus);

}  // namespace scheduler

// The facts of a pod that co-location asks for. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/schema/quantity.h"
#include "base/time.h"
#include "colocation/files/group_tree.h"

namespace colocation {

// The names of the extended resources, which flags may change.
struct BatchNames {
  std::string cpu = "kubernetes.io/batch-cpu";
  std::string memory = "kubernetes.io/batch-memory";
};

// The amounts of one side; unset: the container does not name the resource.
struct Amounts {
  std::optional<std::int64_t> cpu_milli;
  std::optional<std::int64_t> memory_bytes;
};

struct ContainerFacts {
  std::string name;
  std::string id;                      // "containerd://...", empty before it has started
  Amounts request, limit;              // ordinary
  Amounts batch_request, batch_limit;  // extended
};

struct PodFacts {
  std::string ns, name, uid;
  QosClass qos = QosClass::kBestEffort;
  int level = 0;  // 2, 1, 0, -1 (agent.md 1.1)
  bool deleting = false;
  bool ended = false;  // succeeded or failed
  bool host_network = false;
  bool critical = false;  // static, mirror, or of a system priority
  std::int64_t priority = 0;
  base::Time started;    // unset before that
  std::string group;     // of its gang; empty: none
  std::string workload;  // "namespace/kind/name" of its controller, or of itself
  // The effective requests: containers with native sidecars, init containers, what is said for the pod as a whole, and
  // its overhead.
  std::int64_t cpu_milli = 0, memory_bytes = 0;
  std::int64_t batch_cpu_milli = 0, batch_memory_bytes = 0;
  std::vector<ContainerFacts> containers;  // the normal ones
  std::string burst, burst_time, config;   // annotations
  std::string bandwidth_limits;            // the annotations that keep network QoS away, named; empty: none

  bool is_offline() const { return level < 0; }
  bool uses_batch() const { return level <= 1; }
  std::string key() const { return ns + "/" + name; }
};

// COMPAT(colocation-qos-level): a number as text counts, too.
int qos_level(std::string_view text);

PodFacts pod_facts(const api::Json& pod, const BatchNames& names);

}  // namespace colocation

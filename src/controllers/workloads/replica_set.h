// ReplicaSets and ReplicationControllers: so many pods of one template.
#pragma once

#include <memory>

#include "controllers/framework/controller.h"

namespace controllers::workloads {

std::unique_ptr<Controller> make_replica_set_controller();
std::unique_ptr<Controller> make_replication_controller();

// The order in which pods are given up: true if `a` goes before `b`. `together` says how many pods of related sets run
// on the node of each.
struct Candidate {
  const api::Json* pod;
  std::size_t together = 0;
};
bool goes_before(const Candidate& a, const Candidate& b, base::Time now);

}  // namespace controllers::workloads

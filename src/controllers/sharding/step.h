// The writes after which each scheduler's NodeShard holds the nodes assigned to it.
#pragma once

#include <vector>

#include "api/json/json.h"
#include "controllers/framework/plan.h"
#include "controllers/sharding/policies.h"

namespace controllers::sharding {

// The facts of a node and its load, by the pods with its name in `spec.nodeName`.
NodeFacts facts_of(const api::Json& node, const std::vector<const api::Json*>& pods);

struct Seen {
  std::vector<Assignment> assigned;
  std::vector<const api::Json*> shards;  // every NodeShard
  std::vector<std::string> nodes;        // names of those that exist, in order
};

// Small changes wait for one that counts, so that nodes do not wander with every pod; then all are written, and no two
// shards hold one node for longer than the writes take. COMPAT(sharding-writes)
Plan step(const Seen& seen, base::Time now);

}  // namespace controllers::sharding

// Which requests say what a plan decided?
#pragma once

#include <string_view>

#include "base/time.h"
#include "client/client.h"
#include "scheduler/session/plan.h"

namespace scheduler {

// As much of an object as an event needs.
api::Json object_head(std::string_view api_version, std::string_view kind, std::string_view ns, std::string_view name,
                      std::string_view uid);

client::Request node_lock_request(const PlannedBind& plan, base::Time now);
client::Request binding_request(const PlannedBind& plan);
client::Request pod_condition_request(const PlannedPodCondition& plan, base::Time now);
client::Request eviction_condition_request(const PlannedEviction& plan, std::string_view scheduler_name,
                                           base::Time now);
client::Request deletion_request(const PlannedEviction& plan);
client::Request gate_removal_request(const PlannedGateRemoval& plan);
client::Request node_shard_status_request(const PlannedShardStatus& plan);
client::Request group_status_request(const PlannedGroupStatus& plan);
client::Request queue_status_request(const PlannedQueueStatus& plan);
client::Request numatopology_deletion_request(std::string_view name, std::string_view uid);
client::Request queue_creation_request(std::string_view name, bool reclaimable);
// The state of an object after a write, as much of it as the model reads.
client::Request lookup_request(const api::ResourceId& resource, std::string_view ns, std::string_view name);

}  // namespace scheduler

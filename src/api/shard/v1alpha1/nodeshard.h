// A NodeShard is the set of nodes that one scheduler may use.
#pragma once

#include "api/meta/object.h"

namespace api {

struct NodeShardSpec {
  std::vector<std::string> nodes_desired;

  static constexpr std::string_view kSchemaName = "sh.volcano.shard.v1alpha1.NodeShardSpec";
  static constexpr auto fields() {
    return rows(field<&NodeShardSpec::nodes_desired>("nodesDesired", {.required = true, .keep_empty = true},
                                                     "Nodes given to the scheduler of this name."));
  }
};

struct NodeShardStatus {
  base::Time last_update_time;
  std::vector<std::string> nodes_in_use;
  std::vector<std::string> nodes_to_remove;
  std::vector<std::string> nodes_to_add;

  static constexpr std::string_view kSchemaName = "sh.volcano.shard.v1alpha1.NodeShardStatus";
  static constexpr auto fields() {
    using N = NodeShardStatus;
    return rows(field<&N::last_update_time>("lastUpdateTime", "When it was written last."),
                field<&N::nodes_in_use>("nodesInUse", "Nodes that the scheduler uses."),
                field<&N::nodes_to_remove>("nodesToRemove", "Nodes that it uses and should leave."),
                field<&N::nodes_to_add>("nodesToAdd", "Nodes that it should use and does not yet."));
  }
};

struct NodeShard {
  ObjectMeta metadata;
  NodeShardSpec spec;
  NodeShardStatus status;

  static constexpr std::string_view kSchemaName = "sh.volcano.shard.v1alpha1.NodeShard";
  static constexpr auto fields() {
    using N = NodeShard;
    return rows(field<&N::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&N::spec>("spec", {.required = true, .keep_empty = true}, "What the scheduler is given."),
                field<&N::status>("status", "What it uses."));
  }
};

}  // namespace api

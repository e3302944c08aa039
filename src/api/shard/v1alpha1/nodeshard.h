// A NodeShard is the set of nodes that one scheduler may use.
#pragma once

#include "api/meta/owner_reference.h"

namespace api {

struct NodeShardSpec {
  static constexpr std::string_view kSchemaName = "sh.volcano.shard.v1alpha1.NodeShardSpec";
  static constexpr auto fields() {
    return rows(field<List<Text>>("nodesDesired", {.required = true}, "Nodes given to the scheduler of this name."));
  }
};

struct NodeShardStatus {
  static constexpr std::string_view kSchemaName = "sh.volcano.shard.v1alpha1.NodeShardStatus";
  static constexpr auto fields() {
    return rows(field<base::Time>("lastUpdateTime", "When it was written last."),
                field<List<Text>>("nodesInUse", "Nodes that the scheduler uses."),
                field<List<Text>>("nodesToRemove", "Nodes that it uses and should leave."),
                field<List<Text>>("nodesToAdd", "Nodes that it should use and does not yet."));
  }
};

struct NodeShard {
  static constexpr std::string_view kSchemaName = "sh.volcano.shard.v1alpha1.NodeShard";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<NodeShardSpec>("spec", {.required = true}, "What the scheduler is given."),
                field<NodeShardStatus>("status", "What it uses."));
  }
};

}  // namespace api

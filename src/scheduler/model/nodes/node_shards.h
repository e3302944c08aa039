// Which nodes are this scheduler's, where several schedulers share a cluster by NodeShards?
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace scheduler {

enum class ShardingMode : std::uint8_t {
  kNone,  // shards are not looked at
  kHard,  // nodes of others do not fit
  kSoft,  // own nodes first
};

struct NodeShard {
  std::set<std::string> desired;  // spec.nodesDesired
  std::set<std::string> in_use;   // status.nodesInUse
  std::set<std::string> to_add;   // status.nodesToAdd
  std::set<std::string> to_remove;
  bool operator==(const NodeShard&) const = default;
};

class NodeShards {
 public:
  ShardingMode mode = ShardingMode::kNone;
  std::string own_name = "volcano";

  void set(std::string_view name, NodeShard shard);
  void remove(std::string_view name);
  // Own desired nodes that no other scheduler uses; the previous set while the own shard does not exist.
  const std::set<std::string>& usable() const { return usable_; }
  // What the own shard's status should say; nothing to say where the shard does not exist.
  const NodeShard* own() const;
  const std::map<std::string, NodeShard, std::less<>>& all() const { return shards_; }
  std::uint64_t generation() const { return generation_; }  // grows when usable() changes

 private:
  void refresh();

  std::map<std::string, NodeShard, std::less<>> shards_;
  std::set<std::string> usable_;
  std::uint64_t generation_ = 1;
};

}  // namespace scheduler

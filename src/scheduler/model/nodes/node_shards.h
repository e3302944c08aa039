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
  // COMPAT(shard-claims): a node is used only once the watch has shown this scheduler's claim on it, so that every
  // scheduler that claims it later has seen that before. Without it what is wanted is used at once.
  bool claims_first = false;

  // As the watch shows them.
  void set(std::string_view name, NodeShard shard, std::string_view version = {});
  void remove(std::string_view name);

  // Own desired nodes that no other scheduler uses, and that are not claimed later than by this one: the status should
  // say that they are in use. The previous set while the own shard does not exist.
  const std::set<std::string>& wanted() const { return wanted_; }
  // The nodes where pods may be placed: of those wanted, the ones that are claimed.
  const std::set<std::string>& usable() const { return usable_; }
  // Null where it does not exist.
  const NodeShard* own() const;
  const std::string& own_version() const { return own_version_; }
  const std::map<std::string, NodeShard, std::less<>>& all() const { return shards_; }
  std::uint64_t generation() const { return generation_; }  // grows when usable() or wanted() changes

  // --- claims ---
  // The status is going to say that these are in use: no others are claimed from now on.
  void record(NodeShard shard);
  // The watch shows this status, and no write of ours is later: these are claimed.
  void confirm(const std::set<std::string>& in_use);
  // The watch shows this status, and a write of ours may be later: no others are claimed.
  void limit_claims(const std::set<std::string>& in_use);

 private:
  void refresh();

  std::map<std::string, NodeShard, std::less<>> shards_;
  std::string own_version_;
  std::set<std::string> wanted_, usable_;
  std::set<std::string> confirmed_;  // the own status has said so since, without a break
  std::set<std::string> held_;       // of them, those that no other scheduler claimed before
  std::uint64_t generation_ = 1;
};

}  // namespace scheduler

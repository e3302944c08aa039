// With hard shards no scheduler ever places a pod on a node that another one uses.
//
// The scheduler that claimed a node first (by writing it into `status.nodesInUse` of its NodeShard), and has done so
// since, uses it. A scheduler that binds a pod must hold the first claim on the node.
#include <map>
#include <set>

#include "base/format.h"
#include "sim/checks/all.h"
#include "sim/world/world.h"

namespace sim {

using api::Json;

namespace {

class ShardsAreApart final : public Check {
 public:
  explicit ShardsAreApart(World& world) : world_(world) {}

  void begin() override {
    world_.truth().on_change([this](const api::ResourceId& resource, const Json* before, const Json* after) {
      if (resource == api::resources::kNodeShards) follow(before, after);
      if (resource == api::resources::kPods && after != nullptr) look_at(before, *after);
    });
  }

  // A world in which nobody shares anything shows nothing.
  void finish() override {
    if (binders_.size() < 2) violation(base::format("{} schedulers bound pods, and not two", binders_.size()));
    if (moves_ == 0) violation("no node ever went from one scheduler to another");
  }

 private:
  void violation(const std::string& what) { world_.chronicle().violation("shards-are-apart", what); }

  void follow(const Json* before, const Json* after) {
    const std::string name(api::name_of(after != nullptr ? *after : *before));
    std::map<std::string, std::uint64_t>& claims = claims_[name];
    std::map<std::string, std::uint64_t> now;
    if (after == nullptr) return void(claims_.erase(name));
    for (const Json& node : (*after)["status"]["nodesInUse"].items()) {
      const auto known = claims.find(node.str());
      now[node.str()] = known != claims.end() ? known->second : ++last_claim_;
      const auto [holder, fresh] = last_holder_.try_emplace(node.str(), name);
      if (!fresh && holder->second != name) ++moves_;
      holder->second = name;
    }
    claims = std::move(now);
  }

  void look_at(const Json* before, const Json& after) {
    const std::string node = after["spec"]["nodeName"].str(), scheduler = after["spec"]["schedulerName"].str();
    if (node.empty() || scheduler.empty() || (before != nullptr && !(*before)["spec"]["nodeName"].as_string().empty()))
      return;
    binders_.insert(scheduler);
    const auto own = claims_.find(scheduler);
    if (own == claims_.end()) return;  // it has no shard, and keeps to the nodes that it had
    const auto mine = own->second.find(node);
    if (mine == own->second.end())
      return violation(base::format("{} bound {} to {}, which it does not claim", scheduler, api::key_of(after), node));
    for (const auto& [other, claims] : claims_) {
      const auto theirs = claims.find(node);
      if (other != scheduler && theirs != claims.end() && theirs->second < mine->second)
        violation(base::format("{} bound {} to {}, which {} uses", scheduler, api::key_of(after), node, other));
    }
  }

  World& world_;
  std::map<std::string, std::map<std::string, std::uint64_t>> claims_;  // by shard and node: who came when
  std::map<std::string, std::string> last_holder_;                      // by node
  std::set<std::string> binders_;
  std::uint64_t last_claim_ = 0, moves_ = 0;
};

}  // namespace

std::unique_ptr<Check> make_shards_are_apart(World& world, Settings&, base::Random&) {
  return std::make_unique<ShardsAreApart>(world);
}

}  // namespace sim

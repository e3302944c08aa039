// API objects in, the model kept current: node shards.
#include "scheduler/cache/intake_shard.h"

#include <set>
#include <utility>

#include "api/meta/resource.h"

namespace scheduler {
namespace {

std::set<std::string> names_from(const api::Json& list) {
  std::set<std::string> out;
  for (const api::Json& item : list.items()) {
    if (item.is_string()) out.insert(item.str());
  }
  return out;
}

}  // namespace

bool ShardIntake::set(const api::Json& object) {
  const std::uint64_t before = model_.shards.generation();
  const api::Json& status = object["status"];
  NodeShard shard{names_from(object["spec"]["nodesDesired"]), names_from(status["nodesInUse"]),
                  names_from(status["nodesToAdd"]), names_from(status["nodesToRemove"])};
  const std::string_view name = api::name_of(object);
  const bool is_own = name == options_.sharding_name;
  if (is_own) observed_ = shard;
  const bool counts = is_own && ledger_.observe(shard, name, api::resource_version_of(object));
  model_.shards.set(name, std::move(shard), api::resource_version_of(object));
  if (is_own) counts ? model_.shards.confirm(observed_->in_use) : model_.shards.limit_claims(observed_->in_use);
  return model_.shards.generation() != before || is_own;
}

bool ShardIntake::remove(const api::Json& object) {
  const std::uint64_t before = model_.shards.generation();
  const bool is_own = api::name_of(object) == options_.sharding_name;
  if (is_own) {
    observed_.reset();
    ledger_.flights.forget(Entry::kShard, api::name_of(object));
  }
  model_.shards.remove(api::name_of(object));
  return model_.shards.generation() != before || is_own;
}

void ShardIntake::write_ended() {
  const NodeShard* own = model_.shards.own();
  if (own == nullptr || !observed_) return;
  if (ledger_.observe(*observed_, model_.shards.own_name, model_.shards.own_version()))
    model_.shards.confirm(observed_->in_use);
}

}  // namespace scheduler

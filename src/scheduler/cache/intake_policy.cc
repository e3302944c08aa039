// API objects in, the model kept current: disruption budgets, quotas and node shards.
#include <algorithm>

#include "scheduler/cache/intake.h"

namespace scheduler {
namespace {

DisruptionBudget budget_from(const api::Json& object, Symbols& symbols) {
  DisruptionBudget out;
  out.ns = symbols.intern(api::namespace_of(object));
  out.selector = label_selector_from(object["spec"]["selector"], symbols);
  out.allowed = std::clamp<std::int64_t>(object["status"]["disruptionsAllowed"].as_int(), 0, 1 << 30);
  for (const auto& member : object["status"]["disruptedPods"].members()) out.disrupted.emplace(member.name());
  return out;
}

std::set<std::string> names_from(const api::Json& list) {
  std::set<std::string> out;
  for (const api::Json& item : list.items()) {
    if (item.is_string()) out.insert(item.str());
  }
  return out;
}

}  // namespace

std::vector<api::ResourceId> Intake::watched() const {
  std::vector<api::ResourceId> out;
  for (const api::ResourceId& id : resources())
    if (is_switched_on(id) && (!options_.single_pods || !concerns_groups(id))) out.push_back(id);
  if (!options_.single_pods) out.push_back(api::resources::kResourceQuotas);
  if (!options_.single_pods && model_.gates.on("PodDisruptionBudgetsSupport"))
    out.push_back(api::resources::kPodDisruptionBudgets);
  if (options_.sharding_mode != ShardingMode::kNone) out.push_back(api::resources::kNodeShards);
  return out;
}

// True when a decision could differ. False also for resources that are read elsewhere.
bool Intake::set_policy(const api::ResourceId& id, const api::Json& object, bool exists) {
  const std::string key = api::key_of(object);
  if (id == api::resources::kPodDisruptionBudgets) {
    if (!model_.gates.on("PodDisruptionBudgetsSupport")) return false;
    if (!exists) return model_.budgets.erase(key) > 0;
    DisruptionBudget fresh = budget_from(object, model_.symbols);
    const auto [slot, added] = model_.budgets.try_emplace(key);
    if (!added && slot->second == fresh) return false;
    slot->second = std::move(fresh);
    return true;
  }
  if (id == api::resources::kResourceQuotas) {
    auto& quotas = model_.quotas[std::string(api::namespace_of(object))];
    if (!exists) return quotas.erase(std::string(api::name_of(object))) > 0;
    Quota fresh{api::resource_list_from(object["status"]["hard"]), api::resource_list_from(object["status"]["used"])};
    const auto [slot, added] = quotas.try_emplace(std::string(api::name_of(object)));
    if (!added && slot->second == fresh) return false;
    slot->second = std::move(fresh);
    return true;
  }
  if (id == api::resources::kNodeShards && options_.sharding_mode != ShardingMode::kNone) {
    const std::uint64_t before = model_.shards.generation();
    if (exists) {
      const api::Json& status = object["status"];
      NodeShard shard{names_from(object["spec"]["nodesDesired"]), names_from(status["nodesInUse"]),
                      names_from(status["nodesToAdd"]), names_from(status["nodesToRemove"])};
      const std::string_view name = api::name_of(object);
      const bool is_own = name == options_.sharding_name;
      if (is_own) heard_shard_ = shard;
      const bool counts = is_own && ledger_.hear(shard, name, api::resource_version_of(object));
      model_.shards.set(name, std::move(shard), api::resource_version_of(object));
      if (is_own)
        counts ? model_.shards.confirm(heard_shard_->in_use) : model_.shards.limit_claims(heard_shard_->in_use);
    } else {
      if (api::name_of(object) == options_.sharding_name) {
        heard_shard_.reset();
        ledger_.flights.forget(Entry::kShard, api::name_of(object));
      }
      model_.shards.remove(api::name_of(object));
    }
    return model_.shards.generation() != before || api::name_of(object) == options_.sharding_name;
  }
  return false;
}

void Intake::shard_write_ended() {
  const NodeShard* own = model_.shards.own();
  if (own == nullptr || !heard_shard_) return;
  if (ledger_.hear(*heard_shard_, model_.shards.own_name, model_.shards.own_version()))
    model_.shards.confirm(heard_shard_->in_use);
}

}  // namespace scheduler

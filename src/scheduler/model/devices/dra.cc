// Which devices exist for resource claims, and who has them?
#include "scheduler/model/devices/dra.h"

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_set>

#include "api/cel/expression.h"
#include "base/format.h"

namespace scheduler {
namespace {

using api::Json;

// A place in the list of opaque configurations of a result.
void add_configs(const Json& list, std::string_view source, const std::vector<std::string>& requests,
                 std::vector<Json>& out) {
  for (const Json& item : list.items()) {
    Json one = Json::object({{"source", source}});
    std::vector<Json> names;
    if (source == "FromClass") {
      for (const std::string& name : requests) names.emplace_back(name);
    } else {
      names.assign(item["requests"].items().begin(), item["requests"].items().end());
    }
    if (!names.empty()) one.set("requests", Json::array(std::move(names)));
    one.set("opaque", item["opaque"]);
    out.push_back(std::move(one));
  }
}

}  // namespace

const ResourceClaim* ResourceClaims::find_claim(std::string_view key) const {
  auto found = claims_.find(key);
  return found == claims_.end() ? nullptr : &found->second;
}

const DeviceClass* ResourceClaims::find_class(std::string_view name) const {
  auto found = classes_.find(name);
  return found == classes_.end() ? nullptr : &found->second;
}

const Allocation* ResourceClaims::allocation_of(const ResourceClaim& claim) const {
  if (claim.allocation) return &*claim.allocation;
  auto promised = promises_.find(claim.key);
  return promised == promises_.end() ? nullptr : &promised->second.allocation;
}

const Quantities* ResourceClaims::consumed(const DeviceName& device) const {
  auto found = shared_.find(device);
  return found == shared_.end() ? nullptr : &found->second.first;
}

const std::map<std::string, Quantities, std::less<>>* ResourceClaims::counters_of(const DeviceName& device) const {
  auto found = pool_counters_.find({device.driver, device.pool});
  return found == pool_counters_.end() ? nullptr : &found->second;
}

// Another scheduler may have given the same device to another claim in the same moment.
void ResourceClaims::count_taken(const DeviceName& device, bool add) {
  if (add) {
    if (!taken_.insert(device).second) ++taken_again_[device];
    return;
  }
  const auto again = taken_again_.find(device);
  if (again == taken_again_.end()) {
    taken_.erase(device);
  } else if (--again->second == 0) {
    taken_again_.erase(again);
  }
}

void ResourceClaims::use(const Allocation& allocation, bool add) {
  changed();
  for (const DeviceGrant& grant : allocation.grants) {
    if (grant.admin_access) continue;
    if (grant.share_id.empty()) {
      count_taken(grant.device, add);
      continue;
    }
    auto& [sums, users] = shared_[grant.device];
    users += add ? 1 : -1;
    for (const auto& [name, amount] : grant.consumed) {
      if (add)
        sums[name] += amount;
      else
        sums[name] -= amount;
    }
    if (users == 0) shared_.erase(grant.device);
  }
}

void ResourceClaims::remove_claim(std::string_view key) {
  ++comings_and_goings_;
  take_out(key);
}

void ResourceClaims::take_out(std::string_view key) {
  auto found = claims_.find(key);
  if (found == claims_.end()) return changed();
  if (const Allocation* has = allocation_of(found->second)) use(*has, false);
  claims_.erase(found);
  changed();
}

void ResourceClaims::remove_class(std::string_view name) {
  if (auto found = classes_.find(name); found != classes_.end()) classes_.erase(found);
  changed();
}

void ResourceClaims::remove_slice(std::string_view name) {
  if (auto found = slices_.find(name); found != slices_.end()) slices_.erase(found);
  rebuild_devices();
}

namespace {

bool names_device_twice(const std::vector<const ResourceSlice*>& slices) {
  std::set<std::string_view> names;
  for (const ResourceSlice* slice : slices) {
    for (const Device& device : slice->devices) {
      if (!names.insert(device.name.device).second) return true;
    }
  }
  return false;
}

// New devices were made while those that they replace were still there: they do not stand where others stood.
template <class Verdicts>
void forget_devices_that_went(const std::map<std::string, ResourceSlice, std::less<>>& slices, Verdicts& verdicts) {
  if (verdicts.empty()) return;
  std::unordered_set<const Device*> there;
  for (const auto& [name, slice] : slices) {
    for (const Device& device : slice.devices) there.insert(&device);
  }
  std::erase_if(verdicts, [&](const auto& verdict) { return !there.contains(verdict.first.second); });
}

}  // namespace

// Only the slices of a pool's newest generation count, and only once all of them are there.
void ResourceClaims::rebuild_devices() {
  struct Pool {
    std::int64_t generation = -1;
    std::int64_t slices = 0;
    std::vector<const ResourceSlice*> members;
  };
  std::map<std::pair<std::string, std::string>, Pool> pools;
  for (const auto& [name, slice] : slices_) {
    Pool& pool = pools[{slice.driver, slice.pool}];
    if (slice.generation < pool.generation) continue;
    if (slice.generation > pool.generation) pool = {slice.generation, slice.slices, {}};
    pool.members.push_back(&slice);
  }
  devices_.clear();
  unready_pools_.clear();
  pool_counters_.clear();
  forget_devices_that_went(slices_, verdicts_);
  for (const auto& [key, pool] : pools) {
    const bool is_whole = static_cast<std::int64_t>(pool.members.size()) == pool.slices;
    const bool is_wrong = is_whole && names_device_twice(pool.members);
    const bool is_ready = is_whole && !is_wrong;
    if (!is_ready) unready_pools_.push_back({.name = key.first + "/" + key.second, .names_device_twice = is_wrong});
    std::vector<const Device*>& devices = is_ready ? devices_ : unready_pools_.back().devices;
    for (const ResourceSlice* slice : pool.members) {
      for (const Device& device : slice->devices) devices.push_back(&device);
      if (is_ready) pool_counters_[key].insert(slice->counters.begin(), slice->counters.end());
    }
  }
  changed();
}

std::optional<int> ResourceClaims::selects(const DeviceSelector& selector, const Device& device,
                                           std::uint64_t& cost_left, std::string& problem) const {
  if (!selector.program) {
    problem = selector.problem;
    return -1;
  }
  auto found = verdicts_.find({selector.id, &device});
  if (found == verdicts_.end()) {
    const std::uint64_t cost_max = std::min(cost_left, api::cel::kCostMax);
    std::uint64_t spent = 0;
    const api::cel::Value value = selector.program->evaluate({{"device", *device.value}}, cost_max, &spent);
    cost_left -= std::min(cost_left, spent);
    if (spent > cost_max && cost_max < api::cel::kCostMax) return std::nullopt;  // with more it may have an answer
    found = verdicts_.try_emplace({selector.id, &device}).first;
    auto& [verdict, text] = found->second;
    if (const bool* yes = value.get<bool>()) {
      verdict = *yes ? 1 : 0;
    } else {
      verdict = -1;
      text = value.is_error() ? value.error()->message
                              : base::format("a selector must be a boolean, not {}", value.type_name());
    }
  }
  if (found->second.first < 0) problem = found->second.second;
  return found->second.first;
}

void ResourceClaims::promise(TaskId task, std::vector<std::string> claims, std::map<std::string, Allocation> fresh) {
  for (const std::string& key : claims) {
    auto made = fresh.find(key);
    auto held = promises_.find(key);
    if (made != fresh.end() && held == promises_.end()) {
      use(made->second, true);
      held = promises_.emplace(key, Promise{std::move(made->second), {}}).first;
    }
    if (held != promises_.end()) held->second.tasks.insert(task.index);
  }
  settle_lent(claims_of_task_[task.index] = std::move(claims));
}

void ResourceClaims::withdraw(TaskId task) {
  auto found = claims_of_task_.find(task.index);
  if (found == claims_of_task_.end()) return;
  for (const std::string& key : found->second) {
    auto held = promises_.find(key);
    if (held == promises_.end()) continue;
    held->second.tasks.erase(task.index);
    if (!held->second.tasks.empty()) continue;
    const ResourceClaim* claim = find_claim(key);
    if (claim != nullptr && !claim->allocation) use(held->second.allocation, false);
    promises_.erase(held);
  }
  const std::vector<std::string> claims = std::move(found->second);
  claims_of_task_.erase(found);
  settle_lent(claims);
}

std::vector<PlannedClaim> ResourceClaims::plan_of(TaskId task) const {
  std::vector<PlannedClaim> out;
  auto found = claims_of_task_.find(task.index);
  if (found == claims_of_task_.end()) return out;
  for (const std::string& key : found->second) {
    const ResourceClaim* claim = find_claim(key);
    if (claim == nullptr) continue;
    auto promised = promises_.find(key);
    const bool fresh = !claim->allocation && promised != promises_.end();
    out.push_back({key, claim->uid, fresh ? to_json(promised->second.allocation, *claim, *this) : Json()});
  }
  return out;
}

Json to_json(const Allocation& allocation, const ResourceClaim& claim, const ResourceClaims& claims) {
  std::vector<Json> results, configs;
  for (const DeviceGrant& grant : allocation.grants) {
    Json one = Json::object({{"request", grant.request},
                             {"driver", grant.device.driver},
                             {"pool", grant.device.pool},
                             {"device", grant.device.device}});
    if (grant.admin_access) one.set("adminAccess", true);
    if (!grant.tolerations.empty()) one.set("tolerations", grant.tolerations);
    if (!grant.share_id.empty()) one.set("shareID", grant.share_id);
    for (const auto& [name, amount] : grant.consumed) one.edit("consumedCapacity").set(name, amount.to_json());
    results.push_back(std::move(one));
  }
  for (const DeviceRequest& request : claim.requests) {
    for (const DeviceWish& wish : request.wishes) {
      const bool used = std::any_of(allocation.grants.begin(), allocation.grants.end(),
                                    [&](const DeviceGrant& g) { return g.request == wish.name; });
      const DeviceClass* its = claims.find_class(wish.device_class);
      if (used && its != nullptr) add_configs(its->config, "FromClass", {wish.name}, configs);
    }
  }
  add_configs(claim.config, "FromClaim", {}, configs);
  Json devices = Json::object({{"results", Json::array(std::move(results))}});
  if (!configs.empty()) devices.set("config", Json::array(std::move(configs)));
  Json out = Json::object({{"devices", std::move(devices)}});
  if (!allocation.node_selector.is_null()) out.set("nodeSelector", allocation.node_selector);
  return out;
}

}  // namespace scheduler

// Which devices exist for resource claims, and who has them?
#include "scheduler/model/devices/dra.h"

#include <algorithm>

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

void ResourceClaims::remove_claim(std::string_view key) {
  ++comings_and_goings_;
  take_out(key);
}

void ResourceClaims::take_out(std::string_view key) {
  auto found = claims_.find(key);
  if (found == claims_.end()) return;
  if (const Allocation* has = allocation_of(found->second)) taken_.use(*has, false);
  claims_.erase(found);
}

void ResourceClaims::remove_class(std::string_view name) {
  if (auto found = classes_.find(name); found != classes_.end()) classes_.erase(found);
}

void ResourceClaims::set_slice(const Json& object, Symbols& symbols) {
  pools_.set_slice(object, symbols);
  selectors_.forget_all_but(pools_.slices());
}

void ResourceClaims::remove_slice(std::string_view name) {
  pools_.remove_slice(name);
  selectors_.forget_all_but(pools_.slices());
}

void ResourceClaims::promise(TaskId task, std::vector<std::string> claims, std::map<std::string, Allocation> fresh) {
  for (const std::string& key : claims) {
    auto made = fresh.find(key);
    auto held = promises_.find(key);
    if (made != fresh.end() && held == promises_.end()) {
      taken_.use(made->second, true);
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
    if (claim != nullptr && !claim->allocation) taken_.use(held->second.allocation, false);
    promises_.erase(held);
  }
  const std::vector<std::string> claims = std::move(found->second);
  claims_of_task_.erase(found);
  settle_lent(claims);
}

std::vector<PlannedClaim> plan_of(const ResourceClaims& claims, TaskId task) {
  std::vector<PlannedClaim> out;
  auto found = claims.claims_of_tasks().find(task.index);
  if (found == claims.claims_of_tasks().end()) return out;
  for (const std::string& key : found->second) {
    const ResourceClaim* claim = claims.find_claim(key);
    if (claim == nullptr) continue;
    const Allocation* decided = claim->allocation ? nullptr : claims.allocation_of(*claim);
    out.push_back({key, claim->uid, decided != nullptr ? to_json(*decided, *claim, claims) : Json()});
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
    for (const DeviceAlternative& alternative : request.alternatives) {
      const bool used = std::any_of(allocation.grants.begin(), allocation.grants.end(),
                                    [&](const DeviceGrant& g) { return g.request == alternative.name; });
      const DeviceClass* its = claims.find_class(alternative.device_class);
      if (used && its != nullptr) add_configs(its->config, "FromClass", {alternative.name}, configs);
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

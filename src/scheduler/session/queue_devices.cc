// The devices that pods of each queue hold, beside what they ask for as resources.
#include "scheduler/session/queue_devices.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "scheduler/model/devices/claim_demand.h"
#include "scheduler/model/queue_path.h"

namespace scheduler {
namespace {

using Amounts = QueueDevices::Amounts;

constexpr double kAmountMax = 9.2e18;

QueueDevices::Amount thousandths(double amount) {
  return QueueDevices::Amount{std::llround(std::clamp(amount, -kAmountMax / 1000, kAmountMax / 1000) * 1000)};
}

Amounts amounts_of(const ResourceClaim& claim, bool capacities, Dimensions& dimensions) {
  DeviceDemands demands;
  add_claim(claim, demands);
  Amounts out;
  const auto add = [&](const std::string& name, double amount) {  // claims name what they like: dimensions are bounded
    if (const std::optional<Dim> dim = dimensions.dim_of(name)) out[*dim] += thousandths(amount);
  };
  for (const auto& [name, demand] : demands) {
    const std::string key = "deviceclass/" + name;
    add(key, demand.count);
    if (!capacities) continue;
    for (const auto& [dimension, amount] : demand.capacity) add(dimension + "." + key, amount);
  }
  return out;
}

void add(const Amounts& from, int sign, Amounts& to) {
  for (const auto& [dim, amount] : from) to[dim] += sign * amount;
}

}  // namespace

QueueDevices::Holding QueueDevices::look(Model& model, const PluginSet& plugins, const Job& job) const {
  Holding out{job.queue, {}, {}};
  const bool counts_claims = model.gates.on("DynamicResourceAllocation");
  const bool capacities = model.gates.on("DRAConsumableCapacity");
  for (const TaskId id : job.tasks) {
    const Task& task = model.task(id);
    if (!is_allocated_like(task.status)) continue;
    const Shape& shape = model.shape_of(task);
    if (model.devices.devices_of(id) != nullptr) {
      plugins.held_by(task, [&](std::string_view name, double amount) {
        const Dim dim = model.dimensions.intern(name);
        out.amounts[dim] += thousandths(amount) - shape.request.get(dim);
      });
    }
    for (const ClaimUse& use : shape.claims) {
      const std::string key = shape.ns + "/" + use.claim;
      if (!counts_claims || out.claims.contains(key)) continue;
      const ResourceClaim* claim = model.claims.find_claim(key);
      out.claims.emplace(key, claim == nullptr ? Amounts{} : amounts_of(*claim, capacities, model.dimensions));
    }
  }
  return out;
}

void QueueDevices::count(const Model& model, const Holding& holding, int sign) {
  for_each_up_to_root(model, model.find_queue("root"), holding.queue, [&](QueueId at) {
    Amounts& sums = sums_[at.index];
    add(holding.amounts, sign, sums);
    auto& claims = claims_[at.index];
    for (const auto& [key, amounts] : holding.claims) {
      Claim& claim = claims[key];
      if (claim.jobs == 0) add(claim.amounts = amounts, 1, sums);
      if ((claim.jobs += sign) != 0) continue;
      add(claim.amounts, -1, sums);
      claims.erase(key);
    }
  });
}

void QueueDevices::take_out(const Model& model, JobId job) {
  auto old = jobs_.find(job.index);
  if (old == jobs_.end()) return;
  count(model, old->second, -1);
  for (const auto& [key, amounts] : old->second.claims) {
    auto used = uses_.find(key);
    used->second.jobs.erase(job.index);
    if (used->second.jobs.empty()) uses_.erase(used);
  }
  jobs_.erase(old);
}

void QueueDevices::take_in(Model& model, const PluginSet& plugins, const Job& job) {
  if (!job.in_use || !job.queue.is_set() || !model.queue(job.queue).in_use || jobs_.contains(job.id.index)) return;
  Holding fresh = look(model, plugins, job);
  if (fresh.amounts.empty() && fresh.claims.empty()) return;
  count(model, fresh, 1);
  for (const auto& [key, amounts] : fresh.claims) {
    const ResourceClaim* claim = model.claims.find_claim(key);
    Uses& uses = uses_[key];
    uses.uid = claim == nullptr ? "" : claim->uid;
    uses.jobs.insert(job.id.index);
  }
  jobs_.emplace(job.id.index, std::move(fresh));
}

void QueueDevices::settle(Model& model, const PluginSet& plugins, const std::vector<JobId>& changed, bool all) {
  all |= std::exchange(queues_seen_, model.queue_changes) != model.queue_changes;
  const bool claims_changed =
      std::exchange(claims_seen_, model.claims.comings_and_goings()) != model.claims.comings_and_goings();
  if (jobs_.empty() && model.claims.claims().empty() && !model.devices.has_holders()) {
    queues_seen_ = model.queue_changes - 1;  // nobody was looked at: the next time, all are
    return;
  }
  if (all) {
    jobs_.clear();
    sums_.clear();
    claims_.clear();
    uses_.clear();
    model.for_each_job_unsorted([&](const Job& job) { take_in(model, plugins, job); });
    return;
  }
  std::vector<JobId> touched = changed;
  for (const auto& [key, uses] : uses_) {
    if (!claims_changed) break;
    const ResourceClaim* claim = model.claims.find_claim(key);
    if (uses.uid == (claim == nullptr ? "" : claim->uid)) continue;
    for (const std::uint32_t job : uses.jobs) touched.push_back(JobId{job});
  }
  // All go before any comes back: who shares a claim must not see what another one knew of it.
  for (const JobId id : touched) take_out(model, id);
  for (const JobId id : touched) take_in(model, plugins, model.job(id));
}

const Amounts& QueueDevices::of(QueueId queue) const {
  static const Amounts kNone;
  auto found = sums_.find(queue.index);
  return found == sums_.end() ? kNone : found->second;
}

}  // namespace scheduler

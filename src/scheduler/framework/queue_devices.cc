// What do the pods of each queue hold of devices, beside what they ask for as resources?
#include "scheduler/framework/queue_devices.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "scheduler/model/claim_demand.h"
#include "scheduler/model/queue_path.h"

namespace scheduler {
namespace {

using Amounts = QueueDevices::Amounts;

constexpr double kAmountMax = 9e15;  // sums of a thousand still fit

std::int64_t thousandths(double amount) {
  return static_cast<std::int64_t>(std::llround(std::clamp(amount * 1000, -kAmountMax, kAmountMax)));
}

Amounts amounts_of(const ResourceClaim& claim, bool capacities, Dimensions& dimensions) {
  DeviceDemands demands;
  add_claim(claim, demands);
  Amounts out;
  for (const auto& [name, demand] : demands) {
    const std::string key = "deviceclass/" + name;
    out[dimensions.intern(key)] += thousandths(demand.count);
    if (!capacities) continue;
    for (const auto& [dimension, amount] : demand.capacity)
      out[dimensions.intern(dimension + "." + key)] += thousandths(amount);
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
      const ResourceClaim* claim = counts_claims ? model.claims.find_claim(key) : nullptr;
      if (claim == nullptr || out.claims.contains(key)) continue;
      out.claims.emplace(key, amounts_of(*claim, capacities, model.dimensions));
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

void QueueDevices::settle(Model& model, const PluginSet& plugins, const std::vector<JobId>& changed, bool all) {
  all |= std::exchange(queues_seen_, model.queue_changes) != model.queue_changes;
  all |= std::exchange(claims_seen_, model.claims.comings_and_goings()) != model.claims.comings_and_goings();
  if (jobs_.empty() && model.claims.claims().empty() && !model.devices.has_holders()) return;
  const auto settle_job = [&](const Job& job) {
    if (!job.in_use || !job.queue.is_set() || !model.queue(job.queue).in_use || jobs_.contains(job.id.index)) return;
    Holding fresh = look(model, plugins, job);
    if (fresh.amounts.empty() && fresh.claims.empty()) return;
    count(model, fresh, 1);
    jobs_.emplace(job.id.index, std::move(fresh));
  };
  if (all) {
    jobs_.clear();
    sums_.clear();
    claims_.clear();
    model.for_each_job_unsorted(settle_job);
    return;
  }
  // All go before any comes back: who shares a claim must not see what another one knew of it.
  for (const JobId id : changed) {
    auto old = jobs_.find(id.index);
    if (old == jobs_.end()) continue;
    count(model, old->second, -1);
    jobs_.erase(old);
  }
  for (const JobId id : changed) settle_job(model.job(id));
}

const Amounts& QueueDevices::of(QueueId queue) const {
  static const Amounts kNone;
  auto found = sums_.find(queue.index);
  return found == sums_.end() ? kNone : found->second;
}

}  // namespace scheduler

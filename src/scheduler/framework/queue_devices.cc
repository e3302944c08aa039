// What do the pods of each queue hold of devices, beside what they ask for as resources?
#include "scheduler/framework/queue_devices.h"

#include "scheduler/model/claim_demand.h"
#include "scheduler/model/queue_path.h"

namespace scheduler {
namespace {

QueueDevices::Amounts amounts_of(const ResourceClaim& claim, Dimensions& dimensions) {
  DeviceDemands demands;
  add_claim(claim, demands);
  QueueDevices::Amounts out;
  for (const auto& [name, demand] : demands) {
    const std::string key = "deviceclass/" + name;
    out[dimensions.intern(key)] += demand.count * 1000;
    for (const auto& [dimension, amount] : demand.capacity)
      out[dimensions.intern(dimension + "." + key)] += amount * 1000;
  }
  return out;
}

void add(const QueueDevices::Amounts& from, int sign, QueueDevices::Amounts& to) {
  for (const auto& [dim, amount] : from) to[dim] += sign * amount;
}

}  // namespace

QueueDevices::Holding QueueDevices::look(Model& model, const PluginSet& plugins, const Job& job) const {
  Holding out{job.queue, {}, {}};
  for (const TaskId id : job.tasks) {
    const Task& task = model.task(id);
    if (!is_allocated_like(task.status)) continue;
    const Shape& shape = model.shape_of(task);
    if (model.devices.devices_of(id) != nullptr) {
      plugins.held_by(task, [&](std::string_view name, double amount) {
        const Dim dim = model.dimensions.intern(name);
        out.amounts[dim] += amount * 1000 - static_cast<double>(shape.request.get(dim));
      });
    }
    for (const ClaimUse& use : shape.claims) {
      const std::string key = shape.ns + "/" + use.claim;
      const ResourceClaim* claim = model.claims.find_claim(key);
      if (claim != nullptr && !out.claims.contains(key)) out.claims.emplace(key, amounts_of(*claim, model.dimensions));
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
  const bool queues_changed = std::exchange(queues_seen_, model.queue_changes) != model.queue_changes;
  const bool config_changed =
      std::exchange(config_seen_, model.devices.config_version()) != model.devices.config_version();
  if (jobs_.empty() && model.claims.claims().empty() && !model.devices.has_holders()) return;
  const auto settle_job = [&](const Job& job) {
    if (!job.in_use || !job.queue.is_set()) return;
    Holding fresh = look(model, plugins, job);
    if (fresh.amounts.empty() && fresh.claims.empty()) return;
    count(model, fresh, 1);
    jobs_.insert_or_assign(job.id.index, std::move(fresh));
  };
  if (all || queues_changed || config_changed) {
    jobs_.clear();
    sums_.clear();
    claims_.clear();
    model.for_each_job_unsorted(settle_job);
    return;
  }
  for (const JobId id : changed) {
    if (auto old = jobs_.find(id.index); old != jobs_.end()) {
      count(model, old->second, -1);
      jobs_.erase(old);
    }
    settle_job(model.job(id));
  }
}

const QueueDevices::Amounts& QueueDevices::of(QueueId queue) const {
  static const Amounts kNone;
  auto found = sums_.find(queue.index);
  return found == sums_.end() ? kNone : found->second;
}

}  // namespace scheduler

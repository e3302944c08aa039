// How many devices may the claims of a queue's pods hold? Keys `deviceclass/CLASS` (a count) and
// `DIMENSION.deviceclass/CLASS` (an amount of a capacity) of a queue's capability.
//
// Sums are taken anew where they are asked for, over the queue's pods with claims; a queue without such a key costs
// nothing.
#include "scheduler/plugins/capacity/capacity_dra.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "scheduler/framework/plugin.h"
#include "scheduler/model/model.h"
#include "scheduler/model/queue_path.h"
#include "scheduler/session/session.h"

namespace scheduler {
namespace {

constexpr std::string_view kClassKey = "deviceclass/";

using Demands = DeviceDemands;

// Claims that are in `counted` already are shared, and count once.
void add_task(const Model& model, const Task& task, std::set<std::string>& counted, Demands& out) {
  const Shape& shape = model.shape_of(task);
  for (const ClaimUse& use : shape.claims) {
    std::string key = shape.ns + "/" + use.claim;
    const ResourceClaim* claim = model.claims.find_claim(key);
    if (claim != nullptr && counted.insert(std::move(key)).second) add_claim(*claim, out);
  }
}

bool has_quota(const Model& model, const Queue& queue) {
  for (Dim d = 0; d < queue.capability.size(); ++d) {
    if (queue.capability.has(d) && model.dimensions.name(d).find(kClassKey) != std::string::npos) return true;
  }
  return false;
}

// The amount of a quota key as written; nothing where the queue does not have it.
std::optional<double> quota_of(const Model& model, const Queue& queue, const std::string& key) {
  const std::optional<Dim> dim = model.dimensions.find(key);
  if (!dim || !queue.capability.has(*dim)) return std::nullopt;
  return queue.capability.get(*dim) / 1000;
}

struct QueueUse {
  std::set<std::string> claims;
  Demands sums;
};

// The queue, and with a hierarchy those above it.
std::vector<QueueId> path_of(const Model& model, QueueId queue, bool hierarchical) {
  std::vector<QueueId> out;
  if (!hierarchical) return {queue};
  for_each_up_to_root(model, model.find_queue("root"), queue, [&](QueueId at) { out.push_back(at); });
  return out;
}

// The devices that pods of the queue, and of those below it, hold. A claim counts once in each queue.
QueueUse use_of(const Model& model, QueueId queue, bool hierarchical) {
  QueueUse out;
  model.for_each_job_unsorted([&](const Job& job) {
    if (!job.queue.is_set()) return;
    const std::vector<QueueId> path = path_of(model, job.queue, hierarchical);
    if (std::find(path.begin(), path.end(), queue) == path.end()) return;
    for (const TaskId id : job.tasks) {
      const Task& task = model.task(id);
      const bool holds = is_allocated_like(task.status) || task.status == TaskStatus::kPipelined;
      if (holds && !model.shape_of(task).claims.empty()) add_task(model, task, out.claims, out.sums);
    }
  });
  return out;
}

bool fits(Model& model, const Queue& queue, const Demands& used, const Demands& wanted, bool capacities) {
  for (const auto& [name, demand] : wanted) {
    const std::string key = std::string(kClassKey) + name;
    auto has = used.find(name);
    const auto count = quota_of(model, queue, key);
    const double held = has == used.end() ? 0 : has->second.count;
    if (count && *count > 0 && held + demand.count > *count) return false;
    bool limits_capacity = false;
    for (Dim d = 0; capacities && d < queue.capability.size(); ++d) {
      limits_capacity |= queue.capability.has(d) && model.dimensions.name(d).ends_with("." + key);
    }
    if (!limits_capacity) continue;
    for (const auto& [dimension, amount] : demand.capacity) {
      const auto most = quota_of(model, queue, dimension + "." + key);
      double sum = amount;
      if (has != used.end()) {
        if (auto at = has->second.capacity.find(dimension); at != has->second.capacity.end()) sum += at->second;
      }
      if (!most || sum > *most) return false;
    }
  }
  return true;
}

// The demand of the smallest start of the job: its roles' minimums, or its first tasks with claims.
Demands minimum_of(const Model& model, const Job& job, std::set<std::string>& counted) {
  std::vector<TaskId> tasks;
  for (const TaskId id : job.tasks) {
    if (!model.shape_of(model.task(id)).claims.empty() && !is_terminated(model.task(id).status)) tasks.push_back(id);
  }
  std::sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
    return std::pair(model.text(a).name, model.text(a).uid) < std::pair(model.text(b).name, model.text(b).uid);
  });
  Demands out;
  if (job.roles_min_total == 0) {
    for (std::size_t i = 0; i < tasks.size() && static_cast<std::int32_t>(i) < job.min_available; ++i)
      add_task(model, model.task(tasks[i]), counted, out);
    return out;
  }
  std::map<std::uint32_t, std::int32_t> taken;
  for (const TaskId id : tasks) {
    const Task& task = model.task(id);
    if (taken[task.role]++ < job.roles[task.role].min) add_task(model, task, counted, out);
  }
  return out;
}

void add(const Demands& from, Demands& to) {
  for (const auto& [name, demand] : from) {
    to[name].count += demand.count;
    for (const auto& [dimension, amount] : demand.capacity) to[name].capacity[dimension] += amount;
  }
}

}  // namespace

void DeviceQuota::attach(PluginSetup& setup) {
  model_ = &setup.model();
  hierarchical_ = setup.hierarchy();
  enabled_ = setup.arguments().get_bool("capacity.DynamicResourceAllocationEnable",
                                        model_->gates.on("DynamicResourceAllocation"));
  capacities_ =
      setup.arguments().get_bool("capacity.DRAConsumableCapacityEnable", model_->gates.on("DRAConsumableCapacity"));
  if (!enabled_) return;
  const auto within = [this](const Queue& queue, const Task& task) {
    if (model_->shape_of(task).claims.empty()) return true;
    for (const QueueId at : path_of(*model_, queue.id, hierarchical_)) {
      if (!has_quota(*model_, model_->queue(at))) continue;
      QueueUse use = use_of(*model_, at, hierarchical_);
      Demands wanted;
      add_task(*model_, task, use.claims, wanted);
      if (!fits(*model_, model_->queue(at), use.sums, wanted, capacities_)) return false;
    }
    return true;
  };
  setup.on<Allocatable>(within);
  setup.on<SimulateAllocatable>(within);
  setup.on<JobEnqueueable>([this](const Job& job) {
    Vote out = Vote::kAbstain;
    for (const QueueId at : path_of(*model_, job.queue, hierarchical_)) {
      if (!has_quota(*model_, model_->queue(at))) continue;
      QueueUse use = use_of(*model_, at, hierarchical_);
      const Demands wanted = minimum_of(*model_, job, use.claims);
      if (wanted.empty()) continue;
      add(admitted(at), use.sums);
      if (!fits(*model_, model_->queue(at), use.sums, wanted, capacities_)) {
        session_->statuses().refusals().add(
            job, AdmissionRefusal{.message = "queue resource quota insufficient: insufficient dra-resource-exceeded"});
        return Vote::kReject;
      }
      out = Vote::kPermit;
    }
    return out;
  });
  setup.on<JobEnqueued>([this](const Job& job) {
    for (const QueueId at : path_of(*model_, job.queue, hierarchical_)) {
      if (!has_quota(*model_, model_->queue(at))) continue;
      std::set<std::string> counted;
      add(minimum_of(*model_, job, counted), admitted(at));
    }
  });
  setup.on<ReserveLapsed>([this](const Job& job) { lapsed_.insert(job.id); });
}

void DeviceQuota::open(Session& session) {
  session_ = &session;
  inqueue_.clear();
  lapsed_.clear();
  is_counted_ = false;
}

DeviceDemands& DeviceQuota::admitted(QueueId queue) {
  if (!std::exchange(is_counted_, true)) count_admitted();
  return inqueue_[queue.index];
}

void DeviceQuota::count_admitted() {
  model_->for_each_job_unsorted([&](const Job& job) {
    if (job.phase != GroupPhase::kInqueue || !job.queue.is_set() || lapsed_.contains(job.id)) return;
    for (const QueueId at : path_of(*model_, job.queue, hierarchical_)) {
      if (!has_quota(*model_, model_->queue(at))) continue;
      std::set<std::string> counted = use_of(*model_, at, hierarchical_).claims;
      add(minimum_of(*model_, job, counted), inqueue_[at.index]);
    }
  });
}

}  // namespace scheduler

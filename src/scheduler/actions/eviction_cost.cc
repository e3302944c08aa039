// The cost of an eviction: what do groups lose when some of their pods go?
#include "scheduler/actions/eviction_cost.h"

#include <algorithm>
#include <cmath>

namespace scheduler {
namespace {

constexpr double kWholeCluster = 1e6;
constexpr std::int64_t kMinuteNs = 60'000'000'000;
constexpr std::int64_t kMinutesMax = 60 * 24 * 30;  // older work weighs the same

struct Leaving {
  JobId job;
  std::int32_t pods = 0;
  std::int64_t work = 0;
};

// A role that has a minimum keeps it.
bool role_keeps_minimum(const Model& model, const Job& job, const std::vector<TaskId>& victims) {
  if (!job.checks_roles()) return true;
  for (std::uint32_t r = 0; r < job.roles.size(); ++r) {
    const Role& role = job.roles[r];
    if (!role.has_min || role.occupied() < role.min) continue;
    const auto leaving = std::count_if(victims.begin(), victims.end(), [&](TaskId id) {
      return model.task(id).job == job.id && model.task(id).role == r;
    });
    if (role.occupied() - leaving < role.min) return false;
  }
  return true;
}

}  // namespace

EvictionCosts::EvictionCosts(Session& session) : model_(session.model()), now_(session.input().now) {
  const Sums& total = model_.nodes.total();
  shares_.resize(std::max<std::size_t>(total.size(), kPods + 1));
  for (Dim d = 0; d < shares_.size(); ++d) {
    const auto all = static_cast<double>(total.get(d));
    shares_[d] = d == kPods || all <= 0 ? 0 : kWholeCluster / all;
  }
}

std::int64_t EvictionCosts::work_of(TaskId id) const {
  const Task& task = model_.task(id);
  const auto [slot, added] = sizes_.try_emplace(task.shape.index);
  if (added) {
    double most = 1;
    for (const Part& part : model_.shape_of(task).request.parts) {
      if (part.dim < shares_.size()) most = std::max(most, shares_[part.dim] * static_cast<double>(part.amount));
    }
    slot->second = static_cast<std::int64_t>(std::min(most, kWholeCluster));
  }
  const std::int64_t started = model_.details.started_ns(id);
  const std::int64_t minutes =
      started == 0 ? 0 : std::clamp<std::int64_t>((now_.ns - started) / kMinuteNs, 0, kMinutesMax);
  return slot->second * (1 + minutes);
}

std::int64_t EvictionCosts::work_of_group(const Job& job) const {
  Loss& known = groups_[job.id.index];
  if (known.changes == job.changes) return known.work;
  known = {job.changes, 0};
  for (const TaskId id : job.tasks) {
    if (is_allocated_like(model_.task(id).status)) known.work += work_of(id);
  }
  return known.work;
}

bool EvictionCosts::breaks(const Job& job, std::int32_t leaving) {
  const std::int32_t ready = job.ready_count();
  return ready >= job.min_available && ready - leaving < job.min_available;
}

EvictionCost EvictionCosts::of_one(TaskId id) const {
  const Task& task = model_.task(id);
  EvictionCost out{.pod_priority = task.pod_priority, .pods = 1};
  if (!task.job.is_set()) return out;
  const Job& job = model_.job(task.job);
  out.group_priority = job.priority;
  const bool is_broken = breaks(job, 1) || (job.checks_roles() && !role_keeps_minimum(model_, job, {id}));
  out.broken_groups = is_broken ? 1 : 0;
  out.lost_work = is_broken ? work_of_group(job) : work_of(id);
  return out;
}

EvictionCost EvictionCosts::of(const std::vector<TaskId>& victims) const {
  if (victims.size() == 1) return of_one(victims.front());
  EvictionCost out;
  out.pods = static_cast<std::int64_t>(victims.size());
  std::vector<Leaving> groups;
  for (const TaskId id : victims) {
    const Task& task = model_.task(id);
    out.pod_priority = std::max(out.pod_priority, task.pod_priority);
    if (!task.job.is_set()) continue;
    out.group_priority = std::max(out.group_priority, model_.job(task.job).priority);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Leaving& one) { return one.job == task.job; });
    if (group == groups.end()) group = groups.insert(groups.end(), {task.job});
    ++group->pods;
    group->work += work_of(id);
  }
  for (const Leaving& one : groups) {
    const Job& job = model_.job(one.job);
    const bool is_broken = breaks(job, one.pods) || !role_keeps_minimum(model_, job, victims);
    out.broken_groups += is_broken ? 1 : 0;
    out.lost_work += is_broken ? work_of_group(job) : one.work;
  }
  return out;
}

}  // namespace scheduler

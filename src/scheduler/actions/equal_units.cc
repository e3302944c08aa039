// Which sets of units are there, where equal units need not be told apart?
#include "scheduler/actions/equal_units.h"

#include <algorithm>

namespace scheduler {
namespace {

// No filter looks at more of the pod than its shape, labels and place in its group.
bool is_simple(const Model& model, const EvictionUnit& unit) {
  if (unit.tasks.size() != 1) return false;
  const TaskId id = unit.tasks.front();
  const Shape& shape = model.shape_of(model.task(id));
  return shape.claims.empty() && shape.volumes.empty() && model.devices.devices_of(id) == nullptr &&
         model.devices.cpus_of(id) == nullptr;
}

bool are_equal(const Model& model, const EvictionUnit& left, const EvictionUnit& right) {
  if (left.cost != right.cost || !is_simple(model, left) || !is_simple(model, right)) return false;
  const Task &a = model.task(left.tasks.front()), &b = model.task(right.tasks.front());
  const bool has_parts = a.job.is_set() && model.job(a.job).topology != nullptr;
  return a.job == b.job && a.node == b.node && a.shape == b.shape && a.labels == b.labels && a.role == b.role &&
         a.status == b.status && a.pod_priority == b.pod_priority &&
         model.details.started_ns(a.id) == model.details.started_ns(b.id) &&
         (!has_parts || model.sub_job_of(a.id) == model.sub_job_of(b.id));
}

}  // namespace

UnitClasses equal_units(const Model& model, const std::vector<EvictionUnit>& units) {
  UnitClasses out;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const auto known = std::find_if(out.begin(), out.end(), [&](const std::vector<std::size_t>& one) {
      return are_equal(model, units[one.front()], units[i]);
    });
    if (known == out.end())
      out.push_back({i});
    else
      known->push_back(i);
  }
  return out;
}

std::size_t count_sets(const UnitClasses& classes, std::size_t most) {
  std::size_t out = 1;
  for (const std::vector<std::size_t>& one : classes) {
    out *= one.size() + 1;
    if (out > most) return most + 1;
  }
  return out;
}

std::vector<std::uint64_t> sets_of(const UnitClasses& classes) {
  std::vector<std::uint64_t> out{0};
  for (const std::vector<std::size_t>& one : classes) {
    const std::vector<std::uint64_t> before = out;
    std::uint64_t members = 0;
    for (const std::size_t position : one) {
      members |= std::uint64_t{1} << position;
      for (const std::uint64_t set : before) out.push_back(set | members);
    }
  }
  out.erase(out.begin());
  return out;
}

}  // namespace scheduler

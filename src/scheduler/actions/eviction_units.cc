// Which pods of a node may go, and what do they cost with all that go with them?
#include "scheduler/actions/eviction_units.h"

#include <algorithm>

namespace scheduler {
namespace {

bool has_any_whole(const Model& model, const std::vector<TaskId>& pods) {
  return std::any_of(pods.begin(), pods.end(), [&](TaskId id) { return goes_whole(model, id); });
}

bool all_displaceable(const Model& model, const Task& task, TaskId leader, const Displaceable& displaceable) {
  bool out = true;
  for_each_gone_with(model, leader, [&](TaskId one) {
    out = out && model.task(one).node.is_set() && displaceable(task, model.task(one));
  });
  return out;
}

}  // namespace

EvictionCost cost_with_all_gone(const Model& model, const EvictionCosts& costs, const std::vector<TaskId>& pods) {
  return has_any_whole(model, pods) ? costs.of(with_all_gone(model, pods)) : costs.of(pods);
}

std::vector<TaskId> units_that_may_go(const Model& model, const Task& task, const std::vector<TaskId>& candidates,
                                      const Displaceable& displaceable, const MayGo& may_go) {
  if (!has_any_whole(model, candidates)) return candidates.empty() ? candidates : may_go(task, candidates);
  std::vector<TaskId> leaders, asked;
  std::vector<JobId> known;
  for (const TaskId id : candidates) {
    const JobId job = model.task(id).job;
    const bool is_whole = goes_whole(model, id);
    if (is_whole && std::find(known.begin(), known.end(), job) != known.end()) continue;
    if (is_whole) known.push_back(job);
    if (is_whole && !all_displaceable(model, task, id, displaceable)) continue;
    leaders.push_back(id);
    for_each_gone_with(model, id, [&](TaskId one) { asked.push_back(one); });
  }
  if (asked.empty()) return {};
  std::sort(asked.begin(), asked.end(), [&](TaskId a, TaskId b) { return model.text(a).uid < model.text(b).uid; });
  std::vector<TaskId> allowed = may_go(task, asked);
  std::sort(allowed.begin(), allowed.end());
  std::erase_if(leaders, [&](TaskId leader) {
    bool all = true;
    for_each_gone_with(model, leader,
                       [&](TaskId one) { all = all && std::binary_search(allowed.begin(), allowed.end(), one); });
    return !all;
  });
  return leaders;
}

}  // namespace scheduler

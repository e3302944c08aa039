// Which pods go together?
#include "scheduler/model/whole_groups.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace scheduler {

std::vector<TaskId> with_all_gone(const Model& model, const std::vector<TaskId>& pods) {
  std::vector<TaskId> out;
  std::vector<JobId> known;
  for (const TaskId id : pods) {
    const JobId job = model.task(id).job;
    if (goes_whole(model, id)) {
      if (std::find(known.begin(), known.end(), job) != known.end()) continue;
      known.push_back(job);
    }
    for_each_gone_with(model, id, [&](TaskId one) { out.push_back(one); });
  }
  return out;
}

std::vector<std::vector<TaskId>> units_of(const Model& model, const std::vector<TaskId>& pods) {
  std::vector<std::vector<TaskId>> out;
  std::vector<std::pair<JobId, std::size_t>> known;
  for (const TaskId id : pods) {
    const JobId job = model.task(id).job;
    const auto unit = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.first == job; });
    if (goes_whole(model, id) && unit != known.end()) {
      out[unit->second].push_back(id);
      continue;
    }
    if (goes_whole(model, id)) known.emplace_back(job, out.size());
    out.push_back({id});
  }
  return out;
}

}  // namespace scheduler

// How does a group's status change, and does it say what another one says?
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "scheduler/model/core/job.h"

namespace scheduler {

// There is at most one condition of each type; a newer one takes the place of an older.
inline void put_condition(std::vector<GroupCondition>& conditions, GroupCondition fresh) {
  for (GroupCondition& condition : conditions) {
    if (condition.type != fresh.type) continue;
    condition = std::move(fresh);
    return;
  }
  conditions.push_back(std::move(fresh));
}

// Times and transitions aside: they change with every writing.
inline bool is_same_status(const GroupStatus& a, const GroupStatus& b) {
  if (a.phase != b.phase || a.running != b.running || a.succeeded != b.succeeded || a.failed != b.failed) return false;
  return std::equal(a.conditions.begin(), a.conditions.end(), b.conditions.begin(), b.conditions.end(),
                    [](const GroupCondition& l, const GroupCondition& r) {
                      return l.type == r.type && l.status == r.status && l.reason == r.reason && l.message == r.message;
                    });
}

}  // namespace scheduler

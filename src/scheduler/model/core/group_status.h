// Does a group's status say what another one says?
#pragma once

#include <algorithm>

#include "scheduler/model/core/job.h"

namespace scheduler {

// Times and transitions aside: they change with every writing.
inline bool says_the_same(const GroupStatus& a, const GroupStatus& b) {
  if (a.phase != b.phase || a.running != b.running || a.succeeded != b.succeeded || a.failed != b.failed) return false;
  return std::equal(a.conditions.begin(), a.conditions.end(), b.conditions.begin(), b.conditions.end(),
                    [](const GroupCondition& l, const GroupCondition& r) {
                      return l.type == r.type && l.status == r.status && l.reason == r.reason && l.message == r.message;
                    });
}

}  // namespace scheduler

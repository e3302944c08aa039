// The order in which victims are evicted.
#pragma once

#include <vector>

#include "scheduler/session/live_heap.h"
#include "scheduler/session/session.h"

namespace scheduler {

// Whether `a` is evicted before `b`.
struct VictimLess {
  const Session* session;
  const Model* model;
  const Task* preemptor;
  bool operator()(TaskId a, TaskId b) const;
};

// The first of it is evicted first, for the benefit of `preemptor`, by the state at the call.
void sort_as_victims(const Session& session, const Task& preemptor, std::vector<TaskId>& victims);
// The same, where each eviction changes the next victim. Valid while the session and the preemptor are.
LiveHeap<TaskId, VictimLess> victim_heap(const Session& session, const Task& preemptor,
                                         const std::vector<TaskId>& victims);

}  // namespace scheduler

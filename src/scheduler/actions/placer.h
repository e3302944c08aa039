// How do the waiting tasks of a job, or of one part of it, get nodes inside one domain of the network?
#pragma once

#include <optional>

#include "scheduler/session/queue_heap.h"

namespace scheduler {

// A part of a job, and the domain that it is to be placed in. Jobs without a topology have one part, and the root
// domain is everywhere.
struct PlaceTarget {
  JobId job;
  std::uint32_t part = 0;  // position in JobTopology::sub_jobs
  DomainId where = kRootDomain;
};

class Placer {
 public:
  explicit Placer(Session& session) : session_(session), model_(session.model()) {}

  // Takes tasks off the heap until the part is ready. True when what was placed since `mark` is worth keeping: the part
  // is ready, or would be once capacity is released. Otherwise it is undone.
  bool place_tasks(const PlaceTarget& target, TaskHeap& tasks, Journal::Mark mark);
  // Each task on the node that an earlier eviction emptied for it, all of them or none.
  bool place_nominated(const PlaceTarget& target, TaskHeap& tasks, Journal::Mark mark);
  // The node nominated for the task, where it takes the task now or once capacity is released.
  std::optional<NodeChoice> nominated(const Task& task, const NodeSet* within);

 private:
  enum class Outcome : std::uint8_t { kPlaced, kSkipped, kFailed };

  Outcome place_task(const PlaceTarget& target, const Job& job, const Task& task);
  std::optional<NodeChoice> find_on(const Task& task, NodeId node);
  NodeId nominated_node(const Task& task, const NodeSet* within) const;
  void record(const PlaceTarget& target, const Job& job, const Task& task, FitErrors errors);
  bool worth_going_on(const PlaceTarget& target, const Job& job) const;
  SubJob* topology_part(const PlaceTarget& target) const;
  const NodeSet* nodes_of(DomainId where) const;

  Session& session_;
  Model& model_;
};

// Whether allocate looks at the task: it waits, asks for something, and is not held by a foreign gate.
bool is_placeable(const Model& model, TaskId id);

}  // namespace scheduler

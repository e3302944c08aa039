// Which placements and evictions did this session make, and how are they undone?
//
// commit() hands those since a mark to the plan, rollback() undoes them from the end; what is neither stays until the
// close, as the reservation of a gang that waits for releasing capacity, and is undone then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/session/plan.h"
#include "scheduler/session/session_input.h"

namespace scheduler {

class Journal {
 public:
  // All of them outlive it.
  Journal(const SessionInput& input, Plan& plan) : in_(input), plan_(plan) {}

  using Mark = std::size_t;
  Mark mark() const { return operations_.size(); }
  bool has_operations_since(Mark mark) const { return operations_.size() > mark; }
  // False, and nothing changed, when a plugin refuses the placement.
  bool allocate(TaskId task, NodeId node) { return place(Kind::kAllocate, task, node, false); }
  bool pipeline(TaskId task, NodeId node, bool eviction_occurred) {
    return place(Kind::kPipeline, task, node, eviction_occurred);
  }
  void evict(TaskId task, std::string_view action, JobId beneficiary);
  void rollback(Mark mark);
  // A job that a plugin holds has nothing committed: it waits for an answer from outside. Its placements stay until the
  // close, as its reservation.
  void commit(Mark mark);
  // The operations since the mark, to be done again after a rollback.
  struct Saved {
    TaskId task;
    NodeId node;
    enum class Kind : std::uint8_t { kAllocate, kPipeline, kEvict } kind = Kind::kAllocate;
    bool eviction_occurred = false;
    JobId beneficiary;
    std::uint32_t action = 0;
  };
  std::vector<Saved> saved_since(Mark mark) const;
  // False at the first operation that is refused; those before it stay.
  bool replay(const std::vector<Saved>& operations);
  // For backfill: hands every Allocated task of a ready job to the plan.
  void dispatch_if_ready(JobId job);
  void unpipeline(TaskId task) { take_back(task, Kind::kPipeline); }
  // Takes back one eviction of this session that was not committed.
  void unevict(TaskId task) { take_back(task, Kind::kEvict); }
  // The queue has admitted a task whose only gate is the queue's. It is placed in a later cycle.
  void remove_queue_gate(const Task& task);

  // "ns/pod" to the node that it is promised and that is not free yet.
  std::map<std::string, std::string> promised() const;
  // Undoes what was not committed.
  void close();
  // Rollbacks that did not leave everything as it was, where that is proved.
  std::vector<std::string> take_bad_rollbacks() { return std::move(bad_rollbacks_); }

 private:
  enum class Kind : std::uint8_t { kAllocate, kPipeline, kEvict };
  struct Operation {
    Kind kind;
    bool committed = false;
    TaskStatus old_status;
    TaskId task;
    NodeId node;  // of the operation
    NodeId old_node;
    JobId beneficiary;
    std::uint32_t action = 0;  // index into actions_
  };

  template <class P, class... A>
  decltype(auto) ask(const A&... args) const {
    return in_.plugins.ask<P>(args...);
  }
  bool is_held_since(Mark mark) const;
  void hold(Mark mark);
  bool place(Kind kind, TaskId task, NodeId node, bool eviction_occurred);
  void undo(const Operation& operation);
  void take_back(TaskId task, Kind kind);
  void plan_bind(TaskId task);
  void plan_eviction(const Operation& operation);
  void record_state();
  void compare_state(std::string_view what);

  const SessionInput& in_;
  Plan& plan_;
  std::vector<Operation> operations_;
  std::vector<std::string> actions_;  // names
  std::set<std::uint32_t> ungated_;   // tasks whose queue gate is removed
  // For the proof of rollbacks: the state_hash() before each operation; unset where it is not known.
  std::vector<std::optional<std::uint64_t>> states_;
  std::vector<std::string> bad_rollbacks_;
};

}  // namespace scheduler

// Which placements and evictions did this session make, and how are they undone?
#include "scheduler/session/journal.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "scheduler/session/state_hash.h"

namespace scheduler {

// Before an operation is done.
void Journal::record_state() {
  if (!in_.proves_rollbacks) return;
  states_.resize(operations_.size());
  states_.push_back(state_hash(in_.model));
}

// After everything from the end of the journal on was undone.
void Journal::compare_state(std::string_view what) {
  if (!in_.proves_rollbacks || states_.size() <= operations_.size()) return;
  const std::optional<std::uint64_t> before = states_[operations_.size()];
  if (before && *before != state_hash(in_.model))
    bad_rollbacks_.push_back(base::format("{} left traces, {} operations deep", what, operations_.size()));
  states_.resize(operations_.size());
}

bool Journal::place(Kind kind, TaskId id, NodeId node, bool eviction_occurred) {
  Task& task = in_.model.edit_task(id);
  CHECK(task.status == TaskStatus::kPending);
  record_state();
  operations_.push_back({.kind = kind, .old_status = task.status, .task = id, .node = node, .old_node = task.node});
  task.eviction_occurred = eviction_occurred;
  in_.model.move(id, kind == Kind::kAllocate ? TaskStatus::kAllocated : TaskStatus::kPipelined, node);
  if (in_.plugins.answers<TaskPlaced>()) {
    if (Refusal refusal = ask<TaskPlaced>(task)) {
      rollback(operations_.size() - 1);
      task.last_cycle = 0;
      return false;
    }
  }
  return true;
}

void Journal::evict(TaskId id, std::string_view action, JobId beneficiary) {
  const Task& task = in_.model.task(id);
  auto known = std::find(actions_.begin(), actions_.end(), action);
  if (known == actions_.end()) known = actions_.insert(actions_.end(), std::string(action));
  record_state();
  operations_.push_back({.kind = Kind::kEvict,
                         .old_status = task.status,
                         .task = id,
                         .node = task.node,
                         .old_node = task.node,
                         .beneficiary = beneficiary,
                         .action = static_cast<std::uint32_t>(known - actions_.begin())});
  in_.model.move(id, TaskStatus::kEvicting, task.node);
  if (in_.plugins.answers<TaskRemoved>()) ask<TaskRemoved>(task);
}

void Journal::undo(const Operation& operation) {
  Task& task = in_.model.edit_task(operation.task);
  if (operation.kind != Kind::kEvict && in_.plugins.answers<TaskRemoved>()) ask<TaskRemoved>(task);
  task.eviction_occurred = false;
  in_.model.move(operation.task, operation.old_status, operation.old_node);
  if (operation.kind == Kind::kEvict && in_.plugins.answers<TaskPlaced>()) ask<TaskPlaced>(task);
}

void Journal::rollback(Mark mark) {
  while (operations_.size() > mark) {
    const Operation& operation = operations_.back();
    Task& task = in_.model.edit_task(operation.task);
    if (operation.kind != Kind::kEvict) {
      task.last_cycle = in_.cycle;
      task.last_status = task.status;
      task.last_node = task.node;
      task.last_eviction = task.eviction_occurred;
    }
    undo(operation);
    operations_.pop_back();
  }
  compare_state("a rollback");
}

void Journal::plan_bind(TaskId id) {
  const TaskText& text = in_.model.text(id);
  const Task& task = in_.model.task(id);
  PlannedBind bind{
      .ns = text.ns.str(), .pod = text.name.str(), .uid = text.uid.str(), .node = in_.model.nodes[task.node].name};
  if (const auto* promised = in_.model.volumes.promises_of(id)) bind.volumes = *promised;
  bind.node_lock = in_.model.devices.lock_of(id);
  bind.claims = plan_of(in_.model.claims, id);
  if (const Annotations* devices = in_.model.devices.granted(id))
    bind.annotations.insert(devices->begin(), devices->end());
  bind.volume_timeout = in_.model.volumes.bind_timeout;
  bind.task = id;
  plan_.binds.push_back(std::move(bind));
  in_.model.move(id, TaskStatus::kBinding, task.node);
}

void Journal::plan_eviction(const Operation& operation) {
  const TaskText& text = in_.model.text(operation.task);
  const Task& task = in_.model.task(operation.task);
  PlannedEviction out{text.ns.str(),
                      text.name.str(),
                      text.uid.str(),
                      in_.model.nodes[task.node].name,
                      actions_[operation.action],
                      "",
                      ""};
  if (task.job.is_set()) out.group = in_.model.job(task.job).key.str();
  if (operation.beneficiary.is_set()) out.for_group = in_.model.job(operation.beneficiary).key.str();
  if (task.job.is_set() && in_.model.job(task.job).has_group) {
    plan_.add_group_event(in_.model.job(task.job), "Normal", "Evict", out.action);
  }
  plan_.evictions.push_back(std::move(out));
}

bool Journal::is_held_since(Mark mark) const {
  if (!in_.plugins.answers<JobHeld>()) return false;
  for (std::size_t i = mark; i < operations_.size(); ++i) {
    const JobId job =
        operations_[i].kind == Kind::kEvict ? operations_[i].beneficiary : in_.model.task(operations_[i].task).job;
    if (!operations_[i].committed && job.is_set() && ask<JobHeld>(in_.model.job(job))) return true;
  }
  return false;
}

// A trial evicts nobody, so that no pod may be told a node that an eviction frees.
void Journal::hold(Mark mark) {
  for (std::size_t i = mark; i < operations_.size(); ++i) {
    if (operations_[i].kind != Kind::kPipeline) continue;
    Task& task = in_.model.edit_task(operations_[i].task);
    task.eviction_occurred = task.last_eviction = false;
  }
}

void Journal::commit(Mark mark) {
  if (is_held_since(mark)) return hold(mark);
  for (std::size_t i = mark; i < operations_.size(); ++i) {
    Operation& operation = operations_[i];
    if (operation.committed) continue;
    in_.model.edit_task(operation.task).last_cycle = 0;
    if (operation.kind == Kind::kPipeline) continue;
    operation.committed = true;
    if (operation.kind == Kind::kEvict)
      plan_eviction(operation);
    else
      plan_bind(operation.task);
  }
}

void Journal::dispatch_if_ready(JobId id) {
  const Job& job = in_.model.job(id);
  if (!ask<JobReady>(job) || ask<JobHeld>(job)) return;
  std::vector<TaskId> placed;
  for (const TaskId task : job.tasks) {
    if (in_.model.task(task).status == TaskStatus::kAllocated) placed.push_back(task);
  }
  std::sort(placed.begin(), placed.end(),
            [&](TaskId a, TaskId b) { return in_.model.text(a).name < in_.model.text(b).name; });
  for (const TaskId task : placed) plan_bind(task);
}

void Journal::take_back(TaskId id, Kind kind) {
  for (std::size_t i = operations_.size(); i-- > 0;) {
    if (operations_[i].task != id || operations_[i].kind != kind) continue;
    undo(operations_[i]);
    operations_.erase(operations_.begin() + static_cast<std::ptrdiff_t>(i));
    // Later changes were noted with the operation. After the last one, everything is as before it.
    if (i == operations_.size()) compare_state("taking the last operation back");
    states_.resize(std::min(states_.size(), i + 1));
    return;
  }
}

void Journal::remove_queue_gate(const Task& task) {
  if (!task.queue_gate_only || !task.queue_gate_opt_in || !in_.model.gates.on("SchedulingGatesQueueAdmission")) return;
  if (!ungated_.insert(task.id.index).second) return;  // tried in several domains
  const TaskText& text = in_.model.text(task.id);
  plan_.gate_removals.push_back({text.ns.str(), text.name.str(), text.uid.str(), std::string(kQueueGate)});
}

std::vector<Journal::Saved> Journal::saved_since(Mark mark) const {
  std::vector<Saved> out;
  for (std::size_t i = mark; i < operations_.size(); ++i) {
    const Operation& one = operations_[i];
    const auto kind = one.kind == Kind::kEvict      ? Saved::Kind::kEvict
                      : one.kind == Kind::kPipeline ? Saved::Kind::kPipeline
                                                    : Saved::Kind::kAllocate;
    out.push_back({one.task, one.node, kind, in_.model.task(one.task).eviction_occurred, one.beneficiary, one.action});
  }
  return out;
}

bool Journal::replay(const std::vector<Saved>& operations) {
  for (const Saved& one : operations) {
    if (one.kind == Saved::Kind::kEvict) {
      evict(one.task, actions_[one.action], one.beneficiary);
    } else if (one.kind == Saved::Kind::kPipeline ? !pipeline(one.task, one.node, one.eviction_occurred)
                                                  : !allocate(one.task, one.node)) {
      return false;
    }
  }
  return true;
}

std::map<std::string, std::string> Journal::promised() const {
  std::map<std::string, std::string> out;
  for (const Operation& operation : operations_) {
    const Task& task = in_.model.task(operation.task);
    if (operation.kind == Kind::kPipeline && task.status == TaskStatus::kPipelined) {
      out[in_.model.task_key(operation.task)] = in_.model.nodes[task.node].name;
    }
  }
  return out;
}

void Journal::close() {
  for (std::size_t i = operations_.size(); i-- > 0;) {
    const Operation& operation = operations_[i];
    const TaskStatus status = in_.model.task(operation.task).status;
    if (operation.kind == Kind::kEvict) {
      if (!operation.committed)
        undo(operation);
      else
        in_.model.move(operation.task, TaskStatus::kReleasing, operation.node);
    } else if (status == TaskStatus::kAllocated || status == TaskStatus::kPipelined) {
      undo(operation);
    }
  }
  operations_.clear();
}

}  // namespace scheduler

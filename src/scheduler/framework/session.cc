// What happens between the opening and the close of one scheduling cycle?
#include "scheduler/framework/session.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "scheduler/framework/state_hash.h"

namespace scheduler {

std::vector<JobId> Session::jobs_to_look_at() {
  std::vector<JobId> out = in_.model.open_jobs();
  std::erase_if(out, [&](JobId id) {
    const Job& job = in_.model.job(id);
    return !job.queue.is_set() || !in_.model.queue(job.queue).in_use;
  });
  std::sort(out.begin(), out.end(), [&](JobId a, JobId b) { return in_.model.job(a).key < in_.model.job(b).key; });
  return out;
}

bool Session::job_before(const Job& a, const Job& b) const {
  if (const int order = ask<JobOrder>(a, b); order != 0) return order < 0;
  if (a.created_ns != b.created_ns) return a.created_ns < b.created_ns;
  return a.key < b.key;
}

bool Session::task_before(const Task& a, const Task& b) const {
  if (const int order = ask<TaskOrder>(a, b); order != 0) return order < 0;
  if (a.name_index >= 0 && b.name_index >= 0 && a.name_index != b.name_index) return a.name_index < b.name_index;
  if (a.created_ns != b.created_ns) return a.created_ns < b.created_ns;
  return in_.model.text(a.id).uid < in_.model.text(b.id).uid;
}

bool Session::queue_before(const Queue& a, const Queue& b) const {
  if (const int order = ask<QueueOrder>(a, b); order != 0) return order < 0;
  if (a.created_ns != b.created_ns) return a.created_ns < b.created_ns;
  return a.uid != b.uid ? a.uid < b.uid : a.name < b.name;
}

// Before an operation is done.
void Session::note_state() {
  if (!in_.proves_rollbacks) return;
  states_.resize(journal_.size());
  states_.push_back(state_hash(in_.model));
}

// After everything from the end of the journal on was undone.
void Session::compare_state(std::string_view what) {
  if (!in_.proves_rollbacks || states_.size() <= journal_.size()) return;
  const std::optional<std::uint64_t> before = states_[journal_.size()];
  if (before && *before != state_hash(in_.model))
    bad_rollbacks_.push_back(base::format("{} left traces, {} operations deep", what, journal_.size()));
  states_.resize(journal_.size());
}

bool Session::place(Kind kind, TaskId id, NodeId node, bool eviction_occurred) {
  Task& task = in_.model.edit_task(id);
  CHECK(task.status == TaskStatus::kPending);
  note_state();
  journal_.push_back({.kind = kind, .old_status = task.status, .task = id, .node = node, .old_node = task.node});
  task.eviction_occurred = eviction_occurred;
  in_.model.move(id, kind == Kind::kAllocate ? TaskStatus::kAllocated : TaskStatus::kPipelined, node);
  if (in_.plugins.answers<TaskPlaced>()) {
    if (Refusal refusal = ask<TaskPlaced>(task)) {
      rollback(journal_.size() - 1);
      task.last_cycle = 0;
      return false;
    }
  }
  return true;
}

bool Session::allocate(TaskId task, NodeId node) { return place(Kind::kAllocate, task, node, false); }

bool Session::pipeline(TaskId task, NodeId node, bool eviction_occurred) {
  return place(Kind::kPipeline, task, node, eviction_occurred);
}

void Session::evict(TaskId id, std::string_view action, JobId beneficiary) {
  const Task& task = in_.model.task(id);
  auto known = std::find(actions_.begin(), actions_.end(), action);
  if (known == actions_.end()) known = actions_.insert(actions_.end(), std::string(action));
  note_state();
  journal_.push_back({.kind = Kind::kEvict,
                      .old_status = task.status,
                      .task = id,
                      .node = task.node,
                      .old_node = task.node,
                      .beneficiary = beneficiary,
                      .action = static_cast<std::uint32_t>(known - actions_.begin())});
  in_.model.move(id, TaskStatus::kEvicting, task.node);
  if (in_.plugins.answers<TaskRemoved>()) ask<TaskRemoved>(task);
}

void Session::undo(const Operation& operation) {
  Task& task = in_.model.edit_task(operation.task);
  if (operation.kind != Kind::kEvict && in_.plugins.answers<TaskRemoved>()) ask<TaskRemoved>(task);
  task.eviction_occurred = false;
  in_.model.move(operation.task, operation.old_status, operation.old_node);
  if (operation.kind == Kind::kEvict && in_.plugins.answers<TaskPlaced>()) ask<TaskPlaced>(task);
}

void Session::rollback(Mark mark) {
  while (journal_.size() > mark) {
    const Operation& operation = journal_.back();
    Task& task = in_.model.edit_task(operation.task);
    if (operation.kind != Kind::kEvict) {
      task.last_cycle = in_.cycle;
      task.last_status = task.status;
      task.last_node = task.node;
      task.last_eviction = task.eviction_occurred;
    }
    undo(operation);
    journal_.pop_back();
  }
  compare_state("a rollback");
}

void Session::plan_bind(TaskId id) {
  const TaskText& text = in_.model.text(id);
  const Task& task = in_.model.task(id);
  PlannedBind bind{.ns = text.ns, .pod = text.name, .uid = text.uid, .node = in_.model.nodes[task.node].name};
  if (const auto* promised = in_.model.volumes.promises_of(id)) bind.volumes = *promised;
  bind.node_lock = in_.model.devices.lock_of(id);
  bind.claims = in_.model.claims.plan_of(id);
  if (const Annotations* devices = in_.model.devices.granted(id))
    bind.annotations.insert(devices->begin(), devices->end());
  bind.volume_timeout = in_.model.volumes.bind_timeout;
  plan_.binds.push_back(std::move(bind));
  in_.model.move(id, TaskStatus::kBinding, task.node);
}

void Session::plan_eviction(const Operation& operation) {
  const TaskText& text = in_.model.text(operation.task);
  const Task& task = in_.model.task(operation.task);
  PlannedEviction out{text.ns, text.name, text.uid, in_.model.nodes[task.node].name, actions_[operation.action],
                      "",      ""};
  if (task.job.is_set()) out.group = in_.model.job(task.job).key;
  if (operation.beneficiary.is_set()) out.for_group = in_.model.job(operation.beneficiary).key;
  if (task.job.is_set() && in_.model.job(task.job).has_group) {
    group_event(in_.model.job(task.job), "Normal", "Evict", out.action);
  }
  plan_.evictions.push_back(std::move(out));
}

bool Session::is_held_since(Mark mark) const {
  if (!in_.plugins.answers<JobHeld>()) return false;
  for (std::size_t i = mark; i < journal_.size(); ++i) {
    const JobId job = journal_[i].kind == Kind::kEvict ? journal_[i].beneficiary : in_.model.task(journal_[i].task).job;
    if (!journal_[i].committed && job.is_set() && ask<JobHeld>(in_.model.job(job))) return true;
  }
  return false;
}

void Session::commit(Mark mark) {
  if (is_held_since(mark)) return;
  for (std::size_t i = mark; i < journal_.size(); ++i) {
    Operation& operation = journal_[i];
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

void Session::dispatch_if_ready(JobId id) {
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

void Session::unpipeline(TaskId id) { take_back(id, Kind::kPipeline); }

void Session::take_back(TaskId id, Kind kind) {
  for (std::size_t i = journal_.size(); i-- > 0;) {
    if (journal_[i].task != id || journal_[i].kind != kind) continue;
    undo(journal_[i]);
    journal_.erase(journal_.begin() + static_cast<std::ptrdiff_t>(i));
    // What comes later was noted with the operation. Where it was the last one, everything is as before it.
    if (i == journal_.size()) compare_state("taking the last operation back");
    states_.resize(std::min(states_.size(), i + 1));
    return;
  }
}

void Session::remove_queue_gate(const Task& task) {
  if (!task.queue_gate_only || !task.queue_gate_opt_in || !in_.model.gates.on("SchedulingGatesQueueAdmission")) return;
  if (!ungated_.insert(task.id.index).second) return;  // tried in several domains
  const TaskText& text = in_.model.text(task.id);
  plan_.gate_removals.push_back({text.ns, text.name, text.uid, std::string(kQueueGate)});
}

const JobTrouble* Session::find_trouble(JobId job) const {
  auto found = troubles_.find(job.index);
  return found == troubles_.end() ? nullptr : &found->second;
}

void Session::set_condition(JobId id, std::string type, std::string reason, std::string message) {
  Job& job = in_.model.edit_job(id);
  old_status_.emplace(id.index, job.status);
  if (type == "Unschedulable") unschedulable_now_[id.index] = true;
  GroupCondition fresh{std::move(type), "True", std::move(reason), std::move(message), in_.uid, in_.now};
  for (GroupCondition& condition : job.status.conditions) {
    if (condition.type != fresh.type) continue;
    condition = std::move(fresh);
    return;
  }
  job.status.conditions.push_back(std::move(fresh));
}

void Session::set_phase(JobId id, GroupPhase phase) {
  Job& job = in_.model.edit_job(id);
  old_status_.emplace(id.index, job.status);
  job.status.phase = phase;
  in_.model.note_changed(id);
}

bool Session::is_new_refusal(const Job& job, const std::string& message) {
  ToldRefusals& told = in_.told_refusals[job.id.index];
  if (told.group_uid != job.group_uid) told = {.group_uid = job.group_uid};
  if (told.cycle != in_.cycle) {
    told.cycle = in_.cycle;
    told.before = std::exchange(told.now, {});
  }
  return told.now.insert(message).second && !told.before.contains(message);
}

void Session::group_event(const Job& job, std::string type, std::string reason, std::string message) {
  if (type == "Normal" && reason == "Unschedulable") {
    refusals_[job.id.index] = message;
    if (!is_new_refusal(job, message)) return;
  }
  plan_.group_events.push_back(
      {job.ns, job.name, job.group_uid, std::move(type), std::move(reason), std::move(message)});
}

}  // namespace scheduler

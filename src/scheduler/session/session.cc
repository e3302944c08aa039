// What happens between the opening and the close of one scheduling cycle?
#include "scheduler/session/session.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "scheduler/session/state_hash.h"

namespace scheduler {

Session::Session(SessionInput input) : in_(std::move(input)), changed_before_(in_.model.job_capacity()) {
  for (const JobId id : in_.changed_jobs) changed_before_[id.index] = true;
}

std::vector<JobId> Session::jobs_to_look_at() {
  std::vector<JobId> out = in_.model.open_jobs();
  std::erase_if(out, [&](JobId id) {
    const Job& job = in_.model.job(id);
    return !job.queue.is_set() || !in_.model.queue(job.queue).in_use;
  });
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
  PlannedBind bind{
      .ns = text.ns.str(), .pod = text.name.str(), .uid = text.uid.str(), .node = in_.model.nodes[task.node].name};
  if (const auto* promised = in_.model.volumes.promises_of(id)) bind.volumes = *promised;
  bind.node_lock = in_.model.devices.lock_of(id);
  bind.claims = in_.model.claims.plan_of(id);
  if (const Annotations* devices = in_.model.devices.granted(id))
    bind.annotations.insert(devices->begin(), devices->end());
  bind.volume_timeout = in_.model.volumes.bind_timeout;
  bind.task = id;
  plan_.binds.push_back(std::move(bind));
  in_.model.move(id, TaskStatus::kBinding, task.node);
}

void Session::plan_eviction(const Operation& operation) {
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
  plan_.gate_removals.push_back({text.ns.str(), text.name.str(), text.uid.str(), std::string(kQueueGate)});
}

const JobTrouble* Session::find_trouble(JobId job) const {
  auto found = troubles_.find(job.index);
  return found == troubles_.end() ? nullptr : &found->second;
}

void Session::set_condition(JobId id, std::string_view type, std::string_view reason, std::string_view message) {
  Job& job = in_.model.edit_job(id);
  old_status_.emplace(id.index, job.status);
  if (type == "Unschedulable") unschedulable_now_[id.index] = true;
  SharedTexts& shared = in_.model.shared_texts;
  GroupCondition fresh{shared.share(type),    shared.share("True"),  shared.share(reason),
                       shared.share(message), shared.share(in_.uid), in_.now};
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

void Session::refuse(const Job& job, std::string message, bool tell) {
  if (rehearses_) return rehearsed_.push_back({job.id, std::move(message), tell});
  const std::uint64_t digest = std::hash<std::string_view>{}(message) | 1;
  if (digest != job.last_refusal) {
    in_.model.edit_job(job.id).last_refusal = digest;
    in_.model.note_changed(job.id);
    if (tell) group_event(job, "Normal", "Unschedulable", message);
  }
  refusals_.insert_or_assign(job.id.index, std::move(message));
}

void Session::end_rehearsal(bool take_effect) {
  rehearses_ = false;
  for (auto& [job, message, tell] : std::exchange(rehearsed_, {})) {
    if (take_effect) refuse(in_.model.job(job), std::move(message), tell);
  }
}

void Session::group_event(const Job& job, std::string type, std::string reason, std::string message) {
  plan_.group_events.push_back({std::string(job.ns()), std::string(job.name()), job.group_uid.str(), std::move(type),
                                std::move(reason), std::move(message)});
}

}  // namespace scheduler

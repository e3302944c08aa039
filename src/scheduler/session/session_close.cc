// What is written about jobs, pods and queues when a cycle ends?
#include <algorithm>
#include <iterator>
#include <tuple>

#include "base/format.h"
#include "scheduler/model/core/group_status.h"
#include "scheduler/model/queue_path.h"
#include "scheduler/session/session.h"

namespace scheduler {
namespace {

// The reason of a task's condition, without the text beside it.
std::string_view reason_word(TaskStatus status) {
  switch (status) {
    case TaskStatus::kAllocated: return "Schedulable";
    case TaskStatus::kPending:
    case TaskStatus::kPipelined: return "Unschedulable";
    default: return name_of(status);
  }
}

}  // namespace

std::string Session::job_text(const Job& job) const {
  std::map<std::string, std::int64_t, std::less<>> statuses, reasons;
  for (std::size_t s = 0; s < kTaskStatusCount; ++s) {
    if (job.counts[s] != 0) statuses.emplace(kTaskStatusNames[s], job.counts[s]);
  }
  std::string out = job.is_ready() ? "pod group is ready, " : "pod group is not ready, ";
  out += histogram_text(statuses, {base::format("{} minAvailable", job.min_available)});
  for (const TaskId id : job.tasks) {
    const Task& task = in_.model.task(id);
    if (task.status != TaskStatus::kPending) continue;
    const std::string_view word = reason_word(task.last_cycle == in_.cycle ? task.last_status : task.status);
    auto known = reasons.find(word);
    if (known == reasons.end()) known = reasons.emplace(word, 0).first;
    ++known->second;
  }
  if (!reasons.empty()) out += "; Pending: " + histogram_text(reasons);
  if (const JobTrouble* trouble = find_trouble(job.id)) {
    if (!trouble->text.empty()) {
      out += ". Origin reason is: " + trouble->text;
    } else if (!trouble->by_task.empty()) {
      const auto& [name, errors] = *trouble->by_task.begin();
      out += base::format(". Origin reason is {}: {}", name, errors.text());
    }
  }
  return out;
}

Session::TaskReason Session::task_reason(const Task& task) const {
  TaskStatus status = task.status;
  NodeId node = task.node;
  bool evicted = task.eviction_occurred;
  if (task.last_cycle == in_.cycle) {
    status = task.last_status;
    node = task.last_node;
    evicted = task.last_eviction;
  }
  TaskReason out{std::string(reason_word(status)), {}, {}};
  const std::string_view node_name = node.is_set() ? std::string_view(in_.model.nodes[node].name) : "";
  if (status == TaskStatus::kAllocated) {
    out.message = base::format("Pod {} can possibly be assigned to {}, once minAvailable is satisfied",
                               in_.model.task_key(task.id), node_name);
    return out;
  }
  if (status == TaskStatus::kPipelined) {
    out.message =
        base::format("Pod {} can possibly be assigned to {}, once resource is released and minAvailable is satisfied",
                     in_.model.task_key(task.id), node_name);
    if (evicted) out.nominated_node = node_name;
    return out;
  }
  const JobTrouble* trouble = task.job.is_set() ? find_trouble(task.job) : nullptr;
  if (trouble == nullptr) return out;
  out.message = trouble->text;
  if (status != TaskStatus::kPending) return out;
  if (auto found = trouble->by_task.find(in_.model.text(task.id).name.view()); found != trouble->by_task.end())
    out.message = found->second.text();
  return out;
}

void Session::compute_phase(Job& job) {
  const bool unschedulable = unschedulable_now_.contains(job.id.index);
  const std::int32_t completed = job.count(TaskStatus::kFailed) + job.count(TaskStatus::kSucceeded);
  const std::int32_t scheduled = job.scheduled_count() + job.releasing_on_node;
  GroupStatus& status = job.status;
  if (job.count(TaskStatus::kRunning) > 0 && unschedulable) {
    status.phase = GroupPhase::kUnknown;
  } else if (scheduled >= job.min_available) {
    status.phase = scheduled == completed ? GroupPhase::kCompleted : GroupPhase::kRunning;
  } else if (status.phase != GroupPhase::kInqueue) {
    status.phase = GroupPhase::kPending;
  }
  status.running = job.count(TaskStatus::kRunning);
  status.failed = job.count(TaskStatus::kFailed);
  status.succeeded = job.count(TaskStatus::kSucceeded);
}

void Session::close_tasks(const Job& job) {
  std::vector<TaskId> waiting;
  for (const TaskId id : job.tasks) {
    const Task& task = in_.model.task(id);
    const bool waits = task.status == TaskStatus::kPending || task.status == TaskStatus::kAllocated ||
                       task.status == TaskStatus::kPipelined;
    if (waits && !task.gated && in_.model.text(id).ours) waiting.push_back(id);
  }
  std::sort(waiting.begin(), waiting.end(),
            [&](TaskId a, TaskId b) { return in_.model.text(a).name < in_.model.text(b).name; });
  for (const TaskId id : waiting) {
    TaskReason reason = task_reason(in_.model.task(id));
    if (reason.message.empty()) reason.message = kAllNodesUnavailable;
    TaskText& text = in_.model.edit_text(id);
    const bool nominates = !reason.nominated_node.empty() && reason.nominated_node != text.nominated_node;
    if (text.condition_reason == reason.reason && text.condition_message == reason.message && !nominates) continue;
    text.condition_reason = in_.model.shared_texts.share(reason.reason);
    text.condition_message = in_.model.shared_texts.share(reason.message);
    if (nominates) text.nominated_node = in_.model.shared_texts.share(reason.nominated_node);
    plan_.pod_conditions.push_back({text.ns.str(), text.name.str(), text.uid.str(), reason.reason, reason.message,
                                    nominates ? reason.nominated_node : ""});
  }
}

// Everything said of the job and its pods follows from the job itself, its troubles and refusals, and nothing of that
// differs from its last close: saying it again would change nothing.
bool Session::is_quiet(const Job& job) const {
  return !in_.all_jobs_changed && !in_.queues_changed && !changed_before_[job.id.index] && !job.listed_changed &&
         !job.met_trouble && find_trouble(job.id) == nullptr && !old_status_.contains(job.id.index) &&
         (job.last_refusal != 0) == refusals_.contains(job.id.index);
}

// Of quiet jobs: other reasons than admission's depend on what other jobs of the queue hold.
void Session::refresh_reasons() {
  for (const JobId id : in_.model.open_jobs()) {
    const Job& job = in_.model.job(id);
    if (!job.waits() || !is_in_session(job) || !is_quiet(job)) continue;
    const auto known = in_.known_reasons.find(id);
    if (known != in_.known_reasons.end() && known->second.kind == WaitKind::kNotAdmitted) continue;
    reasons_.emplace_back(id, wait_reason(job));
  }
}

bool Session::is_in_session(const Job& job) const {
  return job.in_use && job.has_group && job.queue.is_set() && in_.model.queue(job.queue).in_use;
}

void Session::close_job(JobId id, GroupStatus before) {
  Job& job = in_.model.edit_job(id);
  job.met_trouble = find_trouble(id) != nullptr;
  if (!refusals_.contains(id.index)) job.last_refusal = 0;
  compute_phase(job);
  const Symbol domain = job.topology ? job.topology->allocated : Symbol{};
  const bool moved = domain != job.written_domain;
  const bool updated = moved || !says_the_same(before, job.status);
  if (updated) {
    plan_.groups.push_back({std::string(job.ns()), std::string(job.name()), job.status, {}});
    // Said with every write: a later write may take the place of one that waits.
    if (moved || job.topology)
      plan_.groups.back().allocated_domain = domain.is_set() ? in_.model.symbols.text(domain) : "";
    job.written_domain = domain;
    in_.model.note_changed(id);  // a group that went back to Pending waits for admission again
  }
  // An unchanged condition keeps its time and transition, as on the server.
  if (!updated) job.status = std::move(before);
  const GroupPhase phase = job.status.phase;
  const bool waits = phase == GroupPhase::kUnknown || phase == GroupPhase::kPending || phase == GroupPhase::kInqueue;
  if (waits && job.is_ready() && job.count(TaskStatus::kPending) == 0) {
    // On its way: nothing is left to decide, so there is nothing to warn of.
    job.last_event.clear();
  } else if (waits) {
    std::string text = base::format("{}/{} tasks in gang unschedulable: {}", job.count(TaskStatus::kPending),
                                    job.task_count(), job_text(job));
    if (text != job.last_event) {
      job.last_event = in_.model.shared_texts.share(text);
      group_event(job, "Warning", "Unschedulable", std::move(text));
    }
  } else if (updated) {
    job.last_event.clear();
    group_event(job, "Normal", "Scheduled", "pod group is ready");
  }
  close_tasks(job);
}

std::vector<JobId> Session::jobs_to_close() {
  std::vector<JobId> out = in_.changed_jobs;
  const std::vector<JobId> changed_now = in_.model.peek_changed_jobs();
  out.insert(out.end(), changed_now.begin(), changed_now.end());
  const std::vector<JobId>& open = in_.model.open_jobs();
  std::copy_if(open.begin(), open.end(), std::back_inserter(out),
               [&](JobId id) { return !is_quiet(in_.model.job(id)); });
  std::erase_if(out, [&](JobId id) { return !is_in_session(in_.model.job(id)); });
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  std::sort(out.begin(), out.end(), [&](JobId a, JobId b) { return in_.model.job(a).key < in_.model.job(b).key; });
  return out;
}

void Session::close_queues() {
  Model& model = in_.model;
  const QueueId root = model.find_queue("root");
  std::vector<Resource> totals(model.queue_count());
  for (std::uint32_t q = 0; q < model.queue_count(); ++q) {
    const Queue& queue = model.queue(QueueId{q});
    if (!queue.in_use || queue.jobs == 0) continue;
    const Resource own(queue.allocated);
    for_each_up_to_root(model, root, queue.id, [&](QueueId at) { totals[at.index] += own; });
  }
  std::vector<JobId> changed = in_.changed_jobs;
  changed.insert(changed.end(), model.peek_changed_jobs().begin(), model.peek_changed_jobs().end());
  in_.queue_devices.settle(model, in_.plugins, changed, in_.all_jobs_changed);
  for (std::uint32_t q = 0; q < model.queue_count(); ++q) {
    Queue& queue = model.edit_queue(QueueId{q});
    if (!queue.in_use) continue;
    for (const auto& [dim, amount] : in_.queue_devices.of(queue.id)) {
      const double sum = totals[q].get(dim) + static_cast<double>(amount);
      if (sum != 0 || totals[q].has(dim)) totals[q].set(dim, sum);
    }
    api::ResourceList list;
    for (Dim d = 0; d < totals[q].size(); ++d) {
      if (totals[q].has(d)) list.emplace(model.dimensions.name(d), Dimensions::quantity_of(d, totals[q].get(d)));
    }
    if (list == queue.status_allocated && !queue.status_lost) continue;
    queue.status_lost = false;
    std::vector<std::string> gone;
    for (const auto& [name, quantity] : queue.status_allocated) {
      if (!list.contains(name)) gone.push_back(name);
    }
    queue.status_allocated = list;
    plan_.queues.push_back({queue.name, std::move(list), std::move(gone)});
  }
}

// The nodes that this session could use are a promise to other schedulers; they read it once the session has ended.
void Session::close_shard() {
  NodeShards& shards = in_.model.shards;
  if (shards.mode == ShardingMode::kNone || shards.own() == nullptr) return;
  NodeShard fresh = *shards.own();
  fresh.in_use = shards.usable();
  fresh.to_add.clear();
  fresh.to_remove.clear();
  std::set_difference(fresh.desired.begin(), fresh.desired.end(), fresh.in_use.begin(), fresh.in_use.end(),
                      std::inserter(fresh.to_add, fresh.to_add.end()));
  std::set_difference(fresh.in_use.begin(), fresh.in_use.end(), fresh.desired.begin(), fresh.desired.end(),
                      std::inserter(fresh.to_remove, fresh.to_remove.end()));
  if (fresh == *shards.own()) return;
  plan_.shards.push_back({shards.own_name,
                          {fresh.in_use.begin(), fresh.in_use.end()},
                          {fresh.to_remove.begin(), fresh.to_remove.end()},
                          {fresh.to_add.begin(), fresh.to_add.end()},
                          in_.now});
  shards.set(std::string(shards.own_name), std::move(fresh));
}

void Session::report_tasks() {
  for (const Operation& operation : journal_) {
    const Task& task = in_.model.task(operation.task);
    if (operation.kind == Kind::kPipeline && task.status == TaskStatus::kPipelined) {
      pipelined_[in_.model.task_key(operation.task)] = in_.model.nodes[task.node].name;
    }
  }
  if (!keep_tasks_) return;
  for (std::uint32_t i = 0; i < in_.model.task_capacity(); ++i) {
    const Task& task = in_.model.task(TaskId{i});
    if (!task.in_use) continue;
    task_reports_[in_.model.task_key(task.id)] = {task.status,
                                                  task.node.is_set() ? in_.model.nodes[task.node].name : ""};
  }
}

void Session::undo_uncommitted() {
  for (std::size_t i = journal_.size(); i-- > 0;) {
    const Operation& operation = journal_[i];
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
  journal_.clear();
}

Plan Session::close(const Stopwatch& stopwatch) {
  in_.plugins.close(*this, stopwatch, closing_times_);
  if (in_.keeps_reasons) refresh_reasons();
  for (const JobId id : jobs_to_close()) {
    auto old = old_status_.find(id.index);
    close_job(id, old == old_status_.end() ? in_.model.job(id).status : std::move(old->second));
    if (in_.keeps_reasons && in_.model.job(id).waits()) reasons_.emplace_back(id, wait_reason(in_.model.job(id)));
  }
  close_queues();
  close_shard();
  report_tasks();
  undo_uncommitted();
  // Each group's in the order in which they came about; between groups the order in which they were asked means
  // nothing.
  std::stable_sort(plan_.group_events.begin(), plan_.group_events.end(),
                   [](const PlannedGroupEvent& a, const PlannedGroupEvent& b) {
                     return std::tie(a.ns, a.name) < std::tie(b.ns, b.name);
                   });
  return std::move(plan_);
}

}  // namespace scheduler

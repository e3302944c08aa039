// The scheduler's model of the cluster.
#include "scheduler/model/model.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "base/check.h"
#include "scheduler/model/missing_claim.h"

namespace scheduler {
namespace {

constexpr std::size_t kTouchedMax = 1 << 20;

// Promised pods count: backfill may take a promise back.
bool is_open(const Job& job) {
  return job.in_use && job.has_group &&
         (job.is_pending() || job.count(TaskStatus::kPending) + job.count(TaskStatus::kPipelined) > 0);
}

// Names that neither a minimum nor a task has any more: a group may be given others again and again.
void drop_unused_roles(Job& job, std::vector<Task>& tasks) {
  std::vector<std::uint32_t> now(job.roles.size());
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < job.roles.size(); ++i) {
    if (!job.roles[i].is_used()) continue;
    now[i] = kept;
    if (kept != i) job.roles[kept] = std::move(job.roles[i]);
    ++kept;
  }
  if (kept == job.roles.size()) return;
  job.roles.erase(job.roles.begin() + kept, job.roles.end());
  for (const TaskId task : job.tasks) tasks[task.index].role = now[tasks[task.index].role];
}

}  // namespace

Model::Model() = default;

std::string Model::task_key(TaskId id) const {
  const TaskText& text = texts_[id.index];
  std::string out;
  out.reserve(text.ns.view().size() + 1 + text.name.view().size());
  return out.append(text.ns).append("/").append(text.name);
}

TaskId Model::find_task(std::string_view key) const {
  return task_by_key_.find(IdTable<TaskId>::hash_of(key), [&](TaskId id) {
    const std::string_view ns = texts_[id.index].ns, name = texts_[id.index].name;
    return key.size() == ns.size() + 1 + name.size() && key.ends_with(name) && key[ns.size()] == '/' &&
           key.starts_with(ns);
  });
}

std::uint32_t Model::role_for(Job& job, std::string_view role) {
  auto unused = static_cast<std::uint32_t>(job.roles.size());
  for (std::uint32_t i = 0; i < job.roles.size(); ++i) {
    if (job.roles[i].name == role) return i;
    if (!job.roles[i].is_used()) unused = i;
  }
  if (unused == job.roles.size()) job.roles.emplace_back();
  job.roles[unused] = {.name = shared_texts.share(role)};
  return unused;
}

TaskId Model::add_task(TaskFacts facts) {
  TaskId id{static_cast<std::uint32_t>(tasks_.size())};
  if (!free_tasks_.empty()) {
    id.index = free_tasks_.back();
    free_tasks_.pop_back();
  } else {
    tasks_.emplace_back();
    texts_.emplace_back();
  }
  const TaskStatus status = facts.task.status;
  Task& task = tasks_[id.index] = facts.task;
  texts_[id.index] = std::move(facts.text);
  task.id = id;
  task.in_use = true;
  task.shape = facts.shape;
  task.labels = facts.labels;
  task.best_effort = shape(facts.shape).best_effort;
  shapes_.use(task.shape, 1);
  if (task.labels.is_set()) pods.use_labels(task.labels, 1);
  task_by_key_.insert(IdTable<TaskId>::hash_of(task_key(id)), id);
  // Enters as Pending without a node, then moves to where the pod is.
  task.status = TaskStatus::kPending;
  task.node = NodeId{};
  ++shapes_.edit(task.shape).pending;
  if (!facts.group.empty()) {
    task.job = find_or_add_job(facts.group);
    Job& job = jobs_[task.job.index];
    task.role = role_for(job, facts.role);
    task.job_slot = static_cast<std::uint32_t>(job.tasks.size());
    job.tasks.push_back(id);
    ++job.pod_changes;
    if (job.topology) join_sub_job(task);
    count_in_job(task, TaskStatus::kPending, 1);
    sum_in_job(task, kEffectPending, 1);
    mark_changed(task.job);
  }
  const bool placed = !facts.node.empty() && !is_terminated(status);
  move(id, status, placed ? nodes.find_or_add(facts.node) : NodeId{});
  return id;
}

bool Model::update_task(TaskId id, TaskFacts& facts) {
  Task& task = tasks_[id.index];
  const std::string_view group = task.job.is_set() ? jobs_[task.job.index].key.view() : "";
  const std::string_view role = task.job.is_set() ? jobs_[task.job.index].roles[task.role].name.view() : facts.role;
  if (task.shape != facts.shape || task.labels != facts.labels || group != facts.group || role != facts.role)
    return false;
  if (task.gated != facts.task.gated) return false;
  const TaskStatus status = facts.task.status;
  const bool placed = !facts.node.empty() && !is_terminated(status);
  const NodeId node = placed ? nodes.find_or_add(facts.node) : NodeId{};
  task.priority = facts.task.priority;
  task.preemptable = facts.task.preemptable;
  task.never_preempts = facts.task.never_preempts;
  task.critical = facts.task.critical;
  task.ours = facts.task.ours;
  task.preempted = facts.task.preempted;
  task.protected_until_ns = facts.task.protected_until_ns;
  task.pod_priority = facts.task.pod_priority;
  task.queue_gate_only = facts.task.queue_gate_only;
  task.queue_gate_opt_in = facts.task.queue_gate_opt_in;
  texts_[id.index] = std::move(facts.text);
  const NodeId from = task.node;
  move(id, status, node);
  if (from.is_set() && from != node) nodes.remove_if_unused(from);
  return true;
}

void Model::remove_task(TaskId id) {
  const NodeId node = tasks_[id.index].node;
  move(id, TaskStatus::kPending, NodeId{});
  Task& task = tasks_[id.index];
  volumes.withdraw(id);
  workloads.forget_task(id);
  claims.withdraw(id);
  devices.forget_task(id);
  --shapes_.edit(task.shape).pending;
  shapes_.use(task.shape, -1);
  if (task.labels.is_set()) pods.use_labels(task.labels, -1);
  if (task.job.is_set()) {
    count_in_job(task, TaskStatus::kPending, -1);
    sum_in_job(task, kEffectPending, -1);
    Job& job = jobs_[task.job.index];
    const TaskId last = job.tasks.back();
    job.tasks[task.job_slot] = last;
    tasks_[last.index].job_slot = task.job_slot;
    job.tasks.pop_back();
    ++job.pod_changes;
    mark_changed(task.job);
    remove_job_if_empty(task.job);
  }
  task_by_key_.erase(IdTable<TaskId>::hash_of(task_key(id)), id);
  task = Task{};
  texts_[id.index] = TaskText{};
  free_tasks_.push_back(id.index);
  if (node.is_set()) nodes.remove_if_unused(node);
}

void Model::ungate(TaskId id) {
  Task& task = tasks_[id.index];
  if (!task.gated || task.status != TaskStatus::kPending) return;
  task.gated = task.queue_gate_only = false;
  if (!task.job.is_set()) return;
  --jobs_[task.job.index].gated;
  mark_changed(task.job);
}

void Model::see(const Task& task, NodeId node, TaskStatus status, std::int64_t sign) {
  const Shape& s = shapes_[task.shape];
  nodes.account_seen(node, s.nonzero_cpu, s.nonzero_memory, s.request.parts[0].amount, s.request.parts[1].amount, sign);
  pods.place(s, task.labels, node, is_releasing(status), sign);
}

void Model::move(TaskId id, TaskStatus status, NodeId node) {
  Task& task = tasks_[id.index];
  const TaskStatus before = task.status;
  const NodeId from = task.node;
  if (before == status && from == node) return;
  const Request& request = shapes_[task.shape].request;
  const std::uint8_t old_effects = effects_of(before);
  const std::uint8_t new_effects = effects_of(status);
  constexpr std::uint8_t kOnNode = kEffectUsed | kEffectReleasing | kEffectPipelined;
  if (from != node || ((old_effects ^ new_effects) & kOnNode) != 0) {
    if (from.is_set()) nodes.account(from, request, old_effects & kOnNode, -1);
    if (node.is_set()) nodes.account(node, request, new_effects & kOnNode, 1);
  }
  const bool seen_before = from.is_set() && (old_effects & kEffectSeen);
  const bool seen_after = node.is_set() && (new_effects & kEffectSeen);
  if (from != node || seen_before != seen_after || is_releasing(before) != is_releasing(status)) {
    if (seen_before) see(task, from, before, -1);
    if (seen_after) see(task, node, status, 1);
  }
  if (from != node) {
    if (from.is_set()) {
      auto& list = nodes.row(from).tasks;
      const TaskId last = list.back();
      list[task.node_slot] = last;
      tasks_[last.index].node_slot = task.node_slot;
      list.pop_back();
    }
    if (node.is_set()) {
      auto& list = nodes.row(node).tasks;
      task.node_slot = static_cast<std::uint32_t>(list.size());
      list.push_back(id);
    }
  }
  if (from.is_set()) touch(from);
  if (node.is_set() && node != from) touch(node);
  if (task.job.is_set()) {
    if (before != status || from.is_set() != node.is_set()) count_in_job(task, before, -1);
    const std::uint8_t changed = (old_effects ^ new_effects) & (kEffectAllocated | kEffectPipelined | kEffectPending);
    if (changed != 0) {
      sum_in_job(task, old_effects & changed, -1);
      sum_in_job(task, new_effects & changed, 1);
    }
  }
  if (before == TaskStatus::kPending && status != TaskStatus::kPending) --shapes_.edit(task.shape).pending;
  if (before != TaskStatus::kPending && status == TaskStatus::kPending) ++shapes_.edit(task.shape).pending;
  const bool recount = before != status || from.is_set() != node.is_set();
  task.status = status;
  task.node = node;
  if ((before == TaskStatus::kEvicting) != (status == TaskStatus::kEvicting)) lend_claims(*this, task);
  if (task.job.is_set() && recount) {
    count_in_job(task, status, 1);
    mark_changed(task.job);
  }
}

void Model::count_in_job(const Task& task, TaskStatus status, std::int32_t sign) {
  Job& job = jobs_[task.job.index];
  Role& role = job.roles[task.role];
  job.counts[static_cast<std::size_t>(status)] += sign;
  role.counts[static_cast<std::size_t>(status)] += sign;
  if (status == TaskStatus::kPending && task.gated) job.gated += sign;
  if (status == TaskStatus::kPending && task.best_effort) {
    job.pending_best_effort += sign;
    role.pending_best_effort += sign;
  }
  if (is_releasing(status) && task.node.is_set()) job.releasing_on_node += sign;
  if (job.topology) {
    SubJob& part = job.topology->sub_jobs[sub_job_of_[task.id.index]];
    part.counts[static_cast<std::size_t>(status)] += sign;
    if (status == TaskStatus::kPending && task.best_effort) part.pending_best_effort += sign;
  }
}

void Model::sum_in_job(const Task& task, std::uint8_t effects, std::int64_t sign) {
  Job& job = jobs_[task.job.index];
  const Request& request = shapes_[task.shape].request;
  Queue* queue = job.queue.is_set() ? &queues_[job.queue.index] : nullptr;
  if (effects & kEffectAllocated) {
    job.allocated.add(request, sign);
    if (queue != nullptr) queue->allocated.add(request, sign);
  }
  if (effects & kEffectPipelined) {
    job.pipelined.edit().add(request, sign);
    if (queue != nullptr) queue->pipelined.add(request, sign);
  }
  if (effects & kEffectPending && queue != nullptr) queue->pending.add(request, sign);
}

JobId Model::find_job(std::string_view key) const {
  return job_by_key_.find(IdTable<JobId>::hash_of(key), [&](JobId id) { return jobs_[id.index].key == key; });
}

JobId Model::find_or_add_job(std::string_view key) {
  if (const JobId found = find_job(key); found.is_set()) return found;
  JobId id{static_cast<std::uint32_t>(jobs_.size())};
  if (!free_jobs_.empty()) {
    id.index = free_jobs_.back();
    free_jobs_.pop_back();
  } else {
    jobs_.emplace_back();
  }
  Job& job = jobs_[id.index];
  const bool changed = job.listed_changed, open = job.listed_open;
  const std::uint64_t changes = job.changes;
  job = Job{};
  job.changes = changes;  // who remembers something of the job that had this id sees that it is another one
  job.listed_changed = changed;
  job.listed_open = open;
  if (open) open_jobs_sorted_ = 0;  // it stands in the list with its new key
  job.id = id;
  job.in_use = true;
  job.key = key;
  job_by_key_.insert(IdTable<JobId>::hash_of(key), id);
  sorted_jobs_.add(id);
  mark_changed(id);
  return id;
}

void Model::sum_job_in_queue(const Job& job, std::int64_t sign) {
  if (!job.queue.is_set()) return;
  Queue& queue = queues_[job.queue.index];
  queue.jobs += static_cast<std::int32_t>(sign);
  for (const TaskId id : job.tasks) {
    const Task& task = tasks_[id.index];
    const Request& request = shapes_[task.shape].request;
    const std::uint8_t effects = effects_of(task.status);
    if (effects & kEffectAllocated) queue.allocated.add(request, sign);
    if (effects & kEffectPipelined) queue.pipelined.add(request, sign);
    if (effects & kEffectPending) queue.pending.add(request, sign);
  }
}

void Model::set_job_queue(JobId id, std::string_view queue_name) {
  Job& job = jobs_[id.index];
  const QueueId queue = queue_name.empty() ? QueueId{} : find_or_add_queue(queue_name);
  job.queue_name = shared_texts.share(queue_name);
  if (job.queue == queue) return;
  sum_job_in_queue(job, -1);
  job.queue = queue;
  sum_job_in_queue(job, 1);
  // The use of a node by queues is another sum now.
  for (const TaskId task : job.tasks) {
    if (tasks_[task.index].node.is_set()) touch(tasks_[task.index].node);
  }
  mark_changed(id);
}

void Model::name_queue(TaskId id, std::string_view queue_name) {
  const JobId owner = tasks_[id.index].job;
  if (queue_name.empty() || !owner.is_set()) return;
  Job& job = jobs_[owner.index];
  if (!job.named_by_pods.empty() && job.named_by_pods.view() <= queue_name) return;
  job.named_by_pods = shared_texts.share(queue_name);
  if (!job.has_group) set_job_queue(owner, queue_name);
}

void Model::set_role_minimums(JobId id, const std::vector<std::pair<std::string, std::int32_t>>& minimums) {
  Job& job = jobs_[id.index];
  for (Role& role : job.roles) role.min = 0, role.has_min = false;
  job.roles_min_total = 0;
  job.has_role_minimums = !minimums.empty();
  // There may be thousands.
  std::unordered_map<std::string_view, std::uint32_t> known;
  for (std::uint32_t i = 0; i < job.roles.size(); ++i) known.emplace(job.roles[i].name.view(), i);
  for (const auto& [name, min] : minimums) {
    const auto [at, is_new] = known.try_emplace(name, static_cast<std::uint32_t>(job.roles.size()));
    if (is_new) job.roles.emplace_back().name = shared_texts.share(name);
    Role& role = job.roles[at->second];
    role.min = min;
    role.has_min = true;
    job.roles_min_total += min;
  }
  drop_unused_roles(job, tasks_);
  mark_changed(id);
}

void Model::join_sub_job(const Task& task) {
  if (sub_job_of_.size() <= task.id.index) sub_job_of_.resize(tasks_.size());
  Job& job = jobs_[task.job.index];
  sub_job_of_[task.id.index] = sub_job_for(*job.topology, job.key, pods.label_set(task.labels).labels, symbols);
}

void Model::set_topology(JobId id, std::unique_ptr<JobTopology> topology) {
  Job& job = jobs_[id.index];
  const std::unique_ptr<JobTopology> before = std::exchange(job.topology, std::move(topology));
  if (!job.topology) {
    if (before) topology_jobs_.erase(id);
    return;
  }
  topology_jobs_.insert(id);
  for (const TaskId one : job.tasks) {
    const Task& task = tasks_[one.index];
    join_sub_job(task);
    SubJob& part = job.topology->sub_jobs[sub_job_of_[one.index]];
    ++part.counts[static_cast<std::size_t>(task.status)];
    if (task.status == TaskStatus::kPending && task.best_effort) ++part.pending_best_effort;
  }
  if (!before) return;
  job.topology->allocated = before->allocated;
  for (const SubJob& old : before->sub_jobs) {
    const auto same = job.topology->by_uid.find(old.uid);
    if (same != job.topology->by_uid.end()) job.topology->sub_jobs[same->second].allocated = old.allocated;
  }
}

void Model::settle_sub_jobs(JobId id) {
  Job& job = jobs_[id.index];
  if (!job.topology) return;
  for (SubJob& part : job.topology->sub_jobs) part.priority = 0;
  for (const TaskId one : job.tasks) {
    SubJob& part = job.topology->sub_jobs[sub_job_of_[one.index]];
    part.priority = std::max(part.priority, tasks_[one.index].priority);
  }
}

void Model::remove_job_if_empty(JobId id) {
  Job& job = jobs_[id.index];
  if (!job.in_use || job.has_group || !job.tasks.empty()) return;
  set_job_queue(id, "");
  set_topology(id, nullptr);
  job_by_key_.erase(IdTable<JobId>::hash_of(job.key), id);
  sorted_jobs_.remove(id);
  job.in_use = false;
  free_jobs_.push_back(id.index);
}

void Model::mark_changed(JobId id) {
  Job& job = jobs_[id.index];
  ++job.changes;
  if (!job.listed_changed) {
    job.listed_changed = true;
    changed_jobs_.push_back(id);
  }
  if (!job.listed_open && is_open(job)) {
    job.listed_open = true;
    open_jobs_.push_back(id);
  }
}

const std::vector<JobId>& Model::open_jobs() {
  const auto closed = [&](JobId id) {
    Job& job = jobs_[id.index];
    if (is_open(job)) return false;
    job.listed_open = false;
    return true;
  };
  // Jobs that came since the last question stand behind the rest, mostly few among many.
  const auto begin = open_jobs_.begin(), added = begin + static_cast<std::ptrdiff_t>(open_jobs_sorted_);
  const auto middle = std::remove_if(begin, added, closed);
  const auto end = std::move(added, std::remove_if(added, open_jobs_.end(), closed), middle);
  const auto before = [&](JobId a, JobId b) { return jobs_[a.index].key < jobs_[b.index].key; };
  std::sort(middle, end, before);
  std::inplace_merge(begin, middle, end, before);
  open_jobs_.erase(end, open_jobs_.end());
  open_jobs_sorted_ = open_jobs_.size();
  return open_jobs_;
}

std::vector<JobId> Model::take_changed_jobs() {
  for (const JobId id : changed_jobs_) jobs_[id.index].listed_changed = false;
  return std::exchange(changed_jobs_, {});
}

QueueId Model::find_queue(std::string_view name) const {
  auto found = queue_by_name_.find(name);
  return found != queue_by_name_.end() && queues_[found->second.index].in_use ? found->second : QueueId{};
}

QueueId Model::find_or_add_queue(std::string_view name) {
  if (auto found = queue_by_name_.find(name); found != queue_by_name_.end()) return found->second;
  const QueueId id{static_cast<std::uint32_t>(queues_.size())};
  queues_.emplace_back();
  queues_.back().id = id;
  queues_.back().name = name;
  queue_by_name_.emplace(std::string(name), id);
  return id;
}

void Model::trim_touched() {
  if (touched_.size() < kTouchedMax) return;
  touched_.clear();
  ++touched_epoch_;
}

void Model::refresh_priority(JobId id) {
  Job& job = jobs_[id.index];
  std::int32_t priority = default_priority.value_or(0);
  if (auto found = priority_classes.find(job.priority_class.view()); found != priority_classes.end())
    priority = found->second;
  priority = job.extras().priority.value_or(priority);
  if (job.priority == priority) return;
  job.priority = priority;
  mark_changed(id);
}

void Model::refresh_all_priorities() {
  for (std::uint32_t j = 0; j < jobs_.size(); ++j) {
    if (jobs_[j].in_use) refresh_priority(JobId{j});
  }
}

}  // namespace scheduler

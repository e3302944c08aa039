// The writes about jobs, pods and queues when a cycle ends.
#include <algorithm>

#include "base/format.h"
#include "scheduler/ledger/ledger.h"
#include "scheduler/model/core/group_status.h"
#include "scheduler/model/missing_claim.h"
#include "scheduler/session/session.h"

namespace scheduler {
namespace {

constexpr std::string_view kGroupIsReady = "pod group is ready";

// The reason of a task's condition, without the text beside it.
std::string_view reason_word(TaskStatus status) {
  switch (status) {
    case TaskStatus::kAllocated: return "Schedulable";
    case TaskStatus::kPending:
    case TaskStatus::kPipelined: return "Unschedulable";
    default: return name_of(status);
  }
}

// The text that the reader needs first comes first; what others search for stays as Volcano writes it.
std::string after_sentence(std::string_view sentence, std::string_view text) {
  if (sentence.empty() || sentence == text) return std::string(text);
  return base::format("{}. {}", sentence, text);
}

// All its pods are there and have a node: nothing is left to decide.
bool is_on_its_way(const Job& job) { return job.is_ready() && job.count(TaskStatus::kPending) == 0; }

// Whether all pods of a group that was made for them have just started: nothing follows soon that this could be said
// with, and whoever sees them run looks at the group.
bool has_just_started(const Job& job, const GroupStatus& reported, const GroupStatus& status) {
  return job.phase == GroupPhase::kRunning && is_made_for_pods(job.name()) && reported.running == 0 &&
         status.running > 0 && status.running == static_cast<std::int64_t>(job.task_count());
}

// Pods are made for a group that is let in, and a group that waits is looked after; that it runs is told to people.
bool is_phase_awaited(const Job& job) {
  if (job.phase == GroupPhase::kInqueue)
    return !is_made_for_pods(job.name()) && (job.tasks.empty() || !is_on_its_way(job));
  return job.phase != GroupPhase::kRunning && job.phase != GroupPhase::kCompleted;
}

// As controllers make it of a pod without an owner: what becomes of the group is what becomes of the pod.
bool is_made_for_its_pod(const Model& model, const Job& job) {
  constexpr std::string_view kPrefix = "podgroup-";
  if (job.task_count() != 1 || !job.name().starts_with(kPrefix)) return false;
  return job.name().substr(kPrefix.size()) == model.text(job.tasks.front()).uid.str();
}

bool is_in_session(const Model& model, const Job& job) {
  return job.in_use && job.has_group && job.queue.is_set() && model.queue(job.queue).in_use;
}

// Evictions for the group that led to nothing are told to the scheduler that comes after this one.
Text round_of(const Ledger& ledger, JobId id) {
  const auto found = ledger.eviction_rounds.find(id);
  return found == ledger.eviction_rounds.end() ? Text() : found->second.text;
}

// By their keys. If many have changed, a walk along the order of all costs less than sorting them.
void sort_by_key(const Model& model, std::vector<JobId>& jobs) {
  if (jobs.size() * 16 < model.job_capacity()) {
    std::sort(jobs.begin(), jobs.end(), [&](JobId a, JobId b) { return model.job(a).key < model.job(b).key; });
    return;
  }
  std::vector<bool> chosen(model.job_capacity());
  for (const JobId id : jobs) chosen[id.index] = true;
  jobs.clear();
  model.for_each_job([&](const Job& job) {
    if (chosen[job.id.index]) jobs.push_back(job.id);
  });
}

}  // namespace

Statuses::Statuses(const SessionInput& input, const JobProblems& troubles, Plan& plan)
    : in_(input), troubles_(troubles), plan_(plan), refusals_(input), changed_before_(input.model.job_capacity()) {
  for (const JobId id : in_.changed_jobs) changed_before_[id.index] = true;
}

GroupCondition Statuses::new_condition(std::string_view type, std::string_view reason, std::string_view message) const {
  SharedTexts& shared = in_.model.shared_texts;
  return {shared.share(type),    shared.share("True"),  shared.share(reason),
          shared.share(message), shared.share(in_.uid), in_.now};
}

void Statuses::set_condition(JobId id, std::string_view type, std::string_view reason, std::string_view message) {
  put_condition(conditions_[id.index], new_condition(type, reason, message));
}

void Statuses::set_phase(JobId id, GroupPhase phase) {
  in_.model.edit_job(id).phase = phase;
  if (phase == GroupPhase::kInqueue) update_pod_changes(id, true);  // its pods are made from now on
  in_.model.mark_changed(id);
}

std::string Statuses::waiting_text(const Job& job, std::int32_t unschedulable) const {
  return after_sentence(why_(job).sentence, base::format("{}/{} tasks in gang unschedulable: {}", unschedulable,
                                                         job.task_count(), job_text(job)));
}

std::string Statuses::job_text(const Job& job) const {
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
  if (const JobProblem* trouble = troubles_.find(job.id)) {
    if (!trouble->text.empty()) {
      out += ". Origin reason is: " + trouble->text;
    } else if (!trouble->by_task.empty()) {
      const auto& [name, errors] = *trouble->by_task.begin();
      out += base::format(". Origin reason is {}: {}", name, errors.text());
    }
  }
  return out;
}

Statuses::TaskReason Statuses::task_reason(const Task& task) const {
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
  const JobProblem* trouble = task.job.is_set() ? troubles_.find(task.job) : nullptr;
  if (trouble == nullptr) return out;
  out.message = trouble->text;
  if (status != TaskStatus::kPending) return out;
  if (auto found = trouble->by_task.find(in_.model.text(task.id).name.view()); found != trouble->by_task.end())
    out.message = found->second.text();
  return out;
}

GroupPhase Statuses::phase_of(const Job& job) const {
  const auto set_now = conditions_.find(job.id.index);
  const bool unschedulable =
      set_now != conditions_.end() && std::any_of(set_now->second.begin(), set_now->second.end(),
                                                  [](const auto& one) { return one.type == "Unschedulable"; });
  const std::int32_t completed = job.count(TaskStatus::kFailed) + job.count(TaskStatus::kSucceeded);
  const std::int32_t scheduled = job.scheduled_count() + job.releasing_on_node;
  if (job.count(TaskStatus::kRunning) > 0 && unschedulable) return GroupPhase::kUnknown;
  // A group whose pods wait or are on their way is not over, and without a minimum it has not begun before one is
  // there. DIFFERS(waiting-is-not-completed): docs/compat says why.
  const bool waits = job.count(TaskStatus::kPending) + job.count(TaskStatus::kPipelined) +
                         job.count(TaskStatus::kAllocated) + job.count(TaskStatus::kBinding) >
                     0;
  const bool has_begun = scheduled > 0 || !waits;
  if (scheduled >= job.min_available && has_begun)
    return scheduled == completed && !waits ? GroupPhase::kCompleted : GroupPhase::kRunning;
  return job.phase == GroupPhase::kInqueue ? GroupPhase::kInqueue : GroupPhase::kPending;
}

// A pod that has its node and waits for a volume is said in a condition, which goes when the wait is over.
void Statuses::put_volume_wait(const Job& job, std::vector<GroupCondition>& conditions) const {
  const auto& waits = in_.ledger.binding_waits;
  for (const TaskId id : job.tasks) {
    if (waits.empty() || in_.model.task(id).status != TaskStatus::kBinding) continue;
    const auto wait = waits.find(in_.model.task_key(id));
    if (wait == waits.end()) continue;
    const std::string message = base::format("pod {}: {}", in_.model.text(id).name.view(), wait->second);
    return put_condition(conditions, new_condition("Unschedulable", "WaitForVolume", message));
  }
  std::erase_if(conditions, [&](const GroupCondition& one) { return one.reason == "WaitForVolume"; });
}

// The status that the group should have. Conditions stay until others of their type come.
GroupStatus Statuses::status_of(const Job& job, bool with_conditions) const {
  GroupStatus out = in_.ledger.group(job.id).status;
  if (const auto set_now = conditions_.find(job.id.index); with_conditions && set_now != conditions_.end()) {
    for (const GroupCondition& one : set_now->second) put_condition(out.conditions, one);
  }
  put_volume_wait(job, out.conditions);
  out.phase = job.phase;
  out.running = job.count(TaskStatus::kRunning);
  out.failed = job.count(TaskStatus::kFailed);
  out.succeeded = job.count(TaskStatus::kSucceeded);
  return out;
}

// The message for a pod. The text that was `found` for the pod itself is kept, and stands after the group's reason only
// where whoever leaves does not help. Without such a text, another pod or the group is in trouble, and its reason is
// the pod's.
std::string Statuses::text_beside(const Job& job, TaskStatus shown, std::string found) const {
  if (!found.empty() && (!job.waits() || shown != TaskStatus::kPending)) return found;
  const Explanation why = why_(job);
  if (!found.empty()) return why.is_impossible ? after_sentence(why.sentence, found) : found;
  if (why.sentence.empty()) return std::string(kAllNodesUnavailable);
  // Without the number of those that are there, as each of them would be told of each that comes.
  if (why.kind == WaitKind::kNotEnoughPods)
    return base::format("waits for other pods of its group: {} start together", job.min_available);
  return std::string(why.sentence);
}

void Statuses::close_tasks(const Job& job) {
  std::vector<TaskId> waiting;
  for (const TaskId id : job.tasks) {
    const Task& task = in_.model.task(id);
    const bool waits = task.status == TaskStatus::kPending || task.status == TaskStatus::kAllocated ||
                       task.status == TaskStatus::kPipelined;
    if (waits && !task.gated && task.ours) waiting.push_back(id);
  }
  const auto status_notified = [&](const Task& task) {
    return task.last_cycle == in_.cycle ? task.last_status : task.status;
  };
  std::sort(waiting.begin(), waiting.end(),
            [&](TaskId a, TaskId b) { return in_.model.text(a).name < in_.model.text(b).name; });
  for (const TaskId id : waiting) {
    TaskReason reason = task_reason(in_.model.task(id));
    reason.message = text_beside(job, status_notified(in_.model.task(id)), std::move(reason.message));
    report(id, std::move(reason));
  }
}

void Statuses::report(TaskId id, TaskReason reason) {
  const PodReport& reported = in_.ledger.pod(id);
  const bool nominates = !reason.nominated_node.empty() && reason.nominated_node != reported.nominated_node.view();
  if (reported.reason == reason.reason && reported.message == reason.message && !nominates) return;
  SharedTexts& shared = in_.model.shared_texts;
  TaskText& text = in_.model.edit_text(id);
  if (nominates) text.nominated_node = shared.share(reason.nominated_node);
  in_.ledger.record(id, {shared.share(reason.reason), shared.share(reason.message),
                         nominates ? text.nominated_node : reported.nominated_node});
  plan_.pod_conditions.push_back({text.ns.str(), text.name.str(), text.uid.str(), std::move(reason.reason),
                                  std::move(reason.message), nominates ? reason.nominated_node : ""});
}

void Statuses::report_pod(TaskId task, std::string message) {
  report(task, {std::string(reason_word(TaskStatus::kPending)), std::move(message), {}});
}

// Everything said of the job and its pods follows from the job itself, its troubles and refusals, and nothing of that
// differs from its last close: saying it again would change nothing. Why it
// waits may also rest on what the nodes offer.
bool Statuses::is_quiet(const Job& job) const {
  const bool waits = job.phase == GroupPhase::kUnknown || job.phase == GroupPhase::kPending ||
                     job.phase == GroupPhase::kInqueue || !job.is_ready() || job.count(TaskStatus::kPending) > 0;
  const bool rests_on_nodes = in_.nodes_changed && waits;
  return !in_.all_jobs_changed && !in_.queues_changed && !rests_on_nodes && !changed_before_[job.id.index] &&
         !job.listed_changed &&
         in_.ledger.is_quiet(job, {.trouble = troubles_.digest_of(job.id),
                                   .is_refused = refusals_.of(job.id) != nullptr,
                                   .has_conditions = conditions_.contains(job.id.index)});
}

void Statuses::update_pod_changes(JobId id, bool begins) {
  GroupReport& reported = in_.ledger.edit_group(id);
  const std::uint32_t now = in_.model.job(id).pod_changes;
  if (!begins && reported.unchanged_since.is_set() && reported.pod_changes == now) return;
  reported.pod_changes = now;
  reported.unchanged_since = in_.now;
}

bool Statuses::still_arrives(const Job& job) {
  if (in_.arrival_grace.ns <= 0) return false;
  const base::Time due = in_.ledger.group(job.id).unchanged_since + in_.arrival_grace;
  const bool is_refused = job.is_pending() && refusals_.of(job.id) != nullptr;
  const bool may_wait = !is_refused && in_.model.queue(job.queue).state == QueueState::kOpen;
  // A group without any of the pods that it was made for has nobody to tell.
  const bool is_early = job.tasks.empty() && is_made_for_pods(job.name());
  if (!may_wait || is_early || due <= in_.now ||
      !(static_cast<bool>(ask<JobValid>(job)) || lacks_claims(in_.model, job))) {
    in_.ledger.arriving.erase(job.id);
    return may_wait && is_early;
  }
  in_.ledger.arriving.insert_or_assign(job.id, due);
  return true;
}

void Statuses::close_job(JobId id) {
  Job& job = in_.model.edit_job(id);
  GroupReport& reported = in_.ledger.edit_group(id);
  reported.trouble = troubles_.digest_of(id);
  report_refusal(job);
  const GroupPhase phase_reported = reported.status.phase, phase_before = job.phase;
  job.phase = phase_of(job);
  // The group's reserve depends on its phase, and a group that went back to Pending waits for admission again.
  if (job.phase != phase_before) in_.model.mark_changed(id);
  update_pod_changes(id, false);
  const bool arrives = still_arrives(job);
  GroupStatus status = status_of(job, !arrives);
  const Symbol domain = job.topology ? job.topology->allocated : Symbol{};
  const bool moved = domain != reported.domain;
  const Text round = round_of(in_.ledger, id);
  const bool updated = moved || round != reported.round || !is_same_status(reported.status, status);
  if (updated) {
    PlannedGroupStatus& planned = plan_.groups.emplace_back();
    planned = {.ns = std::string(job.ns()),
               .name = std::string(job.name()),
               .uid = job.group_uid.str(),
               .status = status,
               .is_urgent = moved || (job.phase != phase_reported && is_phase_awaited(job)) ||
                            has_just_started(job, reported.status, status)};
    // Said with every write: a later write may take the place of one that waits.
    if (moved || job.topology) planned.allocated_domain = domain.is_set() ? in_.model.symbols.text(domain) : "";
    if (!round.empty() || !reported.round.empty()) planned.eviction_round = round.str();
    reported.domain = domain;
    reported.round = round;
    reported.status = std::move(status);  // else an unchanged condition keeps its time and transition, as on the server
  }
  if (arrives) return;
  report_group(job, updated);
  close_tasks(job);
}

void Statuses::report_refusal(const Job& job) {
  const AdmissionRefusal* refusal = refusals_.of(job.id);
  const std::uint64_t digest = refusal != nullptr ? digest_of(*refusal) : 0;
  GroupReport& reported = in_.ledger.edit_group(job.id);
  const bool is_new = digest != 0 && digest != reported.refusal;
  reported.refusal = digest;
  if (is_new && refusal->in_event)
    plan_.add_group_event(job, "Normal", "Unschedulable", after_sentence(why_(job).sentence, refusal->message));
}

void Statuses::report_group(const Job& job, bool updated) {
  GroupReport& reported = in_.ledger.edit_group(job.id);
  const GroupPhase phase = job.phase;
  const bool waits = phase == GroupPhase::kUnknown || phase == GroupPhase::kPending || phase == GroupPhase::kInqueue;
  if (waits && is_on_its_way(job)) {
    reported.event.clear();  // there is nothing to warn of
  } else if (waits) {
    std::string text = waiting_text(job, job.count(TaskStatus::kPending));
    if (text != reported.event) {
      reported.event = in_.model.shared_texts.share(text);
      plan_.add_group_event(job, "Warning", "Unschedulable", std::move(text));
    }
  } else if (updated && reported.event != kGroupIsReady) {
    // COMPAT(ready-said-once): each pod that starts or ends changes the status, and makes the group no readier.
    reported.event = in_.model.shared_texts.share(kGroupIsReady);
    if (is_made_for_its_pod(in_.model, job)) return;
    plan_.add_group_event(job, "Normal", "Scheduled", std::string(kGroupIsReady));
  }
}

const std::vector<JobId>& Statuses::quiet_jobs() {
  if (!sorted_out_) {
    sorted_out_ = true;
    for (const JobId id : in_.model.open_jobs()) {
      const Job& job = in_.model.job(id);
      if (is_in_session(in_.model, job)) (is_quiet(job) ? quiet_ : loud_).push_back(id);
    }
  }
  return quiet_;
}

std::vector<JobId> Statuses::jobs_to_close() {
  quiet_jobs();
  const auto before = [&](JobId a, JobId b) { return in_.model.job(a).key < in_.model.job(b).key; };
  std::vector<JobId> out = in_.changed_jobs;
  const std::vector<JobId> changed_now = in_.model.peek_changed_jobs();
  out.insert(out.end(), changed_now.begin(), changed_now.end());
  for (const auto& [id, due] : in_.ledger.arriving) {
    if (due <= in_.now) out.push_back(id);
  }
  for (const auto& [index, conditions] : conditions_) out.push_back(JobId{index});
  // A job that is gone may have the key of one that came.
  std::erase_if(out, [&](JobId id) { return !is_in_session(in_.model, in_.model.job(id)); });
  sort_by_key(in_.model, out);
  const auto sorted = static_cast<std::ptrdiff_t>(out.size());
  out.insert(out.end(), loud_.begin(), loud_.end());  // in that order already
  std::inplace_merge(out.begin(), out.begin() + sorted, out.end(), before);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace scheduler

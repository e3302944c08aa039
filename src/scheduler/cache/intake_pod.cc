// API objects in, the model kept current: pods.
#include "scheduler/cache/intake_pod.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/number.h"
#include "base/time.h"
#include "scheduler/cache/intake_gates.h"

namespace scheduler {
namespace {

constexpr std::string_view kGroupAnnotation = "scheduling.k8s.io/group-name";
constexpr std::string_view kRoleKey = "volcano.sh/task-spec";

// The parts of a pod that are asked for again and again.
struct PodParts {
  explicit PodParts(const api::Json& pod)
      : metadata(pod["metadata"]),
        labels(metadata["labels"]),
        annotations(metadata["annotations"]),
        spec(pod["spec"]),
        status(pod["status"]) {}

  const api::Json* annotation_or_label(std::string_view key) const {
    const api::Json* found = annotations.find(key);
    return found != nullptr ? found : labels.find(key);
  }

  const api::Json &metadata, &labels, &annotations, &spec, &status;
};

// The number at the end of names like "job-worker-3"; -1 when there is none.
std::int64_t name_index_of(std::string_view name) {
  if (std::count(name.begin(), name.end(), '-') < 2) return -1;
  const auto number = base::parse_number<std::int64_t>(name.substr(name.rfind('-') + 1));
  return number && *number >= 0 ? *number : -1;
}

// A running pod is protected for its cool-down time after it was scheduled.
std::int64_t protected_until(const PodParts& pod) {
  constexpr std::string_view kKey = "volcano.sh/cooldown-time";
  std::string_view text = pod.labels[kKey].as_string();
  if (text.empty()) text = pod.annotations[kKey].as_string();
  if (text.empty()) return 0;
  const auto span = base::parse_go_duration(text);
  if (!span) return 0;
  for (const api::Json& condition : pod.status["conditions"].items()) {
    if (condition["type"].as_string() != "PodScheduled" || condition["status"].as_string() != "True") continue;
    const auto since = base::parse_rfc3339(condition["lastTransitionTime"].as_string());
    if (since) return (*since + *span).ns;
  }
  return 0;
}

void read_gates(const PodParts& pod, Task& task) {
  const auto gates = pod.spec["schedulingGates"].items();
  task.gated = !gates.empty();
  task.queue_gate_only = gates.size() == 1 && gates[0]["name"].as_string() == kQueueGate;
  task.queue_gate_opt_in = pod.annotations[kQueueGate].as_string() == "true";
}

void read_task(const api::Json& object, const PodParts& pod, Task& task) {
  const api::Json& spec = pod.spec;
  const auto annotated = base::parse_number<std::int32_t>(pod.annotations["volcano.sh/task-priority"].as_string());
  task.priority = annotated ? *annotated : static_cast<std::int32_t>(spec["priority"].as_int(1));
  task.protected_until_ns = protected_until(pod);
  task.pod_priority = static_cast<std::int32_t>(spec["priority"].as_int());
  for (const api::Json& condition : pod.status["conditions"].items()) {
    task.preempted |= condition["type"].as_string() == "DisruptionTarget" &&
                      condition["status"].as_string() == "True" &&
                      condition["reason"].as_string() == "PreemptionByScheduler";
  }
  const api::Json* preemptable = pod.annotation_or_label("volcano.sh/preemptable");
  task.preemptable = preemptable == nullptr || parse_go_bool(preemptable->as_string());
  task.never_preempts = spec["preemptionPolicy"].as_string() == "Never";
  const std::string_view priority_class = spec["priorityClassName"].as_string();
  task.critical = priority_class == "system-cluster-critical" || priority_class == "system-node-critical" ||
                  pod.metadata["namespace"].as_string() == "kube-system";
  const auto created = base::parse_rfc3339(pod.metadata["creationTimestamp"].as_string());
  task.created_ns = created ? created->ns : 0;
  task.name_index = name_index_of(pod.metadata["name"].as_string());
  task.status = task_status_of(object);
  read_gates(pod, task);
}

// The queue that a pod names itself: controllers write it there.
std::string_view queue_named_by(const PodParts& pod) {
  if (const api::Json* named = pod.annotation_or_label("volcano.sh/queue-name")) return named->as_string();
  return pod.annotations["scheduling.volcano.sh/queue-name"].as_string();
}

TaskText text_of(const PodParts& pod, SharedTexts& shared_texts) {
  TaskText out;
  out.ns = shared_texts.share(pod.metadata["namespace"].as_string());
  out.name = pod.metadata["name"].as_string();
  out.uid = Uid(pod.metadata["uid"].as_string());
  out.resource_version = pod.metadata["resourceVersion"].as_string();
  out.nominated_node = shared_texts.share(pod.status["nominatedNodeName"].as_string());
  return out;
}

PodReport pod_reports(const PodParts& pod, SharedTexts& shared_texts) {
  PodReport out;
  out.nominated_node = shared_texts.share(pod.status["nominatedNodeName"].as_string());
  for (const api::Json& condition : pod.status["conditions"].items()) {
    if (condition["type"].as_string() != "PodScheduled" || condition["status"].as_string() != "False") continue;
    out.reason = shared_texts.share(condition["reason"].as_string());
    out.message = shared_texts.share(condition["message"].as_string());
  }
  return out;
}

}  // namespace

TaskStatus task_status_of(const api::Json& pod) {
  const std::string_view phase = pod["status"]["phase"].as_string();
  const bool deleting = api::is_deleting(pod);
  const bool placed = !pod["spec"]["nodeName"].as_string().empty();
  if (phase == "Running") return deleting ? TaskStatus::kReleasing : TaskStatus::kRunning;
  if (phase == "Succeeded") return TaskStatus::kSucceeded;
  if (phase == "Failed") return TaskStatus::kFailed;
  if (phase.empty() || phase == "Pending") {
    if (deleting) return TaskStatus::kReleasing;
    return placed ? TaskStatus::kBound : TaskStatus::kPending;
  }
  return TaskStatus::kUnknown;
}

bool PodIntake::is_ours(const api::Json& pod) const {
  const auto& names = options_.scheduler_names;
  return std::find(names.begin(), names.end(), pod["spec"]["schedulerName"].as_string()) != names.end() &&
         options_.share.owns_object(pod);
}

bool PodIntake::set(const api::Json& pod) { return options_.single_pods ? set_single(pod) : take(pod); }

bool PodIntake::take(const api::Json& pod) {
  const std::string key = api::key_of(pod);
  const PodParts parts(pod);
  const std::string_view node = parts.spec["nodeName"].as_string(), uid = parts.metadata["uid"].as_string();
  const TaskId known = model_.find_task(key);
  const bool same_pod = known.is_set() && model_.text(known).uid == uid;
  const bool ours = is_ours(pod);
  if (!ours && (node.empty() || !options_.share.owns(node))) {
    if (known.is_set()) forget(known);
    return known.is_set();
  }
  const bool is_over = api::is_deleting(pod) || is_terminated(task_status_of(pod));
  if (same_pod && node.empty() && is_allocated_like(model_.task(known).status) && !is_over) return false;
  TaskFacts facts;
  const std::string_view ns = parts.metadata["namespace"].as_string();
  const std::string_view group = options_.single_pods ? "" : parts.annotations[kGroupAnnotation].as_string();
  if (!group.empty()) (((facts.group = ns) += '/') += group);
  if (const api::Json* role = parts.annotation_or_label(kRoleKey)) facts.role = role->str();
  read_task(pod, parts, facts.task);
  facts.task.ours = ours;
  facts.text = text_of(parts, model_.shared_texts);
  facts.node = node;
  facts.shape = model_.shape_for(drops_fields_ ? without_gated_fields(pod, model_.gates) : pod);
  facts.labels = model_.pods.label_set_for(model_.symbols.intern(ns), parts.labels);
  const bool under_eviction = ledger_.flights.is_under_way(Entry::kEviction, uid);
  if (under_eviction && is_allocated_like(facts.task.status)) facts.task.status = TaskStatus::kReleasing;
  if (facts.task.gated && !model_.gates.on("PodSchedulingReadiness")) facts.task.gated = false;
  const Text version = facts.text.resource_version;
  if (same_pod && model_.update_task(known, facts)) {
    const bool differs = ledger_.observe(known, false, uid, version, pod_reports(parts, model_.shared_texts));
    if (differs && model_.task(known).job.is_set())
      model_.mark_changed(model_.task(known).job);  // somebody else wrote it: ours has to be said again
    model_.details.set(known, pod);
    model_.name_queue(known, queue_named_by(parts));
    if (model_.devices.set_task(known, pod) && model_.task(known).job.is_set())
      model_.mark_changed(model_.task(known).job);
    return true;
  }
  if (known.is_set()) model_.remove_task(known);
  const TaskId made = model_.add_task(std::move(facts));
  ledger_.observe(made, true, uid, version, pod_reports(parts, model_.shared_texts));
  model_.details.set(made, pod);
  model_.name_queue(made, queue_named_by(parts));
  model_.workloads.set_owner(made, pod);
  model_.devices.set_task(made, pod);
  return true;
}

bool PodIntake::remove(const api::Json& pod) { return options_.single_pods ? remove_single(pod) : drop(pod); }

bool PodIntake::drop(const api::Json& pod) {
  const TaskId known = model_.find_task(api::key_of(pod));
  ledger_.flights.end(Entry::kEviction, api::uid_of(pod));
  if (!known.is_set() || model_.text(known).uid != api::uid_of(pod)) return false;
  forget(known);
  return true;
}

// No later event reports its end: what the model does not hold is not watched.
void PodIntake::forget(TaskId id) {
  const std::string uid = model_.text(id).uid.str();
  ledger_.flights.end(Entry::kEviction, uid);
  ledger_.forget_pod(id, uid);
  model_.remove_task(id);
}

void PodIntake::bind_failed(std::string_view pod_key, std::string_view uid) {
  const TaskId id = model_.find_task(pod_key);
  const bool is_over = this->is_over(pod_key, uid);
  if (!id.is_set() || model_.text(id).uid != uid || (!is_over && model_.task(id).status != TaskStatus::kBinding))
    return;
  model_.volumes.withdraw(id);
  model_.claims.withdraw(id);
  model_.devices.revoke(id);
  if (is_over) return;
  model_.move(id, TaskStatus::kPending, NodeId{});
  if (options_.single_pods) record_not_bound(pod_key, uid);
}

bool PodIntake::is_over(std::string_view key, std::string_view uid) const {
  const TaskId id = model_.find_task(key);
  if (!id.is_set() || model_.text(id).uid != uid) return true;
  const TaskStatus status = model_.task(id).status;
  return is_releasing(status) || is_terminated(status);
}

void PodIntake::eviction_failed(std::string_view pod_key, std::string_view uid) {
  ledger_.flights.end(Entry::kEviction, uid);
  const TaskId id = model_.find_task(pod_key);
  if (!id.is_set() || model_.text(id).uid != uid || model_.task(id).status != TaskStatus::kReleasing) return;
  model_.move(id, TaskStatus::kRunning, model_.task(id).node);
}

void PodIntake::record_condition(std::string_view key, std::string_view uid, std::string_view reason,
                                 std::string_view message) {
  const TaskId id = model_.find_task(key);
  if (!id.is_set() || model_.text(id).uid != uid) return;
  SharedTexts& shared = model_.shared_texts;
  ledger_.record(id, {shared.share(reason), shared.share(message), ledger_.pod(id).nominated_node});
}

void PodIntake::binding_waits(std::string_view key) {
  const TaskId id = model_.find_task(key);
  if (id.is_set() && model_.task(id).job.is_set()) model_.mark_changed(model_.task(id).job);
}

std::optional<PodIntake::GroupName> PodIntake::group_of(std::string_view key) const {
  const TaskId id = model_.find_task(key);
  if (!id.is_set() || !model_.task(id).job.is_set()) return std::nullopt;
  const Job& job = model_.job(model_.task(id).job);
  if (!job.has_group) return std::nullopt;
  return GroupName{std::string(job.name()), job.group_uid.str()};
}

void PodIntake::status_lost(std::string_view key, std::string_view uid) {
  const TaskId id = model_.find_task(key);
  if (!id.is_set() || model_.text(id).uid != uid) return;
  ledger_.lose_pod(id, uid);
  if (model_.task(id).job.is_set()) model_.mark_changed(model_.task(id).job);
}

bool PodIntake::takes_answer(const api::Json& pod) const {
  const TaskId known = model_.find_task(api::key_of(pod));
  return known.is_set() && model_.text(known).uid == api::uid_of(pod) &&
         !is_newer(model_.text(known).resource_version, api::resource_version_of(pod));
}

}  // namespace scheduler

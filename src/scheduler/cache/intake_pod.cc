// API objects in, the model kept current: pods and nodes.
#include <algorithm>

#include "base/format.h"
#include "base/number.h"
#include "base/time.h"
#include "scheduler/cache/intake.h"

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

PodSays pod_says(const PodParts& pod, SharedTexts& shared_texts) {
  PodSays out;
  out.nominated_node = shared_texts.share(pod.status["nominatedNodeName"].as_string());
  for (const api::Json& condition : pod.status["conditions"].items()) {
    if (condition["type"].as_string() != "PodScheduled" || condition["status"].as_string() != "False") continue;
    out.reason = shared_texts.share(condition["reason"].as_string());
    out.message = shared_texts.share(condition["message"].as_string());
  }
  return out;
}

std::vector<ImageOnNode> images_of(const api::Json& node, Symbols& symbols) {
  std::vector<ImageOnNode> out;
  for (const api::Json& image : node["status"]["images"].items()) {
    for (const api::Json& name : image["names"].items()) {
      out.push_back({symbols.intern(name.as_string()), image["sizeBytes"].as_int()});
    }
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

bool Intake::is_ours(const api::Json& pod) const {
  const auto& names = options_.scheduler_names;
  return std::find(names.begin(), names.end(), pod["spec"]["schedulerName"].as_string()) != names.end() &&
         options_.share.owns_object(pod);
}

bool Intake::set_pod(const api::Json& pod) { return options_.single_pods ? set_single_pod(pod) : take_pod(pod); }

bool Intake::take_pod(const api::Json& pod) {
  const std::string key = api::key_of(pod);
  const PodParts parts(pod);
  const std::string_view node = parts.spec["nodeName"].as_string(), uid = parts.metadata["uid"].as_string();
  const TaskId known = model_.find_task(key);
  const bool same_pod = known.is_set() && model_.text(known).uid == uid;
  const bool ours = is_ours(pod);
  if (!ours && (node.empty() || !options_.share.owns(node))) {
    if (known.is_set()) forget_pod(known);
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
  facts.shape = model_.shape_for(drops_fields_ ? without_gated_fields(pod) : pod);
  facts.labels = model_.pods.label_set_for(model_.symbols.intern(ns), parts.labels);
  const bool under_eviction = ledger_.flights.is_under_way(Entry::kEviction, uid);
  if (under_eviction && is_allocated_like(facts.task.status)) facts.task.status = TaskStatus::kReleasing;
  if (facts.task.gated && !model_.gates.on("PodSchedulingReadiness")) facts.task.gated = false;
  const Text version = facts.text.resource_version;
  if (same_pod && model_.update_task(known, facts)) {
    const bool differs = ledger_.hear(known, false, uid, version, pod_says(parts, model_.shared_texts));
    if (differs && model_.task(known).job.is_set())
      model_.note_changed(model_.task(known).job);  // somebody else wrote it: ours has to be said again
    model_.notes.set(known, pod);
    model_.name_queue(known, queue_named_by(parts));
    if (model_.devices.set_task(known, pod) && model_.task(known).job.is_set())
      model_.note_changed(model_.task(known).job);
    return true;
  }
  if (known.is_set()) model_.remove_task(known);
  const TaskId made = model_.add_task(std::move(facts));
  ledger_.hear(made, true, uid, version, pod_says(parts, model_.shared_texts));
  model_.notes.set(made, pod);
  model_.name_queue(made, queue_named_by(parts));
  model_.workloads.set_owner(made, pod);
  model_.devices.set_task(made, pod);
  return true;
}

bool Intake::remove_pod(const api::Json& pod) { return options_.single_pods ? remove_single_pod(pod) : drop_pod(pod); }

bool Intake::drop_pod(const api::Json& pod) {
  const TaskId known = model_.find_task(api::key_of(pod));
  ledger_.flights.end(Entry::kEviction, api::uid_of(pod));
  if (!known.is_set() || model_.text(known).uid != api::uid_of(pod)) return false;
  forget_pod(known);
  return true;
}

// No later event reports its end: what the model does not hold is not watched.
void Intake::forget_pod(TaskId id) {
  const std::string uid = model_.text(id).uid.str();
  ledger_.flights.end(Entry::kEviction, uid);
  ledger_.forget_pod(id, uid);
  model_.remove_task(id);
}

void Intake::bind_failed(std::string_view pod_key, std::string_view uid) {
  const TaskId id = model_.find_task(pod_key);
  const bool is_over = pod_is_over(pod_key, uid);
  if (!id.is_set() || model_.text(id).uid != uid || (!is_over && model_.task(id).status != TaskStatus::kBinding))
    return;
  model_.volumes.withdraw(id);
  model_.claims.withdraw(id);
  model_.devices.revoke(id);
  if (is_over) return;
  model_.move(id, TaskStatus::kPending, NodeId{});
  if (options_.single_pods) note_not_bound(pod_key, uid);
}

bool Intake::pod_is_over(std::string_view key, std::string_view uid) const {
  const TaskId id = model_.find_task(key);
  if (!id.is_set() || model_.text(id).uid != uid) return true;
  const TaskStatus status = model_.task(id).status;
  return is_releasing(status) || is_terminated(status);
}

void Intake::eviction_failed(std::string_view pod_key, std::string_view uid) {
  ledger_.flights.end(Entry::kEviction, uid);
  const TaskId id = model_.find_task(pod_key);
  if (!id.is_set() || model_.text(id).uid != uid || model_.task(id).status != TaskStatus::kReleasing) return;
  model_.move(id, TaskStatus::kRunning, model_.task(id).node);
}

bool Intake::set_node(const api::Json& node) {
  const std::string_view name = api::name_of(node);
  const auto& wanted = options_.node_selector;
  const bool chosen = wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const auto& pair) {
                        return api::label_of(node, pair.first) == pair.second;
                      });
  if (!chosen || !options_.share.owns(name)) return remove_node(node);
  NodeFacts facts;
  facts.name = name;
  const auto offered = [&](std::string_view list) {
    const api::ResourceList amounts = api::resource_list_from(node["status"][list]);
    model_.dimensions.know(amounts);
    return request_from(amounts, model_.dimensions);
  };
  facts.allocatable = offered("allocatable");
  facts.capacity = offered("capacity");
  if (auto cpu = base::parse_number<std::int64_t>(api::annotation_of(node, "volcano.sh/oversubscription-cpu"))) {
    facts.allocatable.add(kCpu, *cpu);
    facts.capacity.add(kCpu, *cpu);
  }
  if (auto memory = base::parse_number<std::int64_t>(api::annotation_of(node, "volcano.sh/oversubscription-memory"))) {
    facts.allocatable.add(kMemory, *memory);
    facts.capacity.add(kMemory, *memory);
  }
  facts.labels = labels_from(node["metadata"]["labels"], model_.symbols);
  facts.taints = taints_from(node["spec"]["taints"], model_.symbols);
  facts.unschedulable = node["spec"]["unschedulable"].as_bool();
  facts.images = images_of(node, model_.symbols);
  const NodeId id = model_.nodes.find_or_add(name);
  const bool devices_changed = model_.devices.set_node(id, node);
  if (devices_changed) model_.node_facts_changed(id);
  if (model_.nodes.has_same_facts(id, facts)) return devices_changed;
  const bool other_members = !model_.nodes[id].known || model_.nodes[id].labels != facts.labels;
  model_.nodes.set_facts(id, std::move(facts));
  if (other_members) model_.hyper_nodes.node_changed(id);
  model_.node_facts_changed(id);
  return true;
}

bool Intake::remove_node(const api::Json& node) {
  const NodeId id = model_.nodes.find(api::name_of(node));
  if (!id.is_set()) return false;
  model_.nodes.forget_facts(id);
  model_.hyper_nodes.node_changed(id);
  model_.devices.remove_node(id);
  model_.node_facts_changed(id);
  model_.nodes.remove_if_unused(id);
  return true;
}

}  // namespace scheduler

// The parts of a dump: pods. The requests of a pod come from the text of its shape, the rest from its task.
#include <algorithm>
#include <map>
#include <tuple>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/time.h"
#include "scheduler/dump/dump_parts.h"
#include "scheduler/dump/json_text.h"

namespace scheduler {
namespace {

using api::Json;

constexpr std::string_view kCooldown = "volcano.sh/cooldown-time";
constexpr std::string_view kPreemptable = "volcano.sh/preemptable";
constexpr std::string_view kRole = "volcano.sh/task-spec";

// The pod as far as its shape goes; reads the text that shape_key() makes, tag by tag.
class ShapeReader {
 public:
  explicit ShapeReader(std::string_view text) : rest_(text) {}

  Json pod() {
    while (!rest_.empty()) {
      const char tag = rest_.front();
      rest_.remove_prefix(1);
      read(tag);
    }
    set_list("containers", containers_);
    set_list("initContainers", init_containers_);
    set_list("volumes", volumes_);
    set_list("resourceClaims", claims_);
    Json out = Json::object({{"spec", std::move(spec_)}});
    if (!statuses_.empty()) out.edit_path({"status", "containerStatuses"}) = Json::array(std::move(statuses_));
    if (!init_statuses_.empty())
      out.edit_path({"status", "initContainerStatuses"}) = Json::array(std::move(init_statuses_));
    if (!made_claims_.empty())
      out.edit_path({"status", "resourceClaimStatuses"}) = Json::array(std::move(made_claims_));
    if (!annotations_.empty()) out.edit_path({"metadata", "annotations"}) = std::move(annotations_);
    if (infeasible_) {
      out.edit_path({"status", "conditions"}) =
          Json::array({Json::object({{"type", "PodResizePending"}, {"status", "True"}, {"reason", "Infeasible"}})});
    }
    return out;
  }

 private:
  void set_list(std::string_view name, std::vector<Json>& list) {
    if (!list.empty()) spec_.set(name, Json::array(std::move(list)));
  }

  bool skip(char tag) {
    if (rest_.empty() || rest_.front() != tag) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void read_container(std::vector<Json>& list) {
    Json one = Json::object({{"name", base::format("{}{}", &list == &containers_ ? "c" : "i", list.size())}});
    if (skip('s')) one.set("restartPolicy", "Always");
    if (skip('r')) one.set("resources", take_json(rest_));
    if (skip('i')) one.set("image", take_json(rest_));
    std::vector<Json> ports;
    while (skip('p')) ports.push_back(take_json(rest_));
    if (!ports.empty()) one.set("ports", Json::array(std::move(ports)));
    list.push_back(std::move(one));
  }

  void read_resize(std::vector<Json>& list) {
    Json one =
        Json::object({{"name", base::format("{}{}", &list == &statuses_ ? "c" : "i", take_json(rest_).as_int())}});
    if (skip('r')) one.set("resources", take_json(rest_));
    if (skip('a')) one.set("allocatedResources", take_json(rest_));
    list.push_back(std::move(one));
  }

  void read_volume() {
    volumes_.push_back(Json::object({{"name", base::format("v{}", volumes_.size())},
                                     {"persistentVolumeClaim", Json::object({{"claimName", take_json(rest_)}})}}));
  }

  // Its claim is named after the pod and the volume; name_volumes() takes the pod's name away.
  void read_ephemeral_volume() {
    volumes_.push_back(Json::object({{"name", take_json(rest_)}, {"ephemeral", Json::object()}}));
  }

  void read_image_volume() {
    volumes_.push_back(Json::object(
        {{"name", base::format("v{}", volumes_.size())}, {"image", Json::object({{"reference", take_json(rest_)}})}}));
  }

  void read_claim() {
    Json one = Json::object({{"name", take_json(rest_)}});
    if (skip('c')) {
      one.set("resourceClaimName", take_json(rest_));
    } else if (skip('t')) {
      one.set("resourceClaimTemplateName", "(unknown)");
      if (Json claim = take_json(rest_); !claim.as_string().empty())
        made_claims_.push_back(Json::object({{"name", one["name"]}, {"resourceClaimName", std::move(claim)}}));
    }
    claims_.push_back(std::move(one));
  }

  void read(char tag) {
    switch (tag) {
      case 'C': return read_container(containers_);
      case 'I': return read_container(init_containers_);
      case 'O': return spec_.set("overhead", take_json(rest_));
      case 'R': return spec_.set("resources", take_json(rest_));
      case 'S': return spec_.set("nodeSelector", take_json(rest_));
      case 'A': return spec_.set("affinity", take_json(rest_));
      case 'T': return spec_.set("tolerations", take_json(rest_));
      case 'P': return spec_.set("topologySpreadConstraints", take_json(rest_));
      case 'V': return read_volume();
      case 'E': return read_ephemeral_volume();
      case 'G': return read_image_volume();
      case 'D': return read_claim();
      case 'q': return read_resize(statuses_);
      case 'Q': return read_resize(init_statuses_);
      case 'X': infeasible_ = true; return;
      case 'W': {
        const Json key = take_json(rest_);
        if (skip('v')) annotations_.set(key.as_string(), take_json(rest_));
        return;
      }
      case 'Z':
        if (!rest_.empty()) annotations_.set("volcano.sh/revocable-zone", rest_);
        rest_ = {};
        return;
      default: take_json(rest_);  // the namespace and labels, which every pod says itself
    }
  }

  std::string_view rest_;
  Json spec_ = Json::object();
  Json annotations_ = Json::object();
  std::vector<Json> containers_, init_containers_, volumes_, claims_, made_claims_, statuses_, init_statuses_;
  bool infeasible_ = false;
};

// Containers are named in messages about CPUs only; the shape knows the names then.
void name_containers(const Shape& shape, Json& spec) {
  std::size_t init = 0, main = 0;
  for (const ContainerAsk& ask : shape.asks) {
    const std::string_view list = ask.init ? "initContainers" : "containers";
    std::size_t& index = ask.init ? init : main;
    if (index < spec[list].size() && !ask.name.empty()) spec.edit(list).edit(index).set("name", ask.name);
    ++index;
  }
}

void name_volumes(std::string_view pod, Json& spec) {
  for (std::size_t i = 0; i < spec["volumes"].size(); ++i) {
    const std::string claim = spec["volumes"].items()[i]["name"].str();
    if (spec["volumes"].items()[i].has("ephemeral") && claim.size() > pod.size())
      spec.edit("volumes").edit(i).set("name", claim.substr(pod.size() + 1));
  }
}

std::string time_text(std::int64_t ns) { return base::format_rfc3339(base::Time{ns}); }

class PodWriter {
 public:
  PodWriter(const Model& model, const Ledger& ledger, const DumpOptions& options)
      : model_(model), ledger_(ledger), options_(options) {
    const auto texts = model.shape_texts();
    shapes_.resize(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const Shape& shape = model.shape(ShapeId{static_cast<std::uint32_t>(i)});
      if (shape.uses == 0) continue;
      shapes_[i] = ShapeReader(texts[i]).pod();
      const Json& status = shapes_[i]["status"];
      if (status["containerStatuses"].empty() && status["initContainerStatuses"].empty())
        name_containers(shape, shapes_[i].edit("spec"));
    }
  }

  Json pod(const Task& task) const {
    const TaskText& text = model_.text(task.id);
    Json out = object_of({"v1", "Pod", text.ns, text.name, text.uid.str()});
    for (const auto& member : shapes_[task.shape.index].members()) {
      if (member.name() != "metadata") out.set(member.name(), member.value);
    }
    write_metadata(task, text, out.edit("metadata"));
    write_spec(task, text, out.edit("spec"));
    name_volumes(text.name, out.edit("spec"));
    write_status(task, text, out.edit("status"));
    write_protection(task, out);
    return out;
  }

 private:
  void write_metadata(const Task& task, const TaskText& text, Json& metadata) const {
    if (!text.resource_version.empty()) metadata.set("resourceVersion", text.resource_version.view());
    if (task.created_ns != 0) metadata.set("creationTimestamp", time_text(task.created_ns));
    if (is_releasing(task.status)) metadata.set("deletionTimestamp", "1970-01-01T00:00:00Z");
    Json labels = labels_json(model_.pods.label_set(task.labels).labels, model_.symbols);
    Json annotations = shapes_[task.shape.index]["metadata"]["annotations"];
    if (annotations.is_null()) annotations = Json::object();
    write_annotations(task, labels, annotations);
    if (!labels.empty()) metadata.set("labels", std::move(labels));
    if (!annotations.empty()) metadata.set("annotations", std::move(annotations));
    const std::string_view owner = model_.workloads.owner_of(task.id);
    if (!owner.empty()) {
      const std::size_t space = owner.find(' ');
      const auto [ns, name] = split_key(owner.substr(space + 1));
      metadata.set(
          "ownerReferences",
          Json::array({Json::object(
              {{"apiVersion", "apps/v1"}, {"kind", owner.substr(0, space)}, {"name", name}, {"controller", true}})}));
    }
  }

  void write_annotations(const Task& task, const Json& labels, Json& annotations) const {
    if (task.job.is_set()) {
      const Job& job = model_.job(task.job);
      annotations.set("scheduling.k8s.io/group-name", job.name());
      if (!job.named_by_pods.empty()) annotations.set("volcano.sh/queue-name", job.named_by_pods.view());
      const std::string_view role = job.roles[task.role].name;
      if (model_.details.role_is_annotated(task.id)) annotations.set(kRole, role);
    }
    const bool by_label = !labels.has(kPreemptable) || labels[kPreemptable].as_string() == "true";
    if (task.preemptable != by_label) annotations.set(kPreemptable, task.preemptable ? "true" : "false");
    // "true" alone would also let the pod into revocable zones.
    if (annotations[kPreemptable].as_string() == "true" && !annotations.has("volcano.sh/revocable-zone"))
      annotations.set("volcano.sh/revocable-zone", "");
    if (task.queue_gate_opt_in) annotations.set(kQueueGate, "true");
    if (const std::int64_t alone = task.pod_priority == 0 && task.priority == 1 ? 1 : task.pod_priority;
        task.priority != alone)
      annotations.set("volcano.sh/task-priority", std::to_string(task.priority));
    if (const std::uint32_t preference = model_.details.preference_id(task.id); preference != 0) {
      annotations.set("volcano.sh/resource-strategy-scoring-type", model_.details.preference(preference).type);
      annotations.set("volcano.sh/resource-strategy-weight", model_.details.preference(preference).weights);
    }
    if (const CpuSet* cpus = model_.devices.cpus_of(task.id)) annotations.set(kDumpedCpus, to_text(*cpus));
    // A pod that is done holds nothing any more.
    const Annotations* devices = is_terminated(task.status) ? nullptr : model_.devices.devices_of(task.id);
    if (devices != nullptr) {
      // The part of the pod's grants that is read again.
      Json annotated = Json::object();
      for (const auto& [key, value] : *devices) annotated.set(key, value);
      DeviceAnnotations read;
      read.set_task(task.id, Json::object({{"metadata", Json::object({{"annotations", std::move(annotated)}})},
                                           {"spec", Json::object({{"nodeName", "its"}})}}));
      if (const Annotations* kept = read.stored(task.id)) {
        for (const auto& [key, value] : *kept) annotations.set(key, value);
      }
    }
  }

  void write_spec(const Task& task, const TaskText& text, Json& spec) const {
    spec.set("schedulerName", task.ours ? options_.scheduler_name : "(another)");
    if (task.node.is_set()) spec.set("nodeName", model_.nodes[task.node].name);
    if (task.pod_priority != 0 || task.priority == 0)  // none at all counts as 1
      spec.set("priority", std::int64_t{task.pod_priority});
    if (task.never_preempts) spec.set("preemptionPolicy", "Never");
    if (task.critical && text.ns != "kube-system") spec.set("priorityClassName", "system-node-critical");
    if (task.gated) {
      const std::string gate = task.queue_gate_only ? std::string(kQueueGate) : "(another)";
      spec.set("schedulingGates", Json::array({Json::object({{"name", gate}})}));
    }
  }

  static std::string_view phase_of(TaskStatus status) {
    switch (status) {
      case TaskStatus::kRunning:
      case TaskStatus::kReleasing:
      case TaskStatus::kEvicting: return "Running";
      case TaskStatus::kSucceeded: return "Succeeded";
      case TaskStatus::kFailed: return "Failed";
      case TaskStatus::kUnknown: return "Unknown";
      default: return "Pending";
    }
  }

  void write_status(const Task& task, const TaskText& text, Json& status) const {
    constexpr std::string_view kQos[] = {"BestEffort", "Burstable", "Guaranteed"};
    status.set("phase", phase_of(task.status));
    status.set("qosClass", kQos[static_cast<std::size_t>(model_.details.limits(task.id).qos)]);
    if (!text.nominated_node.empty()) status.set("nominatedNodeName", text.nominated_node.view());
    if (const std::int64_t started = model_.details.started_ns(task.id); started != 0)
      status.set("startTime", time_text(started));
    if (const PodReport& reports = ledger_.pod(task.id); !reports.reason.empty() || !reports.message.empty()) {
      status.edit("conditions")
          .push_back(Json::object({{"type", "PodScheduled"},
                                   {"status", "False"},
                                   {"reason", reports.reason.view()},
                                   {"message", reports.message.view()}}));
    }
    if (task.preempted) {
      status.edit("conditions")
          .push_back(
              Json::object({{"type", "DisruptionTarget"}, {"status", "True"}, {"reason", "PreemptionByScheduler"}}));
    }
  }

  // The end of the cool-down time is kept: from the pod's label, or from whatever comes to the same.
  static void write_protection(const Task& task, Json& pod) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    if (task.protected_until_ns == 0) return;
    std::int64_t since = task.protected_until_ns / kSecond * kSecond;
    if (const auto span = base::parse_go_duration(api::label_of(pod, kCooldown)); span)
      since = task.protected_until_ns - span->ns;
    else
      pod.edit_path({"metadata", "annotations", kCooldown}) =
          base::format_go_duration(base::Duration{task.protected_until_ns - since});
    pod.edit("status")
        .edit("conditions")
        .push_back(
            Json::object({{"type", "PodScheduled"}, {"status", "True"}, {"lastTransitionTime", time_text(since)}}));
  }

  const Model& model_;
  const Ledger& ledger_;
  const DumpOptions& options_;
  std::vector<Json> shapes_;
};

}  // namespace

void dump_pods(const Model& model, const Ledger& ledger, const DumpOptions& options, Objects& out) {
  const PodWriter writer(model, ledger, options);
  std::vector<TaskId> tasks;
  for (std::uint32_t i = 0; i < model.task_capacity(); ++i) {
    if (model.task(TaskId{i}).in_use) tasks.push_back(TaskId{i});
  }
  // Not as they came: who reads a dump may take them in otherwise.
  std::sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
    const TaskText &left = model.text(a), &right = model.text(b);
    return std::tie(left.ns, left.name) < std::tie(right.ns, right.name);
  });
  for (const TaskId id : tasks) out.push_back(writer.pod(model.task(id)));
}

}  // namespace scheduler

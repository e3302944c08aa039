// The scheduler's beliefs, for people and for replay. The model as objects of the API: nodes, groups, queues, and what
// is left over.
#include "scheduler/dump/dump.h"

#include <algorithm>

#include "base/format.h"
#include "scheduler/cache/intake.h"
#include "scheduler/dump/dump_parts.h"
#include "scheduler/dump/json_text.h"

namespace scheduler {

using api::Json;

Json object_of(const ObjectHead& head) {
  Json metadata = Json::object();
  if (!head.ns.empty()) metadata.set("namespace", head.ns);
  metadata.set("name", head.name);
  if (!head.uid.empty()) metadata.set("uid", head.uid);
  return Json::object({{"apiVersion", head.version}, {"kind", head.kind}, {"metadata", std::move(metadata)}});
}

void set_owner(Json& object, const std::string& uid) {
  if (uid.empty()) return;
  object.edit("metadata").set("ownerReferences", Json::array({Json::object({{"uid", uid}, {"controller", true}})}));
}

std::pair<std::string, std::string> split_key(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) return {"", std::string(key)};
  return {std::string(key.substr(0, slash)), std::string(key.substr(slash + 1))};
}

namespace {

// The facts that no object of the API has: when things were done last, what was measured and what was answered.
Json state_json(const Model& model, const DumpOptions& options) {
  Json out = object_of({kStateVersion, kStateKind, "", options.scheduler_name, ""});
  out.set("now", base::format_rfc3339_micro(options.now));
  if (!options.configuration.empty()) out.set("configuration", options.configuration);
  for (const std::string& argument : options.arguments) out.edit("arguments").push_back(argument);
  // The order in which resources were first named is the order in which they are compared.
  for (Dim dim = 0; dim < model.dimensions.size(); ++dim) out.edit("resources").push_back(model.dimensions.name(dim));
  for (const auto& [name, time] : model.last_runs) out.edit("lastRuns").set(name, time.ns);
  for (const auto& [lock, since] : model.devices.node_locks.times()) out.edit("nodeLocks").set(lock, since.ns);
  for (const auto& [node, usage] : model.usage.by_node) {
    out.edit("usage").set(node, Json::object({{"cpu", usage.cpu}, {"memory", usage.memory}, {"at", usage.at.ns}}));
  }
  for (const auto& [key, answer] : model.outside.answers()) {
    out.edit("answers").push_back(
        Json::object({{"key", key}, {"ok", answer.ok}, {"text", answer.text}, {"at", answer.at.ns}}));
  }
  return out;
}

Json node_json(const Model& model, NodeId id) {
  const NodeRow& row = model.nodes[id];
  Json out = object_of({"v1", "Node", "", row.name, ""});
  if (!row.labels.empty()) out.edit("metadata").set("labels", labels_json(row.labels, model.symbols));
  const Json& devices = model.devices.node(id);
  if (!devices["annotations"].empty()) out.edit("metadata").set("annotations", devices["annotations"]);
  Json spec = Json::object();
  if (row.unschedulable) spec.set("unschedulable", true);
  for (const Taint& taint : model.nodes.taint_sets()[row.taint_set]) {
    spec.edit("taints").push_back(Json::object({{"key", model.symbols.text(taint.key)},
                                                {"value", model.symbols.text(taint.value)},
                                                {"effect", effect_name(taint.effect)}}));
  }
  if (!spec.empty()) out.set("spec", std::move(spec));
  Json status = Json::object({{"allocatable", resource_json(row.allocatable, model.dimensions)},
                              {"capacity", resource_json(row.capacity, model.dimensions)}});
  for (const std::string_view list : {"allocatable", "capacity"}) {
    for (const auto& member : devices[list].members()) status.edit(list).set(member.name(), member.value);
  }
  for (const ImageOnNode& image : row.images) {
    status.edit("images").push_back(
        Json::object({{"names", Json::array({Json(model.symbols.text(image.name))})}, {"sizeBytes", image.bytes}}));
  }
  out.set("status", std::move(status));
  return out;
}

Json numa_json(const std::string& name, const NumaNode& node) {
  Json out = object_of({"nodeinfo.volcano.sh/v1alpha1", "Numatopology", "", name, ""});
  Json spec = Json::object({{"policies", Json::object({{"CPUManagerPolicy", node.cpu_policy},
                                                       {"TopologyManagerPolicy", node.topology_policy}})}});
  for (const Cpu& cpu : node.cpus) {
    spec.edit("cpuDetail")
        .set(std::to_string(cpu.id), Json::object({{"numa", std::int64_t{cpu.numa}},
                                                   {"socket", std::int64_t{cpu.socket}},
                                                   {"core", std::int64_t{cpu.core}}}));
  }
  if (node.has_sets) spec.edit("numares").set("cpu", Json::object({{"allocatable", to_text(node.allocatable)}}));
  spec.edit("resReserved").set("cpu", std::to_string(node.reserved));
  out.set("spec", std::move(spec));
  return out;
}

Json group_json(const Model& model, const Job& job, const GroupReport& reports) {
  const auto [ns, name] = split_key(job.key);
  Json out = object_of({"scheduling.volcano.sh/v1beta1", "PodGroup", ns, name, job.group_uid.str()});
  std::string_view rest = job.spec_text;
  Json spec = take_json(rest), annotations = take_json(rest), labels = take_json(rest);
  if (spec.is_null()) spec = Json::object();
  spec.set("queue", job.queue_name.view());
  constexpr std::string_view kDomain = "volcano.sh/job-allocated-hypernode";
  if (reports.domain.is_set())
    (annotations.is_null() ? annotations = Json::object() : annotations)
        .set(kDomain, model.symbols.text(reports.domain));
  else if (!annotations.is_null())
    annotations.erase(kDomain);
  if (!reports.round.empty())
    (annotations.is_null() ? annotations = Json::object() : annotations)
        .set(kEvictionRoundAnnotation, reports.round.view());
  Json& metadata = out.edit("metadata");
  if (!job.resource_version.empty()) metadata.set("resourceVersion", job.resource_version.view());
  if (job.created_ns != 0) metadata.set("creationTimestamp", base::format_rfc3339(base::Time{job.created_ns}));
  if (!labels.empty()) metadata.set("labels", std::move(labels));
  if (!annotations.empty()) metadata.set("annotations", std::move(annotations));
  out.set("spec", std::move(spec));
  GroupStatus status = reports.status;
  status.phase = job.phase;
  out.set("status", to_json(status));
  return out;
}

// As it is written once it has been read: an amount that was computed and one that was parsed look the same then.
Json amounts_json(const api::ResourceList& list) {
  Json out = api::to_json(list);
  for (const auto& [name, amount] : list) {
    if (const auto again = api::Quantity::from_json(amount.to_json())) out.set(name, again->to_json());
  }
  return out;
}

std::string_view state_name(QueueState state) {
  switch (state) {
    case QueueState::kClosed: return "Closed";
    case QueueState::kClosing: return "Closing";
    case QueueState::kUnknown: return "Unknown";
    case QueueState::kOpen: break;
  }
  return "Open";
}

Json queue_json(const Queue& queue, const QueueReport& reports) {
  Json out = object_of({"scheduling.volcano.sh/v1beta1", "Queue", "", queue.name, queue.uid});
  std::string_view rest = queue.spec_text;
  const Json spec = take_json(rest);
  if (queue.created_ns != 0)
    out.edit("metadata").set("creationTimestamp", base::format_rfc3339(base::Time{queue.created_ns}));
  if (!queue.annotations.empty()) out.edit("metadata").set("annotations", queue.annotations);
  if (!spec.is_null()) out.set("spec", spec);
  out.set("status", Json::object({{"state", state_name(queue.state)}, {"allocated", amounts_json(reports.allocated)}}));
  return out;
}

void dump_policies(const Model& model, Objects& out) {
  for (const auto& [key, budget] : model.budgets) {
    const auto [ns, name] = split_key(key);
    Json one = object_of({"policy/v1", "PodDisruptionBudget", ns, name, ""});
    if (budget.selector.present)
      one.set("spec", Json::object({{"selector", selector_json(budget.selector, model.symbols)}}));
    Json status = Json::object({{"disruptionsAllowed", budget.allowed}});
    for (const std::string& pod : budget.disrupted) status.edit("disruptedPods").set(pod, "1970-01-01T00:00:00Z");
    one.set("status", std::move(status));
    out.push_back(std::move(one));
  }
  for (const auto& [ns, quotas] : model.quotas) {
    for (const auto& [name, quota] : quotas) {
      out.push_back(object_of({"v1", "ResourceQuota", ns, name, ""}));
      out.back().set("status", Json::object({{"hard", api::to_json(quota.hard)}, {"used", api::to_json(quota.used)}}));
    }
  }
  const auto names = [](const std::set<std::string>& set) {
    std::vector<Json> list(set.begin(), set.end());
    return Json::array(std::move(list));
  };
  for (const auto& [name, shard] : model.shards.all()) {
    Json one = object_of({"shard.volcano.sh/v1alpha1", "NodeShard", "", name, ""});
    one.set("spec", Json::object({{"nodesDesired", names(shard.desired)}}));
    one.set("status", Json::object({{"nodesInUse", names(shard.in_use)},
                                    {"nodesToAdd", names(shard.to_add)},
                                    {"nodesToRemove", names(shard.to_remove)}}));
    out.push_back(std::move(one));
  }
}

void dump_classes_and_namespaces(const Model& model, Objects& out) {
  bool default_named = false;
  for (const auto& [name, value] : model.priority_classes) {
    out.push_back(object_of({"scheduling.k8s.io/v1", "PriorityClass", "", name, ""}));
    out.back().set("value", std::int64_t{value});
    if (model.default_priority == value && !std::exchange(default_named, true)) out.back().set("globalDefault", true);
  }
  for (const auto& [id, labels] : model.pods.namespaces()) {
    out.push_back(object_of({"v1", "Namespace", "", model.symbols.text(Symbol{id}), ""}));
    if (!labels.empty()) out.back().edit("metadata").set("labels", labels_json(labels, model.symbols));
  }
}

}  // namespace

std::vector<Json> dump(const Model& model, const Ledger& ledger, const DumpOptions& options) {
  Objects out;
  out.push_back(state_json(model, options));
  dump_classes_and_namespaces(model, out);
  for (std::uint32_t q = 0; q < model.queue_count(); ++q) {
    const Queue& queue = model.queue(QueueId{q});
    if (queue.in_use) out.push_back(queue_json(queue, ledger.queue(queue.id)));
  }
  model.hyper_nodes.for_each([&](const std::string& name, std::string_view spec) {
    out.push_back(object_of({"topology.volcano.sh/v1alpha1", "HyperNode", "", name, ""}));
    out.back().set("spec", take_json(spec));
  });
  dump_storage(model, out);
  dump_workloads(model, out);
  dump_claims(model, out);
  dump_policies(model, out);
  for (const auto& [key, config] : model.devices.configs.all()) {
    const auto [ns, name] = split_key(key);
    out.push_back(object_of({"v1", "ConfigMap", ns, name, ""}));
    out.back().set("data", config.data);
  }
  for (std::uint32_t n = 0; n < model.nodes.size(); ++n) {
    const NodeRow& row = model.nodes[NodeId{n}];
    if (const NumaNode* numa = model.numa.find(row.name)) out.push_back(numa_json(row.name, *numa));
    if (row.known) out.push_back(node_json(model, NodeId{n}));
  }
  model.for_each_job([&](const Job& job) {
    if (job.has_group) out.push_back(group_json(model, job, ledger.group(job.id)));
  });
  dump_pods(model, ledger, options, out);
  return out;
}

std::string dump_text(const Model& model, const Ledger& ledger, const DumpOptions& options) {
  std::string out = "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[";
  bool first = true;
  for (const Json& object : dump(model, ledger, options)) {
    out += std::exchange(first, false) ? "\n" : ",\n";
    object.dump_to(out);
  }
  return out + "\n]}\n";
}

std::vector<std::string> dump_lines(const Model& model) {
  std::vector<std::string> out;
  for (std::uint32_t n = 0; n < model.nodes.size(); ++n) {
    const NodeRow& row = model.nodes[NodeId{n}];
    if (!row.known) continue;
    out.push_back(base::format("node {}: cpu {}m of {}m idle, memory {} of {} idle, {} pods{}", row.name,
                               model.nodes.idle(kCpu)[n], row.allocatable.get(kCpu), model.nodes.idle(kMemory)[n],
                               row.allocatable.get(kMemory), row.tasks.size(),
                               row.unschedulable ? ", unschedulable" : ""));
  }
  model.for_each_job([&](const Job& job) {
    out.push_back(base::format("group {}: queue {}, phase {}, minimum {}, {} pods, {} placed, {} pending", job.key,
                               job.queue_name, name_of(job.phase), job.min_available, job.task_count(),
                               job.allocated_count(), job.count(TaskStatus::kPending)));
  });
  model.hyper_nodes.for_each([&](const std::string& name, std::string_view spec) {
    out.push_back(base::format("hypernode {}: {}", name, spec));
  });
  return out;
}

void restore_state(const Json& state, Model& model) {
  for (const Json& name : state["resources"].items()) model.dimensions.intern(name.as_string());
  for (const auto& member : state["lastRuns"].members())
    model.last_runs.insert_or_assign(std::string(member.name()), base::Time{member.value.as_int()});
  for (const auto& member : state["nodeLocks"].members())
    model.devices.node_locks.restore(std::string(member.name()), base::Time{member.value.as_int()});
  for (const auto& member : state["usage"].members()) {
    const Json& one = member.value;
    model.usage.by_node.insert_or_assign(
        std::string(member.name()),
        NodeUsage{one["cpu"].as_double(), one["memory"].as_double(), base::Time{one["at"].as_int()}});
    ++model.usage.generation;
  }
  for (const Json& one : state["answers"].items()) {
    model.outside.put_known(one["key"].str(), {one["ok"].as_bool(), one["text"].str(), base::Time{one["at"].as_int()}});
  }
}

}  // namespace scheduler

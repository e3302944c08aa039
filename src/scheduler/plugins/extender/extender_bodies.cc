// How do pods, nodes, groups and queues look to an extender?
#include "scheduler/plugins/extender/extender_bodies.h"

namespace scheduler {
namespace {

using api::Json;

// The numbers by which task states are known on the wire: powers of two.
std::int64_t status_number(TaskStatus status) {
  switch (status) {
    case TaskStatus::kPending: return 1;
    case TaskStatus::kAllocated: return 2;
    case TaskStatus::kPipelined: return 4;
    case TaskStatus::kBinding: return 8;
    case TaskStatus::kBound: return 16;
    case TaskStatus::kRunning: return 32;
    case TaskStatus::kReleasing:
    case TaskStatus::kEvicting: return 64;
    case TaskStatus::kSucceeded: return 128;
    case TaskStatus::kFailed: return 256;
    case TaskStatus::kUnknown: return 512;
  }
  return 512;
}

template <class Amount>
Json resource_json(const Model& model, const Amount& amount_of) {
  Json out = Json::object({{"MilliCPU", amount_of(kCpu)}, {"Memory", amount_of(kMemory)}});
  Json scalars = Json::object();
  for (Dim d = 2; d < model.dimensions.size(); ++d) {
    // Outside, every scalar is counted in thousandths; the model counts this one in bytes.
    const double scale = model.dimensions.name(d) == "ephemeral-storage" ? 1000 : 1;
    if (const double amount = amount_of(d); amount != 0) scalars.set(model.dimensions.name(d), amount * scale);
  }
  out.set("ScalarResources", std::move(scalars));
  return out;
}

Json request_json(const Model& model, const Request& request) {
  return resource_json(model, [&](Dim d) { return static_cast<double>(request.get(d)); });
}

Json labels_json(const Model& model, const Labels& labels) {
  Json out = Json::object();
  for (const auto& [key, value] : labels) out.set(model.symbols.text(key), model.symbols.text(value));
  return out;
}

}  // namespace

Json extender_task(const Model& model, const Task& task) {
  const TaskText& text = model.text(task.id);
  const Json request = request_json(model, model.shape_of(task).request);
  Json metadata = Json::object({{"name", text.name.view()},
                                {"namespace", text.ns.view()},
                                {"uid", text.uid.str()},
                                {"labels", labels_json(model, model.pods.label_set(task.labels).labels)}});
  Json out = Json::object({{"UID", text.uid.str()},
                           {"Name", text.name.view()},
                           {"Namespace", text.ns.view()},
                           {"Resreq", request},
                           {"InitResreq", request},
                           {"NodeName", task.node.is_set() ? model.nodes[task.node].name : ""},
                           {"Status", status_number(task.status)},
                           {"Priority", std::int64_t{task.priority}},
                           {"Preemptable", task.preemptable},
                           {"BestEffort", task.best_effort},
                           {"Pod", Json::object({{"metadata", std::move(metadata)}})}});
  if (task.job.is_set()) {
    out.set("Job", model.job(task.job).key.view());
    out.set("TaskRole", model.job(task.job).roles[task.role].name.view());
  }
  return out;
}

Json extender_node(const Model& model, NodeId node) {
  const NodeTable& nodes = model.nodes;
  const auto column = [&](auto read) {
    return resource_json(model, [&](Dim d) { return static_cast<double>(read(d)[node.index]); });
  };
  const NodeRow& row = nodes[node];
  return Json::object(
      {{"Name", row.name},
       {"Allocatable", column([&](Dim d) -> const Column& { return nodes.allocatable(d); })},
       {"Idle", column([&](Dim d) -> const Column& { return nodes.idle(d); })},
       {"Used", column([&](Dim d) -> const Column& { return nodes.used(d); })},
       {"Releasing", column([&](Dim d) -> const Column& { return nodes.releasing(d); })},
       {"Pipelined", column([&](Dim d) -> const Column& { return nodes.pipelined(d); })},
       {"Capability", request_json(model, row.capacity)},
       {"Node",
        Json::object({{"metadata", Json::object({{"name", row.name}, {"labels", labels_json(model, row.labels)}})}})}});
}

Json extender_job(const Model& model, const Job& job) {
  Json spec = Json::object({{"minMember", std::int64_t{job.min_available}}, {"queue", job.queue_name.view()}});
  if (job.min_resources()) spec.set("minResources", api::to_json(job.extras().min_resources));
  Json group = Json::object(
      {{"metadata", Json::object({{"name", job.name()}, {"namespace", job.ns()}, {"uid", job.group_uid.str()}})},
       {"spec", std::move(spec)},
       {"status", Json::object({{"phase", name_of(job.phase)}})}});
  Json counts = Json::object();
  for (std::size_t s = 0; s < kTaskStatusCount; ++s) {
    if (job.counts[s] != 0) counts.set(kTaskStatusNames[s], counts[kTaskStatusNames[s]].as_int() + job.counts[s]);
  }
  return Json::object(
      {{"UID", job.key.view()},
       {"Name", job.name()},
       {"Namespace", job.ns()},
       {"Queue", job.queue_name.view()},
       {"Priority", std::int64_t{job.priority}},
       {"MinAvailable", std::int64_t{job.min_available}},
       {"Allocated", resource_json(model, [&](Dim d) { return static_cast<double>(job.allocated.get(d)); })},
       {"TaskStatusCounts", std::move(counts)},
       {"PodGroup", std::move(group)}});
}

Json extender_queue(const Model& model, const Queue& queue) {
  const auto amounts = [&](const Resource& resource) {
    return resource_json(model, [&](Dim d) { return resource.get(d); });
  };
  return Json::object(
      {{"UID", queue.name},
       {"Name", queue.name},
       {"Weight", std::int64_t{queue.weight}},
       {"Capability", amounts(queue.capability)},
       {"Deserved", amounts(queue.deserved)},
       {"Allocated", resource_json(model, [&](Dim d) { return static_cast<double>(queue.allocated.get(d)); })}});
}

Json extender_session(const Model& model) {
  Json jobs = Json::object(), nodes = Json::object(), queues = Json::object(), namespaces = Json::object(),
       revocable = Json::object();
  std::vector<Json> list;
  const Symbol zone = model.symbols.find("volcano.sh/revocable-zone");
  model.for_each_job([&](const Job& job) {
    if (!job.has_group) return;
    jobs.set(job.key, extender_job(model, job));
    namespaces.set(std::string(job.ns()), Json::object({{"Name", job.ns()}}));
  });
  model.nodes.known().for_each([&](std::uint32_t n) {
    Json node = extender_node(model, NodeId{n});
    const std::string& name = model.nodes[NodeId{n}].name;
    if (zone.is_set() && value_of(model.nodes[NodeId{n}].labels, zone).is_set()) revocable.set(name, node);
    list.push_back(node);
    nodes.set(name, std::move(node));
  });
  for (std::uint32_t q = 0; q < model.queue_count(); ++q) {
    const Queue& queue = model.queue(QueueId{q});
    if (queue.in_use) queues.set(queue.name, extender_queue(model, queue));
  }
  return Json::object({{"Jobs", std::move(jobs)},
                       {"Nodes", std::move(nodes)},
                       {"Queues", std::move(queues)},
                       {"NamespaceInfo", std::move(namespaces)},
                       {"RevocableNodes", std::move(revocable)},
                       {"NodeList", Json::array(std::move(list))}});
}

}  // namespace scheduler

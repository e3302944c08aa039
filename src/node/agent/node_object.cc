// This machine as the API sees it: the Node object, its status, its Lease.
#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "node/agent/agent_state.h"
#include "node/devices/gpu_labels.h"
#include "node/machine/huge_pages.h"

namespace node {

using api::Json;

namespace {

constexpr base::Duration kStatusPeriod = base::seconds(30);
constexpr base::Duration kLeasePeriod = base::seconds(10);
constexpr base::Duration kRetry = base::seconds(1);
constexpr base::Duration kNodePause = base::milliseconds(200);  // between two writes of the Node

struct ConditionText {
  const char* type;
  const char* status;
  const char* reason;
  std::string message;
};

Json condition_json(const ConditionText& text, base::Time now) {
  return Json::object({{"type", text.type},
                       {"status", text.status},
                       {"lastHeartbeatTime", base::format_rfc3339(now)},
                       {"lastTransitionTime", base::format_rfc3339(now)},
                       {"reason", text.reason},
                       {"message", text.message}});
}

}  // namespace

api::ResourceList Agent::State::allocatable() const {
  api::ResourceList usable = capacity;
  std::int64_t left = usable["memory"].value();
  for (const auto& [page, bytes] : facts.huge_pages) left = std::max<std::int64_t>(0, left - bytes);
  if (!facts.huge_pages.empty()) usable["memory"] = api::Quantity::from_int(left, api::Quantity::Format::kBinarySi);
  return usable;
}

Json Agent::State::node_status() const {
  const base::Time now = env.now();
  const DeviceManager::Amounts amounts = devices.amounts();
  api::ResourceList all = capacity, usable = allocatable();
  for (const auto& [name, amount] : amounts.capacity) all[name] = amount;
  for (const auto& [name, amount] : amounts.allocatable) usable[name] = amount;
  Json conditions = Json::array();
  const bool up = ready && !stopping;
  conditions.push_back(condition_json(
      {"MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"}, now));
  conditions.push_back(
      condition_json({"DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"}, now));
  conditions.push_back(
      condition_json({"PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"}, now));
  conditions.push_back(up ? condition_json({"Ready", "True", "KubeletReady", "kubelet is posting ready status"}, now)
                          : condition_json({"Ready", "False", "KubeletNotReady",
                                            last_error.empty() ? "the node agent is stopping" : last_error},
                                           now));
  const std::string runtime_name = runtime ? runtime->name() : "none";
  Json handlers = Json::array({Json::object({{"name", ""}})});
  if (runtime)
    for (const std::string& name : runtime->handlers()) handlers.push_back(Json::object({{"name", name}}));
  return Json::object(
      {{"capacity", api::to_json(all)},
       {"allocatable", api::to_json(usable)},
       {"conditions", conditions},
       {"addresses", Json::array({Json::object({{"type", "InternalIP"}, {"address", options.host_ip}}),
                                  Json::object({{"type", "Hostname"}, {"address", options.node_name}})})},
       {"runtimeHandlers", std::move(handlers)},
       {"nodeInfo", Json::object({{"machineID", facts.machine_id},
                                  {"systemUUID", facts.machine_id},
                                  {"bootID", facts.boot_id},
                                  {"kernelVersion", facts.kernel},
                                  {"osImage", facts.os_image},
                                  {"containerRuntimeVersion", runtime_name},
                                  {"kubeletVersion", "v1.36.0-volcano"},
                                  {"kubeProxyVersion", ""},
                                  {"operatingSystem", "linux"},
                                  {"architecture", facts.architecture}})}});
}

// Drops the Node's devices and huge pages that this machine does not have any more.
void Agent::State::drop_old_devices(const Json& kept, Json& status) {
  for (const std::string& resource : devices.forgotten())
    for (const char* list : {"capacity", "allocatable"})
      if (kept["status"][list].has(resource) && !status[list].has(resource)) status.edit(list).set(resource, Json());
  for (const char* list : {"capacity", "allocatable"})
    for (const Json::Member& member : kept["status"][list].members())
      if (page_bytes_of(member.name()) > 0 && !status[list].has(member.name()))
        status.edit(list).set(member.name(), Json());
  if (!devices.settled()) return;
  const auto labels = devices.labels();
  for (const Json::Member& member : kept["metadata"]["labels"].members())
    if (is_gpu_label(member.name()) && !labels.contains(std::string(member.name()))) {
      const bool given =
          std::ranges::any_of(options.labels, [&](const auto& one) { return one.first == member.name(); });
      if (!given) stale_labels.emplace(member.name());
    }
  if (!stale_labels.empty()) node_due = true;
  for (const char* list : {"capacity", "allocatable"})
    for (const Json::Member& member : kept["status"][list].members())
      if (is_gpu_amount(member.name()) && !status[list].has(member.name()))
        status.edit(list).set(member.name(), Json());
}

void Agent::State::write_node_status(const Json& status, std::function<void(base::Duration)> later) {
  client::Request request{.verb = client::Verb::kPatch,
                          .resource = api::resources::kNodes,
                          .ns = {},
                          .name = options.node_name,
                          .subresource = "status"};
  // Lists merge by type: conditions and addresses that others wrote stay.
  request.patch_type = client::PatchType::kStrategic;
  request.field_manager = "kubelet";
  request.body = Json::object({{"status", status}});
  std::vector<std::string> gone;  // and not offered again since this status was made
  for (const std::string& resource : devices.forgotten())
    if (!status["capacity"].has(resource) || status["capacity"][resource].is_null()) gone.push_back(resource);
  client.call(std::move(request),
              [weak = weak_from_this(), later = std::move(later), gone](const base::Result<Json>& written) {
                const auto self = weak.lock();
                if (self && written.ok()) self->devices.forgotten_told(gone);
                later(written.ok() ? kStatusPeriod : kRetry);
              });
}

// Creates the Node, or brings its labels and status up to date; again every so often.
void Agent::State::keep_node() {
  Json labels = Json::object({{"kubernetes.io/hostname", options.node_name},
                              {"kubernetes.io/os", "linux"},
                              {"kubernetes.io/arch", facts.architecture},
                              {"beta.kubernetes.io/os", "linux"},
                              {"beta.kubernetes.io/arch", facts.architecture}});
  for (const auto& [key, value] : devices.labels()) labels.set(key, value);
  for (const auto& [key, value] : options.labels) labels.set(key, value);
  for (const std::string& key : std::exchange(stale_labels, {}))
    if (!labels.has(key)) labels.set(key, Json());
  Json annotations = Json::object();
  for (const auto& [key, value] : devices.annotations()) annotations.set(key, value);
  annotations.set("volcano.sh/host-rootfs", options.host_rootfs ? "true" : "false");  // vsub asks
  node_timer = 0;
  node_due = false;
  node_next = env.uptime() + kNodePause;
  const Json body = Json::object(
      {{"apiVersion", "v1"},
       {"kind", "Node"},
       {"metadata", Json::object({{"name", options.node_name}, {"labels", labels}, {"annotations", annotations}})},
       {"spec", Json::object()},
       {"status", node_status()}});
  const auto later = [weak = weak_from_this()](base::Duration delay) {
    const auto self = weak.lock();
    if (!self) return;
    self->keep_node_in(self->node_due ? self->node_next - self->env.uptime() : delay);
  };
  const auto patch_status = [weak = weak_from_this(), body, later](const base::Result<Json>& kept) {
    const auto self = weak.lock();
    if (!self) return;
    if (!kept.ok()) return later(kRetry);
    Json status = body["status"];
    self->drop_old_devices((*kept), status);
    // Conditions that did not change keep the time of their last change.
    for (std::size_t i = 0; i < status["conditions"].size(); ++i) {
      Json& condition = status.edit("conditions").edit(i);
      Json since = condition["lastHeartbeatTime"];
      for (const Json& old : (*kept)["status"]["conditions"].items())
        if (old["type"] == condition["type"] && old["status"] == condition["status"]) since = old["lastTransitionTime"];
      condition.set("lastTransitionTime", since);
    }
    self->write_node_status(status, later);
  };
  client::Request request{
      .verb = client::Verb::kPatch, .resource = api::resources::kNodes, .ns = {}, .name = options.node_name};
  request.patch_type = client::PatchType::kMerge;
  request.field_manager = "kubelet";
  request.body = Json::object({{"metadata", Json::object({{"labels", labels}, {"annotations", annotations}})}});
  client.call(std::move(request),
              [weak = weak_from_this(), body, later, patch_status](const base::Result<Json>& patched) {
                const auto self = weak.lock();
                if (!self) return;
                if (patched.ok()) return patch_status(patched);
                if (patched.error().code != base::Code::kNotFound) return later(kRetry);
                client::Request create{.verb = client::Verb::kCreate, .resource = api::resources::kNodes};
                create.field_manager = "kubelet";
                create.body = body;
                self->client.call(std::move(create), patch_status);
              });
}

void Agent::State::keep_node_in(base::Duration delay) {
  node_timer = env.loop().after(std::max(delay, base::Duration{}), [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && !self->stopping) self->keep_node();
  });
}

// Devices may come and go hundreds of times a second, and each write of the Node goes to the disk and to all watchers.
void Agent::State::refresh_node() {
  node_due = true;
  if (node_timer == 0) return;  // the one under way is followed by another
  env.loop().cancel(node_timer);
  if (env.uptime() >= node_next) return keep_node();
  keep_node_in(node_next - env.uptime());
}

void Agent::State::keep_lease() {
  static constexpr const char* kNamespace = "kube-node-lease";
  const std::string now = base::format_rfc3339_micro(env.now());
  const Json spec =
      Json::object({{"holderIdentity", options.node_name}, {"leaseDurationSeconds", 40}, {"renewTime", now}});
  const auto later = [weak = weak_from_this()](base::Duration delay) {
    if (const auto self = weak.lock())
      self->env.loop().after(delay, [weak] {
        const auto again = weak.lock();
        if (again && !again->stopping) again->keep_lease();
      });
  };
  client::Request request{
      .verb = client::Verb::kPatch, .resource = api::resources::kLeases, .ns = kNamespace, .name = options.node_name};
  request.field_manager = "kubelet";
  request.body = Json::object({{"spec", spec}});
  client.call(std::move(request), [weak = weak_from_this(), spec, later](const base::Result<Json>& renewed) {
    const auto self = weak.lock();
    if (!self) return;
    if (renewed.ok() || renewed.error().code != base::Code::kNotFound)
      return later(renewed.ok() ? kLeasePeriod : kRetry);
    client::Request create{.verb = client::Verb::kCreate, .resource = api::resources::kLeases, .ns = kNamespace};
    create.field_manager = "kubelet";
    create.body =
        Json::object({{"apiVersion", "coordination.k8s.io/v1"},
                      {"kind", "Lease"},
                      {"metadata", Json::object({{"name", self->options.node_name}, {"namespace", kNamespace}})},
                      {"spec", spec}});
    self->client.call(std::move(create), [weak, later](const base::Result<Json>& created) {
      const auto again = weak.lock();
      if (!again) return;
      if (created.ok() || created.error().code != base::Code::kNotFound)
        return later(created.ok() ? kLeasePeriod : kRetry);
      client::Request space{.verb = client::Verb::kCreate, .resource = api::resources::kNamespaces};
      space.body = Json::object(
          {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", Json::object({{"name", kNamespace}})}});
      again->client.call(std::move(space), [later](const base::Result<Json>&) { later(kRetry); });
    });
  });
}

}  // namespace node

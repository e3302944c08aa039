// How the Node, its status and its Lease are written and kept up to date.
#include "node/agent/node/node_object.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "node/devices/gpu_labels.h"
#include "node/machine/huge_pages.h"

namespace node {

using api::Json;

namespace {

constexpr base::Duration kStatusPeriod = base::seconds(30);
constexpr base::Duration kLeasePeriod = base::seconds(10);
constexpr base::Duration kRetry = base::seconds(1);
constexpr base::Duration kNodePause = base::milliseconds(200);  // between two writes of the Node
constexpr const char* kLeaseNamespace = "kube-node-lease";

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

NodeObject::NodeObject(AgentLoop& loop, client::Client& client, const Options& options, MachineFacts facts,
                       DeviceManager& devices)
    : loop_(loop),
      client_(client),
      options_(options),
      facts_(std::move(facts)),
      devices_(devices),
      own_node_(client, loop.env(), api::resources::kNodes, {.field_selector = "metadata.name=" + options.node_name}) {
  capacity_["cpu"] = api::Quantity::from_int(facts_.cpus);
  capacity_["memory"] = api::Quantity::from_int(facts_.memory_bytes / 1024 * 1024, api::Quantity::Format::kBinarySi);
  capacity_["ephemeral-storage"] =
      api::Quantity::from_int(facts_.disk_bytes / 1024 * 1024, api::Quantity::Format::kBinarySi);
  for (const auto& [page, bytes] : facts_.huge_pages)
    capacity_[huge_page_resource(page)] = api::Quantity::from_int(bytes, api::Quantity::Format::kBinarySi);
  capacity_["pods"] = api::Quantity::from_int(options.pods_max);
  for (const auto& [name, quantity] : options.capacity) capacity_[name] = quantity;
}

void NodeObject::start() {
  ready_ = true;
  own_node_.start();
  write();
  keep_lease();
}

void NodeObject::fail(std::string why) {
  error_ = std::move(why);
  write();
}

api::ResourceList NodeObject::allocatable() const {
  api::ResourceList usable = capacity_;
  std::int64_t left = usable["memory"].value();
  for (const auto& [page, bytes] : facts_.huge_pages) left = std::max<std::int64_t>(0, left - bytes);
  if (!facts_.huge_pages.empty()) usable["memory"] = api::Quantity::from_int(left, api::Quantity::Format::kBinarySi);
  return usable;
}

Json NodeObject::status() const {
  const base::Time now = loop_.now();
  const DeviceManager::Amounts amounts = devices_.amounts();
  api::ResourceList all = capacity_, usable = allocatable();
  for (const auto& [name, amount] : amounts.capacity) all[name] = amount;
  for (const auto& [name, amount] : amounts.allocatable) usable[name] = amount;
  Json conditions = Json::array();
  const bool up = ready_ && !stopping_;
  conditions.push_back(condition_json(
      {"MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"}, now));
  conditions.push_back(
      condition_json({"DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"}, now));
  conditions.push_back(
      condition_json({"PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"}, now));
  conditions.push_back(
      up ? condition_json({"Ready", "True", "KubeletReady", "kubelet is posting ready status"}, now)
         : condition_json({"Ready", "False", "KubeletNotReady", error_.empty() ? "the node agent is stopping" : error_},
                          now));
  const std::string runtime_name = loop_.runtime() ? loop_.runtime()->name() : "none";
  Json handlers = Json::array({Json::object({{"name", ""}})});
  if (loop_.runtime())
    for (const std::string& name : loop_.runtime()->handlers()) handlers.push_back(Json::object({{"name", name}}));
  return Json::object(
      {{"capacity", api::to_json(all)},
       {"allocatable", api::to_json(usable)},
       {"conditions", conditions},
       {"addresses", Json::array({Json::object({{"type", "InternalIP"}, {"address", options_.host_ip}}),
                                  Json::object({{"type", "Hostname"}, {"address", options_.node_name}})})},
       {"runtimeHandlers", std::move(handlers)},
       {"nodeInfo", Json::object({{"machineID", facts_.machine_id},
                                  {"systemUUID", facts_.machine_id},
                                  {"bootID", facts_.boot_id},
                                  {"kernelVersion", facts_.kernel},
                                  {"osImage", facts_.os_image},
                                  {"containerRuntimeVersion", runtime_name},
                                  {"kubeletVersion", "v1.36.0-volcano"},
                                  {"kubeProxyVersion", ""},
                                  {"operatingSystem", "linux"},
                                  {"architecture", facts_.architecture}})}});
}

// Drops the Node's devices and huge pages that this machine does not have any more.
void NodeObject::drop_old_devices(const Json& kept, Json& status) {
  for (const std::string& resource : devices_.forgotten())
    for (const char* list : {"capacity", "allocatable"})
      if (kept["status"][list].has(resource) && !status[list].has(resource)) status.edit(list).set(resource, Json());
  for (const char* list : {"capacity", "allocatable"})
    for (const Json::Member& member : kept["status"][list].members())
      if (page_bytes_of(member.name()) > 0 && !status[list].has(member.name()))
        status.edit(list).set(member.name(), Json());
  if (!devices_.settled()) return;
  const auto labels = devices_.labels();
  for (const Json::Member& member : kept["metadata"]["labels"].members())
    if (is_gpu_label(member.name()) && !labels.contains(std::string(member.name()))) {
      const bool given =
          std::ranges::any_of(options_.labels, [&](const auto& one) { return one.first == member.name(); });
      if (!given) stale_labels_.emplace(member.name());
    }
  if (!stale_labels_.empty()) due_ = true;
  for (const char* list : {"capacity", "allocatable"})
    for (const Json::Member& member : kept["status"][list].members())
      if (is_gpu_amount(member.name()) && !status[list].has(member.name()))
        status.edit(list).set(member.name(), Json());
}

void NodeObject::write_status(const Json& status) {
  client::Request request{.verb = client::Verb::kPatch,
                          .resource = api::resources::kNodes,
                          .ns = {},
                          .name = options_.node_name,
                          .subresource = "status"};
  // Lists merge by type: conditions and addresses that others wrote stay.
  request.patch_type = client::PatchType::kStrategic;
  request.field_manager = "kubelet";
  request.body = Json::object({{"status", status}});
  std::vector<std::string> gone;  // and not offered again since this status was made
  for (const std::string& resource : devices_.forgotten())
    if (!status["capacity"].has(resource) || status["capacity"][resource].is_null()) gone.push_back(resource);
  client_.call(std::move(request), loop_.while_alive([this, gone](const base::Result<Json>& written) {
    if (written.ok()) devices_.forgotten_reported(gone);
    write_again(written.ok() ? kStatusPeriod : kRetry);
  }));
}

Json NodeObject::labels() {
  Json labels = Json::object({{"kubernetes.io/hostname", options_.node_name},
                              {"kubernetes.io/os", "linux"},
                              {"kubernetes.io/arch", facts_.architecture},
                              {"beta.kubernetes.io/os", "linux"},
                              {"beta.kubernetes.io/arch", facts_.architecture}});
  for (const auto& [key, value] : devices_.labels()) labels.set(key, value);
  for (const auto& [key, value] : options_.labels) labels.set(key, value);
  for (const std::string& key : std::exchange(stale_labels_, {}))
    if (!labels.has(key)) labels.set(key, Json());
  return labels;
}

// Creates the Node, or brings its labels and status up to date; again every so often.
void NodeObject::write() {
  const Json labels = this->labels();
  Json annotations = Json::object();
  for (const auto& [key, value] : devices_.annotations()) annotations.set(key, value);
  annotations.set("volcano.sh/host-rootfs", options_.host_rootfs ? "true" : "false");  // vsub asks
  timer_ = 0;
  due_ = false;
  next_ = loop_.uptime() + kNodePause;
  const Json body = Json::object(
      {{"apiVersion", "v1"},
       {"kind", "Node"},
       {"metadata", Json::object({{"name", options_.node_name}, {"labels", labels}, {"annotations", annotations}})},
       {"spec", Json::object()},
       {"status", status()}});
  client::Request request{
      .verb = client::Verb::kPatch, .resource = api::resources::kNodes, .ns = {}, .name = options_.node_name};
  request.patch_type = client::PatchType::kMerge;
  request.field_manager = "kubelet";
  request.body = Json::object({{"metadata", Json::object({{"labels", labels}, {"annotations", annotations}})}});
  client_.call(std::move(request), loop_.while_alive([this, body](const base::Result<Json>& patched) {
    if (patched.ok()) return patch_status(body, patched);
    if (patched.error().code != base::Code::kNotFound) return write_again(kRetry);
    client::Request create{.verb = client::Verb::kCreate, .resource = api::resources::kNodes};
    create.field_manager = "kubelet";
    create.body = body;
    client_.call(std::move(create),
                 loop_.while_alive([this, body](const base::Result<Json>& created) { patch_status(body, created); }));
  }));
}

void NodeObject::patch_status(const Json& body, const base::Result<Json>& kept) {
  if (!kept.ok()) return write_again(kRetry);
  Json status = body["status"];
  drop_old_devices(*kept, status);
  // Conditions that did not change keep the time of their last change.
  for (std::size_t i = 0; i < status["conditions"].size(); ++i) {
    Json& condition = status.edit("conditions").edit(i);
    Json since = condition["lastHeartbeatTime"];
    for (const Json& old : (*kept)["status"]["conditions"].items())
      if (old["type"] == condition["type"] && old["status"] == condition["status"]) since = old["lastTransitionTime"];
    condition.set("lastTransitionTime", since);
  }
  write_status(status);
}

void NodeObject::write_again(base::Duration delay) { write_in(due_ ? next_ - loop_.uptime() : delay); }

void NodeObject::write_in(base::Duration delay) {
  timer_ = loop_.after(std::max(delay, base::Duration{}), [this] {
    if (!stopping_) write();
  });
}

// Devices may come and go hundreds of times a second, and each write of the Node goes to the disk and to all watchers.
void NodeObject::refresh() {
  due_ = true;
  if (timer_ == 0) return;  // the one under way is followed by another
  loop_.cancel(timer_);
  if (loop_.uptime() >= next_) return write();
  write_in(next_ - loop_.uptime());
}

void NodeObject::keep_lease_in(base::Duration delay) {
  loop_.after(delay, [this] {
    if (!stopping_) keep_lease();
  });
}

void NodeObject::keep_lease() {
  const std::string now = base::format_rfc3339_micro(loop_.now());
  const Json spec =
      Json::object({{"holderIdentity", options_.node_name}, {"leaseDurationSeconds", 40}, {"renewTime", now}});
  client::Request request{.verb = client::Verb::kPatch,
                          .resource = api::resources::kLeases,
                          .ns = kLeaseNamespace,
                          .name = options_.node_name};
  request.field_manager = "kubelet";
  request.body = Json::object({{"spec", spec}});
  client_.call(std::move(request), loop_.while_alive([this, spec](const base::Result<Json>& renewed) {
    if (renewed.ok() || renewed.error().code != base::Code::kNotFound)
      return keep_lease_in(renewed.ok() ? kLeasePeriod : kRetry);
    create_lease(spec);
  }));
}

// Creates the Lease, and its namespace where there is none.
void NodeObject::create_lease(const Json& spec) {
  client::Request create{.verb = client::Verb::kCreate, .resource = api::resources::kLeases, .ns = kLeaseNamespace};
  create.field_manager = "kubelet";
  create.body =
      Json::object({{"apiVersion", "coordination.k8s.io/v1"},
                    {"kind", "Lease"},
                    {"metadata", Json::object({{"name", options_.node_name}, {"namespace", kLeaseNamespace}})},
                    {"spec", spec}});
  client_.call(std::move(create), loop_.while_alive([this](const base::Result<Json>& created) {
    if (created.ok() || created.error().code != base::Code::kNotFound)
      return keep_lease_in(created.ok() ? kLeasePeriod : kRetry);
    client::Request space{.verb = client::Verb::kCreate, .resource = api::resources::kNamespaces};
    space.body = Json::object(
        {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", Json::object({{"name", kLeaseNamespace}})}});
    client_.call(std::move(space), loop_.while_alive([this](const base::Result<Json>&) { keep_lease_in(kRetry); }));
  }));
}

}  // namespace node

// How the fields of a pod become settings of a sandbox and of containers.
#include "node/pod/pod_specs.h"

#include <algorithm>
#include <set>

#include "api/meta/resource.h"
#include "api/pod_requests.h"
#include "api/pods/stop_signals.h"
#include "api/schema/quantity.h"
#include "base/format.h"
#include "base/utf8.h"
#include "node/machine/huge_pages.h"
#include "node/machine/security_context.h"
#include "node/pod/environment.h"
#include "node/pod/pod_plan.h"
#include "node/pod/volumes.h"
#include "rt/tls/tls.h"

namespace node {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr std::size_t kPathMax = 4095;

std::string resolv_conf_of(const Json& pod) {
  const Json& spec = pod["spec"];
  const std::string_view policy = spec["dnsPolicy"].as_string("ClusterFirst");
  const bool cluster =
      policy == "ClusterFirstWithHostNet" || (policy == "ClusterFirst" && !spec["hostNetwork"].as_bool());
  if (!cluster && policy != "None") return {};  // the host's
  const std::string_view ns = api::namespace_of(pod);
  const Json& config = spec["dnsConfig"];
  std::string servers, search, options;
  if (cluster) {
    servers = "nameserver @NAMESERVER@\n";
    search = base::format(" {}.svc.cluster.local svc.cluster.local cluster.local", ns);
    options = " ndots:5";
  }
  for (const Json& server : config["nameservers"].items())
    servers += base::format("nameserver {}\n", server.as_string());
  for (const Json& domain : config["searches"].items()) search += base::format(" {}", domain.as_string());
  for (const Json& option : config["options"].items()) {
    options += base::format(" {}", option["name"].as_string());
    if (!option["value"].as_string().empty()) options += base::format(":{}", option["value"].as_string());
  }
  return servers + (search.empty() ? "" : "search" + search + "\n") +
         (options.empty() ? "" : "options" + options + "\n");
}

base::Result<std::vector<std::string>> words(const char* field, const Json& list, const Environment& environment) {
  std::vector<std::string> out;
  std::size_t bytes = 0;
  for (const Json& word : list.items()) {
    out.push_back(expand(word.as_string(), environment));
    bytes += out.back().size() + 1;
    if (out.back().size() >= kWordBytesMax || bytes > kWordsBytesMax)
      return make_error(Code::kInvalid, base::format("{}: longer than a program is given", field));
  }
  return out;
}

// The names of volumes that are made of API objects. Containers read them only.
std::set<std::string_view> live_volumes(const Json& pod) {
  std::set<std::string_view> names;
  for (const Json& volume : pod["spec"]["volumes"].items())
    if (is_live_volume(volume)) names.insert(volume["name"].as_string());
  return names;
}

base::Status add_mounts(const Json& pod, const Json& json, const Environment& environment, ContainerSpec& spec) {
  const std::set<std::string_view> live = live_volumes(pod);
  for (const Json& mount : json["volumeMounts"].items()) {
    std::string sub = mount["subPath"].str();
    if (const std::string_view expression = mount["subPathExpr"].as_string(); !expression.empty())
      sub = expand(expression, environment);
    if (sub == ".." || sub.starts_with("/") || sub.starts_with("../") || sub.ends_with("/..") ||
        sub.find("/../") != std::string::npos)
      return make_error(Code::kInvalid, base::format("subPath {:?} leaves the volume", sub));
    if (sub.size() > kPathMax || sub.find('\0') != std::string::npos)
      return make_error(Code::kInvalid, "subPath: this is not a path");
    spec.mounts.push_back({"volume:" + mount["name"].str() + "/" + sub, mount["mountPath"].str(),
                           mount["readOnly"].as_bool() || live.contains(mount["name"].as_string())});
    const std::string_view below = mount["recursiveReadOnly"].as_string(), way = mount["mountPropagation"].as_string();
    if (below == "Enabled") spec.mounts.back().read_only_below = MountSpec::Recursion::kAlways;
    if (below == "IfPossible") spec.mounts.back().read_only_below = MountSpec::Recursion::kIfPossible;
    if (way == "HostToContainer") spec.mounts.back().propagation = MountSpec::Propagation::kIn;
    if (way == "Bidirectional") spec.mounts.back().propagation = MountSpec::Propagation::kBoth;
  }
  return {};
}

void set_resources(const Json& pod, const Json& json, const Lookups& lookups, ContainerSpec& spec) {
  const PodAmounts amounts = container_amounts(effective_resources(pod, json));
  spec.cpu_request_milli = amounts.cpu_request_milli;
  spec.cpu_limit_milli = amounts.cpu_limit_milli;
  spec.memory_limit_bytes = amounts.memory_limit_bytes;
  spec.huge_page_limits = huge_page_limits(json, lookups.allocatable);
  spec.oom_score_adjustment = oom_score_adjustment(pod, json, lookups.allocatable);
}

std::int64_t memory_in(const api::ResourceList& list) {
  const auto found = list.find("memory");
  return found == list.end() ? 0 : bounded_amount(found->second.value(), kMemoryBytesMax);
}

// Each container has the same part of the memory that its pod asks for beyond its containers.
std::int64_t memory_share_of_pod(const Json& spec) {
  const std::int64_t rest =
      memory_in(api::pod_total(spec, "requests")) - memory_in(api::containers_total(spec, "requests"));
  std::size_t count = spec["containers"].size();
  for (const Json& container : spec["initContainers"].items())
    if (container["restartPolicy"].as_string() == "Always") ++count;
  return rest > 0 && count > 0 ? rest / static_cast<std::int64_t>(count) : 0;
}

// The amounts that all containers may use together: their sum, or an init container's if that is more.
PodAmounts sum_of(const PodAmounts& a, const PodAmounts& b) {
  return {std::min(kCpuMilliMax, a.cpu_request_milli + b.cpu_request_milli),
          std::min(kCpuMilliMax, a.cpu_limit_milli + b.cpu_limit_milli),
          std::min(kMemoryBytesMax, a.memory_limit_bytes + b.memory_limit_bytes)};
}

PodAmounts larger_of(const PodAmounts& a, const PodAmounts& b) {
  return {std::max(a.cpu_request_milli, b.cpu_request_milli), std::max(a.cpu_limit_milli, b.cpu_limit_milli),
          std::max(a.memory_limit_bytes, b.memory_limit_bytes)};
}

// At the most demanding moment: the containers and sidecars together, or an init container beside the sidecars that
// were started before it. A pod of which one container has no limit has none. The limit of the pod as a whole goes
// before.
void set_pod_limits(const Json& pod, SandboxSpec& spec) {
  bool cpu_limited = true, memory_limited = true;
  const auto amounts_of_one = [&](const Json& container) {
    const PodAmounts one = container_amounts(container["resources"]);
    cpu_limited = cpu_limited && one.cpu_limit_milli > 0;
    memory_limited = memory_limited && one.memory_limit_bytes > 0;
    return one;
  };
  PodAmounts together, sidecars, most;
  for (const Json& container : pod["spec"]["containers"].items())
    together = sum_of(together, amounts_of_one(container));
  for (const Json& container : pod["spec"]["initContainers"].items()) {
    const PodAmounts step = sum_of(sidecars, amounts_of_one(container));
    most = larger_of(most, step);
    if (container["restartPolicy"].as_string() == "Always") sidecars = step;
  }
  PodAmounts own = larger_of(most, sum_of(together, sidecars));
  const Json& whole = pod["spec"]["resources"];
  const PodAmounts asked = container_amounts(whole);
  if (!whole["requests"]["cpu"].is_null() || asked.cpu_limit_milli > 0) own.cpu_request_milli = asked.cpu_request_milli;
  if (asked.cpu_limit_milli > 0) {
    own.cpu_limit_milli = asked.cpu_limit_milli;
    cpu_limited = true;
  }
  if (asked.memory_limit_bytes > 0) {
    own.memory_limit_bytes = asked.memory_limit_bytes;
    memory_limited = true;
  }
  // The surroundings' own use comes on top.
  const PodAmounts total = sum_of(own, container_amounts(Json::object({{"limits", pod["spec"]["overhead"]}})));
  spec.cpu_request_milli = total.cpu_request_milli;
  spec.cpu_limit_milli = cpu_limited ? total.cpu_limit_milli : 0;
  spec.memory_limit_bytes = memory_limited ? total.memory_limit_bytes : 0;
}

}  // namespace

Json effective_resources(const Json& pod, const Json& container) {
  Json resources = container["resources"].is_object() ? container["resources"] : Json::object();
  const Json& whole = pod["spec"]["resources"]["limits"];
  for (const char* name : {"cpu", "memory"})
    if (!whole[name].is_null() && resources["limits"][name].is_null()) resources.edit("limits").set(name, whole[name]);
  return resources;
}

// The more memory a burstable container asked for, the later the kernel picks it.
int oom_score_adjustment(const Json& pod, const Json& container, const api::ResourceList& allocatable) {
  const std::string_view qos = api::qos_class(pod["spec"]);
  if (qos == "Guaranteed") return -997;
  if (qos == "BestEffort") return 1000;
  const Json& resources = container["resources"];
  auto request = api::Quantity::from_json(resources["requests"]["memory"]);
  if (!request) request = api::Quantity::from_json(resources["limits"]["memory"]);
  std::int64_t asked = request ? bounded_amount(request->value(), kMemoryBytesMax) : 0;
  asked = std::min(kMemoryBytesMax, asked + memory_share_of_pod(pod["spec"]));
  const std::int64_t bytes = memory_in(allocatable);
  const double share = bytes > 0 ? 1000.0 * static_cast<double>(asked) / static_cast<double>(bytes) : 1.0;
  return static_cast<int>(std::clamp(1000.0 - share, 3.0, 999.0));
}

std::string container_id(std::string_view pod_uid, std::string_view container, int attempt) {
  return rt::sha256_hex(base::format("{}/{}/{}", pod_uid, container, attempt));
}

std::vector<std::string> left_out(const Json& pod, bool host_ports_answer) {
  std::vector<std::string> words;
  const auto add = [&](bool asked, const char* what) {
    if (asked && std::find(words.begin(), words.end(), what) == words.end()) words.push_back(what);
  };
  for (const char* list : {"initContainers", "containers"}) {
    for (const Json& container : pod["spec"][list].items()) {
      for (const Json& port : container["ports"].items()) {
        if (port["hostPort"].as_int() == 0 || pod["spec"]["hostNetwork"].as_bool()) continue;
        add(!host_ports_answer, "host ports");
        add(port["hostIP"].as_string().starts_with("127."), "host ports of the loopback");
      }
    }
  }
  return words;
}

std::string hostname_of(const Json& pod) {
  std::string name = pod["spec"]["hostname"].str();
  if (name.empty()) name = api::name_of(pod);
  // The kernel takes 64 bytes; names of pods may be longer.
  name = base::utf8_prefix(name, 63);
  while (name.ends_with('-') || name.ends_with('.')) name.pop_back();
  return name;
}

PullPolicy pull_policy(const Json& container) {
  const std::string_view policy = container["imagePullPolicy"].as_string();
  if (policy == "Always") return PullPolicy::kAlways;
  if (policy == "Never") return PullPolicy::kNever;
  return PullPolicy::kIfNotPresent;
}

SandboxSpec sandbox_spec(const Json& pod) {
  const Json& body = pod["spec"];
  SandboxSpec spec;
  spec.uid = api::uid_of(pod);
  spec.ns = api::namespace_of(pod);
  spec.name = api::name_of(pod);
  // The names in DNS stay what they are.
  const std::string own_name = body["hostnameOverride"].str();
  spec.hostname = own_name.empty() ? hostname_of(pod) : own_name;
  if (const std::string_view subdomain = body["subdomain"].as_string(); !subdomain.empty() && own_name.empty())
    spec.fqdn = base::format("{}.{}.{}.svc.cluster.local", spec.hostname, subdomain, spec.ns);
  spec.set_hostname_as_fqdn = body["setHostnameAsFQDN"].as_bool();
  spec.host_users = body["hostUsers"].as_bool(true);
  spec.host_network = body["hostNetwork"].as_bool();
  spec.host_pid = body["hostPID"].as_bool();
  spec.host_ipc = body["hostIPC"].as_bool();
  spec.share_processes = body["shareProcessNamespace"].as_bool();
  for (const Json& alias : body["hostAliases"].items()) {
    std::vector<std::string> names;
    for (const Json& name : alias["hostnames"].items()) names.push_back(name.str());
    spec.host_aliases.emplace_back(alias["ip"].str(), std::move(names));
  }
  spec.resolv_conf = resolv_conf_of(pod);
  set_pod_limits(pod, spec);
  return spec;
}

base::Result<ContainerSpec> container_spec_for(const Json& pod, const ContainerState& container,
                                               const Lookups& lookups) {
  const Json& json = container_spec(pod, container);
  TRY(Environment environment, environment_of(pod, json, lookups));
  ContainerSpec spec;
  spec.pod_uid = api::uid_of(pod);
  spec.name = container.name;
  spec.attempt = container.attempt;
  spec.id = container_id(spec.pod_uid, spec.name, spec.attempt);
  spec.image = json["image"].str();
  TRY(spec.command, words("command", json["command"], environment));
  TRY(spec.arguments, words("args", json["args"], environment));
  spec.working_directory = json["workingDir"].str();
  spec.stop_signal = api::signal_number(json["lifecycle"]["stopSignal"].as_string()).value_or(0);
  spec.terminal = json["tty"].as_bool();
  spec.input = json["stdin"].as_bool();
  spec.input_once = json["stdinOnce"].as_bool();
  TRY_VOID(add_mounts(pod, json, environment, spec));
  set_security(pod, json, spec);
  if (spec.must_not_be_root && spec.user && *spec.user == 0)
    return make_error(Code::kInvalid, "container's runAsUser breaks non-root policy");
  set_resources(pod, json, lookups, spec);
  spec.termination_message_path = json["terminationMessagePath"].as_string();
  if (!spec.termination_message_path.starts_with('/')) spec.termination_message_path = "/dev/termination-log";
  spec.environment = std::move(environment);
  return spec;
}

}  // namespace node

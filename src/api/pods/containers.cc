// Containers of a pod template: names, ports, environment, mounts, probes.
#include <algorithm>
#include <array>

#include "api/ipv4.h"
#include "api/pods/names.h"
#include "api/pods/parts.h"
#include "api/pods/stop_signals.h"
#include "base/format.h"
#include "base/split.h"
#include "base/trim.h"

namespace api {

namespace {

constexpr std::array<std::string_view, 3> kPullPolicies = {"Always", "IfNotPresent", "Never"};
constexpr std::array<std::string_view, 3> kProtocols = {"SCTP", "TCP", "UDP"};
constexpr std::array<std::string_view, 2> kTerminationPolicies = {"File", "FallbackToLogsOnError"};
constexpr std::array<std::string_view, 3> kRestartPolicies = {"Always", "Never", "OnFailure"};
constexpr std::int64_t kDefaultGraceSeconds = 30;
constexpr std::string_view kPortRange = "must be between 1 and 65535, inclusive";

bool is_port(std::int64_t port) { return port >= 1 && port <= 65535; }

void check_ports(const Json& ports, const std::string& path, bool host_network, FieldErrors& errors) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const Json& port = ports[i];
    const std::string where = at(path, i);
    if (const std::string name = port["name"].str(); !name.empty()) {
      const auto problems = check_port_name(name);
      if (!problems.empty())
        errors.invalid(in(where, "name"), name, problems);
      else if (!names.insert(name).second)
        errors.duplicate(in(where, "name"), name);
    }
    const std::int64_t number = port["containerPort"].as_int();
    if (number == 0)
      errors.required(in(where, "containerPort"));
    else if (!is_port(number))
      errors.invalid(in(where, "containerPort"), number, kPortRange);
    const std::int64_t host_port = port["hostPort"].as_int();
    if (host_port != 0 && !is_port(host_port)) errors.invalid(in(where, "hostPort"), host_port, kPortRange);
    if (const std::string protocol = port["protocol"].str(); !protocol.empty())
      errors.one_of(in(where, "protocol"), protocol, kProtocols);
    if (const std::string address = port["hostIP"].str(); !address.empty() && !is_ip_address(address))
      errors.invalid(in(where, "hostIP"), address, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    if (host_network && host_port != 0 && host_port != number)
      errors.invalid(in(where, "hostPort"), host_port, "must match `containerPort` when `hostNetwork` is true");
  }
}

void check_value_from(const Json& source, const std::string& path, bool has_value, FieldErrors& errors) {
  int given = 0;
  for (const char* kind : {"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"})
    if (source[kind].is_object()) ++given;
  if (given == 0)
    errors.invalid(path, "",
                   "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or "
                   "`fileKeyRef`");
  else if (has_value)
    errors.invalid(path, "", "may not be specified when `value` is not empty");
  else if (given > 1)
    errors.invalid(path, "", "may not have more than one field specified at a time");
  for (const char* kind : {"configMapKeyRef", "secretKeyRef"}) {
    if (!source[kind].is_object()) continue;
    const std::string where = in(path, kind);
    const std::string name = source[kind]["name"].str(), key = source[kind]["key"].str();
    if (name.empty())
      errors.required(in(where, "name"));
    else
      errors.invalid(in(where, "name"), name, check_dns_subdomain(name));
    if (key.empty())
      errors.required(in(where, "key"));
    else
      errors.invalid(in(where, "key"), key, check_config_key(key));
  }
  constexpr std::array<std::string_view, 9> kFields = {
      "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
      "status.hostIP", "status.hostIPs",     "status.podIP", "status.podIPs"};
  if (source["fieldRef"].is_object()) check_field_ref(source["fieldRef"], in(path, "fieldRef"), kFields, errors);
  if (source["resourceFieldRef"].is_object())
    check_resource_field_ref(source["resourceFieldRef"], in(path, "resourceFieldRef"), errors);
}

void check_env(const Json& container, const std::string& path, FieldErrors& errors) {
  const Json& env = container["env"];
  for (std::size_t i = 0; i < env.size(); ++i) {
    const std::string where = at(in(path, "env"), i);
    const std::string name = env[i]["name"].str();
    if (name.empty())
      errors.required(in(where, "name"));
    else
      errors.invalid(in(where, "name"), name, check_env_name(name));
    if (env[i]["valueFrom"].is_object())
      check_value_from(env[i]["valueFrom"], in(where, "valueFrom"), !env[i]["value"].as_string().empty(), errors);
  }
  const Json& from = container["envFrom"];
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::string where = at(in(path, "envFrom"), i);
    if (const std::string prefix = from[i]["prefix"].str(); !prefix.empty())
      errors.invalid(in(where, "prefix"), prefix, check_env_name(prefix));
    const bool map = from[i]["configMapRef"].is_object();
    const bool secret = from[i]["secretRef"].is_object();
    if (!map && !secret)
      errors.invalid(where, "", "must specify one of: `configMapRef` or `secretRef`");
    else if (map && secret)
      errors.invalid(where, "", "may not have more than one field specified at a time");
    for (const char* source : {"configMapRef", "secretRef"}) {
      if (!from[i][source].is_object()) continue;
      const std::string name = from[i][source]["name"].str(), place = in(in(where, source), "name");
      if (name.empty())
        errors.required(place);
      else
        errors.invalid(place, name, check_dns_subdomain(name));
    }
  }
}

void check_relative_path(const std::string& path, const std::string& value, FieldErrors& errors) {
  if (value.starts_with("/")) errors.invalid(path, value, "must be a relative path");
  check_no_way_up(path, value, errors);
}

// How mounts of the host come in and go out, and whether they can be written.
void check_propagation(const Json& mount, const std::string& where, bool privileged, FieldErrors& errors) {
  constexpr std::array<std::string_view, 3> kWays = {"Bidirectional", "HostToContainer", "None"};
  constexpr std::array<std::string_view, 3> kRecursive = {"Disabled", "Enabled", "IfPossible"};
  const Json& way = mount["mountPropagation"];
  if (way.is_string()) errors.one_of(in(where, "mountPropagation"), way.as_string(), kWays);
  if (way.as_string() == "Bidirectional" && !privileged)
    errors.forbidden(in(where, "mountPropagation"),
                     "Bidirectional mount propagation is available only to privileged containers");
  const Json& recursive = mount["recursiveReadOnly"];
  if (!recursive.is_string()) return;
  errors.one_of(in(where, "recursiveReadOnly"), recursive.as_string(), kRecursive);
  if (recursive.as_string() == "Disabled") return;
  if (!mount["readOnly"].as_bool())
    errors.forbidden(in(where, "recursiveReadOnly"), "may only be specified when readOnly is true");
  if (way.is_string() && way.as_string() != "None")
    errors.forbidden(in(where, "recursiveReadOnly"),
                     "may only be specified when mountPropagation is None or not specified");
}

void check_mounts(const Json& container, const std::string& path, const std::set<std::string>& volumes,
                  FieldErrors& errors) {
  const Json& mounts = container["volumeMounts"];
  const bool privileged = container["securityContext"]["privileged"].as_bool();
  std::set<std::string_view> devices, places;
  for (const Json& device : container["volumeDevices"].items()) {
    devices.insert(device["name"].as_string());
    places.insert(device["devicePath"].as_string());
  }
  std::set<std::string> paths;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const std::string where = at(path, i);
    const std::string name = mounts[i]["name"].str();
    const std::string mount_path = mounts[i]["mountPath"].str();
    if (name.empty())
      errors.required(in(where, "name"));
    else if (!volumes.count(name))
      errors.not_found(in(where, "name"), name);
    if (mount_path.empty())
      errors.required(in(where, "mountPath"));
    else if (!paths.insert(mount_path).second)
      errors.invalid(in(where, "mountPath"), mount_path, "must be unique");
    if (devices.contains(name)) errors.invalid(in(where, "name"), name, "must not already exist in volumeDevices");
    if (places.contains(mount_path))
      errors.invalid(in(where, "mountPath"), mount_path, "must not already exist as a path in volumeDevices");
    check_propagation(mounts[i], where, privileged, errors);
    const std::string sub_path = mounts[i]["subPath"].str();
    const std::string expression = mounts[i]["subPathExpr"].str();
    if (!sub_path.empty()) check_relative_path(in(path, "subPath"), sub_path, errors);  // Kubernetes' own path
    if (!expression.empty() && !sub_path.empty())
      errors.invalid(in(where, "subPathExpr"), expression, "subPathExpr and subPath are mutually exclusive");
    else if (!expression.empty())
      check_relative_path(in(path, "subPathExpr"), expression, errors);
  }
}

void check_resize_policy(const Json& rows, const std::string& path, bool never_restarted, FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kResources = {"cpu", "memory"};
  constexpr std::array<std::string_view, 2> kPolicies = {"NotRequired", "RestartContainer"};
  std::set<std::string> seen;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string name = rows[i]["resourceName"].str();
    if (!seen.insert(name).second) errors.duplicate(at(path, i), rows[i]["resourceName"]);
    errors.one_of(path, name, kResources);
    const std::string_view policy = rows[i]["restartPolicy"].as_string();
    errors.one_of(path, policy, kPolicies);
    if (never_restarted && policy != "NotRequired")
      errors.invalid(path, policy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
  }
}

constexpr std::size_t kRestartRulesMax = 20, kExitCodesMax = 255;

void check_exit_codes(const Json& codes, const std::string& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kOperators = {"In", "NotIn"};
  if (!codes.is_object()) return errors.required(path, "must be specified");
  errors.one_of(in(path, "operator"), codes["operator"].as_string(), kOperators);
  const Json& values = codes["values"];
  if (values.size() > kExitCodesMax) errors.too_many(in(path, "values"), values.size(), kExitCodesMax);
}

void check_restart_rules(const Json& container, const std::string& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kActions = {"Restart", "RestartAllContainers"};
  const Json& rules = container["restartPolicyRules"];
  if (rules.empty()) return;
  if (container["restartPolicy"].as_string().empty())
    errors.required(in(path, "restartPolicy"), "must specify restartPolicy when restart rules are used");
  const std::string where = in(path, "restartPolicyRules");
  if (rules.size() > kRestartRulesMax) return errors.too_many(where, rules.size(), kRestartRulesMax);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    errors.one_of(in(at(where, i), "action"), rules[i]["action"].as_string(), kActions);
    check_exit_codes(rules[i]["exitCodes"], in(at(where, i), "exitCodes"), errors);
  }
}

void check_stop_signal(const Json& lifecycle, const std::string& path, const Json& spec, FieldErrors& errors) {
  const Json& signal = lifecycle["stopSignal"];
  if (!signal.is_string()) return;
  const std::string_view system = spec["os"]["name"].as_string();
  const bool known = system == "windows" ? signal.as_string() == "SIGTERM" || signal.as_string() == "SIGKILL"
                                         : is_stop_signal(signal.as_string());
  if (system.empty()) errors.forbidden(path, "may not be set for containers with empty `spec.os.name`");
  if (!known) errors.invalid(path, signal, base::format("is not a signal of {}", system.empty() ? "linux" : system));
}

void check_container(const Json& container, const std::string& path, const Json& spec,
                     const std::set<std::string>& volumes, const PodNames& known, FieldErrors& errors) {
  const std::string name = container["name"].str();
  if (name.empty())
    errors.required(in(path, "name"));
  else
    errors.invalid(in(path, "name"), name, check_dns_label(name));
  if (container["image"].as_string().empty()) errors.required(in(path, "image"));
  check_choice(container, path, "terminationMessagePolicy", kTerminationPolicies, errors);
  check_ports(container["ports"], in(path, "ports"), spec["hostNetwork"].as_bool(), errors);
  check_env(container, path, errors);
  check_mounts(container, in(path, "volumeMounts"), volumes, errors);
  check_devices(container, known, in(path, "volumeDevices"), errors);
  check_choice(container, path, "imagePullPolicy", kPullPolicies, errors);
  check_resources(container["resources"], in(path, "resources"), ResourcesOf::kContainer, errors);
  check_claims(container["resources"]["claims"], known, in(in(path, "resources"), "claims"), errors);
  check_resize_policy(container["resizePolicy"], in(path, "resizePolicy"), spec["restartPolicy"].as_string() == "Never",
                      errors);
  check_choice(container, path, "restartPolicy", kRestartPolicies, errors);
  check_restart_rules(container, path, errors);
  check_container_security(container["securityContext"], in(path, "securityContext"), errors);
}

void check_life(const Json& container, const std::string& path, const Json& spec, FieldErrors& errors) {
  const Json& given = spec["terminationGracePeriodSeconds"];
  const std::int64_t grace = given.is_number() ? given.as_int() : kDefaultGraceSeconds;
  const Json& lifecycle = container["lifecycle"];
  check_stop_signal(lifecycle, in(in(path, "lifecycle"), "stopSignal"), spec, errors);
  for (const char* hook : {"postStart", "preStop"})
    if (lifecycle[hook].is_object()) check_hook(lifecycle[hook], in(in(path, "lifecycle"), hook), grace, errors);
  if (container["livenessProbe"].is_object())
    check_probe(container["livenessProbe"], in(path, "livenessProbe"), true, errors);
  if (container["readinessProbe"].is_object())
    check_probe(container["readinessProbe"], in(path, "readinessProbe"), false, errors);
  if (container["startupProbe"].is_object())
    check_probe(container["startupProbe"], in(path, "startupProbe"), true, errors);
  if (!container["readinessProbe"]["terminationGracePeriodSeconds"].is_null())
    errors.invalid(in(in(path, "readinessProbe"), "terminationGracePeriodSeconds"),
                   container["readinessProbe"]["terminationGracePeriodSeconds"], "must not be set for readinessProbes");
}

// Two containers of one pod cannot hold the same port of the node.
void check_host_ports(const Json& containers, const std::string& path, FieldErrors& errors) {
  std::set<std::string> taken;
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const Json& ports = containers[i]["ports"];
    for (std::size_t k = 0; k < ports.size(); ++k) {
      const std::int64_t port = ports[k]["hostPort"].as_int();
      if (port == 0) continue;
      const std::string protocol = ports[k]["protocol"].str();
      const std::string text =
          base::format("{}/{}/{}", protocol.empty() ? "TCP" : protocol, ports[k]["hostIP"].as_string(), port);
      if (!taken.insert(text).second) errors.duplicate(in(at(in(at(path, i), "ports"), k), "hostPort"), text);
    }
  }
}

}  // namespace

void check_no_way_up(const std::string& path, std::string_view value, FieldErrors& errors) {
  const std::vector<std::string_view> parts = base::split(value, '/');
  if (std::ranges::find(parts, "..") != parts.end()) errors.invalid(path, value, "must not contain '..'");
}

void check_image_blanks(const Json& containers, const std::string& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < containers.size(); ++i)
    if (const std::string_view image = containers[i]["image"].as_string(); base::trim(image, base::kAllBlanks) != image)
      errors.invalid(in(at(path, i), "image"), image, "must not have leading or trailing whitespace");
}

void check_containers(const Json& spec, const std::string& path, const std::set<std::string>& volumes,
                      FieldErrors& errors) {
  const Json& containers = spec["containers"];
  if (containers.empty()) errors.required(in(path, "containers"));
  const PodNames known(spec);
  std::set<std::string> names;
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const std::string where = at(in(path, "containers"), i);
    check_container(containers[i], where, spec, volumes, known, errors);
    const std::string name = containers[i]["name"].str();
    if (!name.empty() && !names.insert(name).second) errors.duplicate(in(where, "name"), name);
    check_life(containers[i], where, spec, errors);
  }
  check_host_ports(containers, in(path, "containers"), errors);
  const Json& first = spec["initContainers"];
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::string where = at(in(path, "initContainers"), i);
    check_container(first[i], where, spec, volumes, known, errors);
    const std::string name = first[i]["name"].str();
    if (!name.empty() && !names.insert(name).second) errors.duplicate(in(where, "name"), name);
    if (first[i]["restartPolicy"].as_string() == "Always") {
      check_life(first[i], where, spec, errors);
      continue;
    }
    for (const char* field : {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"})
      if (first[i][field].is_object())
        errors.forbidden(in(where, field), "may not be set for init containers without restartPolicy=Always");
    const Json& policies = first[i]["resizePolicy"];
    for (std::size_t j = 0; j < policies.size(); ++j)
      if (policies[j]["restartPolicy"].as_string() == "RestartContainer")
        errors.invalid(in(at(in(where, "resizePolicy"), j), "restartPolicy"), "RestartContainer",
                       "must not be set to 'RestartContainer' for non-sidecar initContainers");
  }
}

}  // namespace api

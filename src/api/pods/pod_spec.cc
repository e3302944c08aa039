// The order in which Kubernetes looks at a pod's specification, and what is of the pod as a whole.
#include "api/pods/pod_spec.h"

#include <algorithm>
#include <array>

#include "api/ipv4.h"
#include "api/pods/names.h"
#include "api/pods/parts.h"
#include "base/format.h"

namespace api {

namespace {

constexpr std::array<std::string_view, 3> kRestartPolicies = {"Always", "OnFailure", "Never"};
constexpr std::array<std::string_view, 4> kDnsPolicies = {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"};
constexpr std::array<std::string_view, 2> kPreemptionPolicies = {"PreemptLowerPriority", "Never"};
constexpr std::array<std::string_view, 2> kSystems = {"linux", "windows"};

constexpr std::size_t kSearchesMax = 32, kSearchBytesMax = 2048;

// Lines of a pod's resolv.conf are made of these.
void check_dns_words(const Json& config, const std::string& where, FieldErrors& errors) {
  const auto servers = config["nameservers"].items();
  for (std::size_t i = 0; i < servers.size() && i < 3; ++i)
    if (const auto why = ip_problem(servers[i].as_string()); !why.empty())
      errors.invalid(at(in(where, "nameservers"), i), servers[i].str(), why);
  const auto searches = config["searches"].items();
  std::size_t bytes = 0;
  for (const Json& search : searches) bytes += search.as_string().size() + 1;
  if (searches.size() > kSearchesMax)
    return errors.invalid(in(where, "searches"), static_cast<std::int64_t>(searches.size()),
                          base::format("must not have more than {} search paths", kSearchesMax));
  if (bytes > kSearchBytesMax + 1)
    return errors.invalid(
        in(where, "searches"), static_cast<std::int64_t>(bytes - 1),
        base::format("must not have more than {} characters (including spaces) in the search list", kSearchBytesMax));
  for (std::size_t i = 0; i < searches.size(); ++i) {
    std::string name = searches[i].str();
    if (name == ".") continue;  // the root of all names
    if (name.ends_with('.')) name.pop_back();
    std::ranges::replace(name, '_', '0');  // names of services have some
    errors.invalid(at(in(where, "searches"), i), searches[i].str(), check_dns_subdomain(name));
  }
}

void check_dns(const Json& spec, const std::string& path, FieldErrors& errors) {
  check_choice(spec, path, "dnsPolicy", kDnsPolicies, errors);
  const Json& config = spec["dnsConfig"];
  const std::string where = in(path, "dnsConfig");
  if (spec["dnsPolicy"].as_string() == "None" && config["nameservers"].empty())
    errors.required(config.is_object() ? in(where, "nameservers") : where,
                    config.is_object() ? "must provide at least one DNS nameserver when `dnsPolicy` is None"
                                       : "must provide `dnsConfig` when `dnsPolicy` is None");
  if (config["nameservers"].size() > 3)
    errors.invalid(in(where, "nameservers"), config["nameservers"], "must not have more than 3 nameservers");
  const auto options = config["options"].items();
  for (std::size_t i = 0; i < options.size(); ++i)
    if (options[i]["name"].as_string().empty()) errors.required(at(in(where, "options"), i), "must not be empty");
  check_dns_words(config, where, errors);
}

void check_readiness_gates(const Json& gates, const std::string& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < gates.size(); ++i)
    errors.invalid(in(at(path, i), "conditionType"), gates[i]["conditionType"].str(),
                   check_qualified_name(gates[i]["conditionType"].as_string()));
}

void check_names(const Json& spec, const std::string& path, FieldErrors& errors) {
  const auto label = [&](std::string_view field) {
    if (const std::string value = spec[field].str(); !value.empty())
      errors.invalid(in(path, field), value, check_dns_label(value));
  };
  const auto subdomain = [&](std::string_view field) {
    if (const std::string value = spec[field].str(); !value.empty())
      errors.invalid(in(path, field), value, check_dns_subdomain(value));
  };
  subdomain("serviceAccountName");
  subdomain("nodeName");
  if (const Json& seconds = spec["activeDeadlineSeconds"]; seconds.is_number())
    if (seconds.as_int() < 1 || seconds.as_int() > 2147483647)
      errors.invalid(in(path, "activeDeadlineSeconds"), seconds, "must be between 1 and 2147483647, inclusive");
  label("hostname");
  label("subdomain");
}

void check_hostname_override(const Json& spec, const std::string& path, FieldErrors& errors) {
  constexpr std::size_t kHostnameMax = 64;
  const Json& name = spec["hostnameOverride"];
  if (!name.is_string()) return;
  const std::string where = in(path, "hostnameOverride");
  errors.invalid(where, name, check_dns_subdomain(name.as_string()));
  if (name.as_string().size() > kHostnameMax) errors.too_long(where, kHostnameMax);
  if (spec["hostNetwork"].as_bool()) errors.forbidden(where, "may not be specified when hostNetwork is true");
  if (spec["setHostnameAsFQDN"].as_bool())
    errors.forbidden(where, "may not be specified when setHostnameAsFQDN is true");
}

void check_gates(const Json& spec, const std::string& path, FieldErrors& errors) {
  const Json& gates = spec["schedulingGates"];
  std::set<std::string> names;
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const std::string where = at(in(path, "schedulingGates"), i);
    const std::string name = gates[i]["name"].str();
    errors.invalid(where, name, check_qualified_name(name));
    if (!names.insert(name).second) errors.duplicate(where, name);
  }
  if (!gates.empty() && !spec["nodeName"].as_string().empty())
    errors.forbidden(in(path, "nodeName"), "cannot be set until all schedulingGates have been cleared");
}

void check_classes(const Json& spec, const std::string& path, FieldErrors& errors) {
  for (const char* field : {"priorityClassName", "runtimeClassName"})
    if (const std::string name = spec[field].str(); !name.empty())
      errors.invalid(in(path, field), name, check_dns_subdomain(name));
  check_choice(spec, path, "preemptionPolicy", kPreemptionPolicies, errors);
  if (!spec["overhead"].empty()) check_overhead(spec["overhead"], in(path, "overhead"), errors);
  if (const Json& name = spec["os"]["name"]; spec["os"].is_object()) {
    if (name.as_string().empty())
      errors.required(in(in(path, "os"), "name"), "cannot be empty");
    else
      errors.one_of(in(path, "os"), name.as_string(), kSystems);
  }
}

}  // namespace

void check_overhead(const Json& overhead, const std::string& path, FieldErrors& errors) {
  check_resources(Json::object({{"limits", overhead}}), path, ResourcesOf::kContainer, errors);
}

void check_choice(const Json& object, const std::string& path, std::string_view field,
                  std::span<const std::string_view> supported, FieldErrors& errors) {
  if (const std::string value = object[field].str(); !value.empty()) errors.one_of(in(path, field), value, supported);
}

std::vector<base::Cause> check_pod_spec(const Json& spec, const std::string& path, PodRules rules) {
  FieldErrors errors;
  const std::set<std::string> volumes = check_pod_volumes(spec, path, errors);
  check_pod_claims(spec["resourceClaims"], in(path, "resourceClaims"), errors);
  check_containers(spec, path, volumes, errors);
  if (rules.of == PodSpecOf::kPod)
    for (const char* list : {"containers", "initContainers"}) check_image_blanks(spec[list], in(path, list), errors);
  if (!spec["ephemeralContainers"].empty())
    errors.forbidden(in(path, "ephemeralContainers"), rules.of == PodSpecOf::kTemplate
                                                          ? "ephemeral containers not allowed in pod template"
                                                          : "cannot be set on create");
  if (rules.pod_level_resources) check_pod_level_resources(spec, in(path, "resources"), errors);
  check_choice(spec, path, "restartPolicy", kRestartPolicies, errors);
  check_dns(spec, path, errors);
  check_readiness_gates(spec["readinessGates"], in(path, "readinessGates"), errors);
  check_pod_security(spec, path, rules, errors);
  check_names(spec, path, errors);
  check_hostname_override(spec, path, errors);
  check_placement(spec, path, errors);
  check_gates(spec, path, errors);
  check_classes(spec, path, errors);
  return errors.take();
}

}  // namespace api

// A table: kind, and its rules.
#include "apiserver/kinds/builtin_rules.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "api/ipv4.h"
#include "api/pods/names.h"
#include "api/pods/pod_spec.h"
#include "api/schema/field_errors.h"
#include "api/schema/selector_rules.h"
#include "apiserver/kinds/pods/device_rules.h"
#include "apiserver/kinds/services/endpoint_rules.h"
#include "apiserver/kinds/services/network_rules.h"
#include "apiserver/kinds/storage/storage_rules.h"
#include "base/base64.h"
#include "base/format.h"

namespace apiserver {

using api::at;
using api::FieldErrors;
using api::in;
using api::Json;
using api::under;

namespace {

using Words = std::span<const std::string_view>;

constexpr std::string_view kRedacted = "<secret contents redacted>";

// Of base64: what counts is what is stored behind it.
std::size_t decoded_size(std::string_view text) {
  const auto idle = std::ranges::count_if(text, [](char c) { return c == '=' || c == '\n' || c == '\r'; });
  return (text.size() - static_cast<std::size_t>(idle)) * 3 / 4;
}

void check_keys(const Json& object, bool is_secret, FieldErrors& errors) {
  constexpr std::size_t kBytesMax = 1024 * 1024;
  std::size_t bytes = 0;
  for (const char* part : {"data", "binaryData"}) {
    const bool encoded = is_secret || std::string_view(part) == "binaryData";
    for (const Json::Member& member : object[part].members()) {
      bytes += encoded ? decoded_size(member.value.as_string()) : member.value.as_string().size();
      const std::string_view key = member.name();
      const bool good = !key.empty() && key.size() <= 253 && key != "." && !key.starts_with("..") &&
                        std::ranges::all_of(key, [](char c) {
                          return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                                 c == '-' || c == '_' || c == '.';
                        });
      if (!good)
        errors.invalid(under(part, key), key,
                       "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  "
                       "or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')");
    }
  }
  if (bytes > kBytesMax) errors.too_long(is_secret ? "data" : "", kBytesMax);
}

void check_config_map(const Json& object, FieldErrors& errors) {
  check_keys(object, false, errors);
  for (const Json::Member& member : object["data"].members())
    if (object["binaryData"].has(member.name()))
      errors.invalid(under("data", member.name()), member.name(), "duplicate of key present in binaryData");
  for (const Json::Member& member : object["binaryData"].members())
    if (!base::base64_decode(member.value.as_string()).ok())
      errors.invalid(under("binaryData", member.name()), member.value, "must be base64 encoded");
}

void check_secret(const Json& object, FieldErrors& errors) {
  check_keys(object, true, errors);
  const Json& data = object["data"];
  for (const Json::Member& member : data.members())
    if (!base::base64_decode(member.value.as_string()).ok())
      errors.invalid(under("data", member.name()), kRedacted, "must be base64 encoded");
  const auto need = [&](std::string_view key) {
    if (!data.has(key)) errors.required(under("data", key));
  };
  const auto need_json = [&](std::string_view key) {
    need(key);
    const auto text = base::base64_decode(data[key].as_string());
    if (data.has(key) && text.ok() && !api::parse_json(*text).ok())
      errors.invalid(under("data", key), kRedacted, "must be JSON");
  };
  const std::string_view type = object["type"].as_string();
  if (type == "kubernetes.io/service-account-token" &&
      object["metadata"]["annotations"]["kubernetes.io/service-account.name"].as_string().empty())
    errors.required("metadata.annotations[kubernetes.io/service-account.name]");
  if (type == "kubernetes.io/tls") {
    need("tls.crt");
    need("tls.key");
  }
  if (type == "kubernetes.io/dockercfg") need_json(".dockercfg");
  if (type == "kubernetes.io/dockerconfigjson") need_json(".dockerconfigjson");
  if (type == "kubernetes.io/basic-auth" && !data.has("username") && !data.has("password")) {
    need("username");
    need("password");
  }
  if (type == "kubernetes.io/ssh-auth") need("ssh-privatekey");
}

void check_rules(const Json& object, FieldErrors& errors) {
  const bool whole_cluster = object["kind"].as_string() == "ClusterRole";
  const Json& gathered = object["aggregationRule"]["clusterRoleSelectors"];
  if (object["aggregationRule"].is_object() && gathered.empty())
    errors.required("aggregationRule.clusterRoleSelectors",
                    "at least one clusterRoleSelector required if aggregationRule is non-nil");
  for (std::size_t i = 0; i < gathered.size(); ++i)
    api::check_label_selector(gathered[i], at("aggregationRule.clusterRoleSelectors", i), errors);
  const Json& rules = object["rules"];
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string where = at("rules", i);
    if (rules[i]["verbs"].empty()) errors.required(in(where, "verbs"), "verbs must contain at least one value");
    if (const Json& paths = rules[i]["nonResourceURLs"]; !paths.empty()) {
      if (!whole_cluster)
        errors.invalid(in(where, "nonResourceURLs"), paths, "namespaced rules cannot apply to non-resource URLs");
      for (const char* field : {"apiGroups", "resources", "resourceNames"})
        if (!rules[i][field].empty())
          errors.invalid(in(where, "nonResourceURLs"), paths,
                         "rules cannot apply to both regular resources and non-resource URLs");
      continue;
    }
    if (rules[i]["apiGroups"].empty())
      errors.required(in(where, "apiGroups"), "resource rules must supply at least one api group");
    if (rules[i]["resources"].empty())
      errors.required(in(where, "resources"), "resource rules must supply at least one resource");
  }
}

void check_binding(const Json& object, FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kRoles = {"Role", "ClusterRole"};
  constexpr std::array<std::string_view, 1> kWhole = {"ClusterRole"};
  constexpr std::array<std::string_view, 3> kSubjects = {"ServiceAccount", "User", "Group"};
  constexpr std::array<std::string_view, 1> kGroup = {"rbac.authorization.k8s.io"};
  const bool whole_cluster = object["kind"].as_string() == "ClusterRoleBinding";
  const Json& role = object["roleRef"];
  errors.one_of("roleRef.apiGroup", role["apiGroup"].as_string(), kGroup);
  errors.one_of("roleRef.kind", role["kind"].as_string(), whole_cluster ? Words(kWhole) : Words(kRoles));
  if (role["name"].as_string().empty()) errors.required("roleRef.name");
  const Json& subjects = object["subjects"];
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const std::string where = at("subjects", i);
    const std::string_view kind = subjects[i]["kind"].as_string();
    const std::string group = subjects[i]["apiGroup"].str(), name = subjects[i]["name"].str();
    if (name.empty()) errors.required(in(where, "name"));
    if (kind == "ServiceAccount" && !name.empty())
      errors.invalid(in(where, "name"), name, api::check_dns_subdomain(name));
    constexpr std::array<std::string_view, 1> kCore = {""};
    if (kind == "ServiceAccount") errors.one_of(in(where, "apiGroup"), group, kCore);
    if (kind == "User" || kind == "Group") errors.one_of(in(where, "apiGroup"), group, kGroup);
    errors.one_of(in(where, "kind"), kind, kSubjects);
    if (whole_cluster && kind == "ServiceAccount" && subjects[i]["namespace"].as_string().empty())
      errors.required(in(where, "namespace"));
  }
}

void check_priority_class(const Json& object, FieldErrors& errors) {
  const std::string_view name = api::name_of(object);
  constexpr std::array<std::string_view, 2> kPolicies = {"PreemptLowerPriority", "Never"};
  if (name.starts_with("system-") && name != "system-node-critical" && name != "system-cluster-critical")
    errors.forbidden("metadata.name",
                     base::format("priority class names with 'system-' prefix are reserved for system use only. error: "
                                  "{} is not a known system priority class",
                                  name));
  else if (object["value"].as_int() > 1'000'000'000 && !name.starts_with("system-"))
    errors.forbidden("value", "maximum allowed value of a user defined priority is 1000000000");
  if (const std::string policy = object["preemptionPolicy"].str(); !policy.empty())
    errors.one_of("preemptionPolicy", policy, kPolicies);
}

void check_lease(const Json& object, FieldErrors& errors) {
  const Json& seconds = object["spec"]["leaseDurationSeconds"];
  if (seconds.is_number() && seconds.as_int() <= 0)
    errors.invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0");
  errors.not_negative("spec.leaseTransitions", object["spec"]["leaseTransitions"]);
}

void check_node(const Json& object, FieldErrors& errors) {
  constexpr std::array<std::string_view, 3> kEffects = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
  const Json& spec = object["spec"];
  std::set<std::string> taints;
  for (std::size_t i = 0; i < spec["taints"].size(); ++i) {
    if (!taints.insert(spec["taints"][i]["key"].str() + ":" + spec["taints"][i]["effect"].str()).second)
      errors.duplicate(at("metadata.taints", i), spec["taints"][i]);
    const std::string where = at("metadata.taints", i);  // Kubernetes' own path
    const Json& taint = spec["taints"][i];
    errors.invalid(in(where, "key"), taint["key"].str(), api::check_qualified_name(taint["key"].as_string()));
    if (const std::string value = taint["value"].str(); !value.empty())
      errors.invalid(in(where, "value"), value, api::check_label_value(value));
    if (taint["effect"].as_string().empty())
      errors.required(in(where, "effect"));
    else
      errors.one_of(in(where, "effect"), taint["effect"].as_string(), kEffects);
  }
  for (std::size_t i = 0; i < spec["podCIDRs"].size(); ++i) {
    const std::string_view range = spec["podCIDRs"][i].as_string();
    const std::size_t slash = range.find('/');
    if (slash == std::string_view::npos || !api::is_ip_address(range.substr(0, slash)))
      errors.invalid(at("spec.podCIDRs", i), range, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
  }
}

void check_budget_selector(const Json& object, FieldErrors& errors) {
  api::check_label_selector(object["spec"]["selector"], "spec.selector", errors);
}

void check_runtime_class(const Json& object, FieldErrors& errors) {
  errors.invalid("handler", object["handler"].str(), api::check_dns_label(object["handler"].as_string()));
  api::check_overhead(object["overhead"]["podFixed"], "overhead.podFixed", errors);
  api::check_labels(object["scheduling"]["nodeSelector"], "scheduling.nodeSelector", errors);
  api::check_tolerations(object["scheduling"]["tolerations"], "scheduling.tolerations", errors);
}

const std::map<std::string_view, void (*)(const Json&, FieldErrors&)>& rules_by_kind() {
  static const std::map<std::string_view, void (*)(const Json&, FieldErrors&)> table = {
      {"ConfigMap", check_config_map},
      {"Secret", check_secret},
      {"PersistentVolumeClaim", check_claim},
      {"PersistentVolume", check_volume},
      {"Role", check_rules},
      {"ClusterRole", check_rules},
      {"RoleBinding", check_binding},
      {"ClusterRoleBinding", check_binding},
      {"PriorityClass", check_priority_class},
      {"StorageClass", check_storage_class},
      {"Lease", check_lease},
      {"Endpoints", check_endpoints},
      {"EndpointSlice", check_endpoint_slice},
      {"Node", check_node},
      {"NetworkPolicy", check_network_policy},
      {"Ingress", check_ingress},
      {"IngressClass", check_ingress_class},
      {"RuntimeClass", check_runtime_class},
      {"PodDisruptionBudget", check_budget_selector},
      {"DeviceClass", check_device_class},
      {"ResourceClaim", check_resource_claim},
      {"ResourceClaimTemplate", check_claim_template},
      {"ResourceSlice", check_resource_slice},
  };
  return table;
}

}  // namespace

void check_builtin_kind(const api::KindInfo& kind, const Json& object, std::vector<base::Cause>& causes) {
  const auto rules = rules_by_kind().find(kind.kind);
  if (rules == rules_by_kind().end()) return;
  FieldErrors errors;
  rules->second(object, errors);
  std::ranges::move(errors.take(), std::back_inserter(causes));
}

}  // namespace apiserver

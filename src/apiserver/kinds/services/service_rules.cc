// Defaults, checks and changes of Services.
#include "apiserver/kinds/services/service_rules.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "api/ipv4.h"
#include "api/json/problems.h"
#include "api/schema/field_errors.h"
#include "api/schema/names.h"
#include "apiserver/kinds/cause_limit.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/rows.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Cause;

namespace {

constexpr std::string_view kProtocols[] = {"SCTP", "TCP", "UDP"};
constexpr std::string_view kTrafficPolicies[] = {"Cluster", "Local"};
constexpr std::string_view kDistributions[] = {"PreferClose", "PreferSameNode", "PreferSameZone"};
constexpr std::string_view kTypes[] = {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"};
constexpr std::string_view kAffinities[] = {"ClientIP", "None"};
constexpr int kAffinitySeconds = 10800;
constexpr int kAffinitySecondsMax = 86400;

bool is_port(const Json& value) { return value.is_int() && value.as_int() >= 1 && value.as_int() <= 65535; }

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// IANA_SVC_NAME: the names that ports of containers have.
bool is_port_name(std::string_view text) {
  return !text.empty() && text.size() <= 15 && is_letter_or_digit(text.front()) && is_letter_or_digit(text.back()) &&
         text.find("--") == std::string_view::npos &&
         std::ranges::all_of(text, [](char c) { return is_letter_or_digit(c) || c == '-'; }) &&
         std::ranges::any_of(text, [](char c) { return c >= 'a' && c <= 'z'; });
}

bool is_reached_from_outside(const Json& service) {
  const std::string_view type = service["spec"]["type"].as_string();
  return type == "NodePort" || type == "LoadBalancer" ||
         (type == "ClusterIP" && !service["spec"]["externalIPs"].empty());
}

void check_port(const Json& spec, const Json& port, const std::string& path, api::FieldErrors& errors) {
  const std::string_view name = port["name"].as_string();
  if (name.empty() && spec["ports"].size() > 1) errors.required(path + ".name");
  if (!name.empty() && !api::is_dns_label(name)) errors.invalid(path + ".name", port["name"], api::kDnsLabelRule);
  if (!is_port(port["port"]))
    errors.invalid(path + ".port", Json(port["port"].as_int()), "must be between 1 and 65535, inclusive");
  if (port["protocol"].as_string().empty())
    errors.required(path + ".protocol");
  else
    errors.one_of(path + ".protocol", port["protocol"].as_string(), kProtocols);
  const Json& target = port["targetPort"];
  if (target.is_number() && !is_port(target))
    errors.invalid(path + ".targetPort", target, "must be between 1 and 65535, inclusive");
  if (target.is_string() && !is_port_name(target.as_string()))
    errors.invalid(path + ".targetPort", target,
                   "must be a name of at most 15 lower case letters, digits and single hyphens, with a letter in it");
  if (const Json& protocol = port["appProtocol"]; protocol.is_string() && !api::is_qualified_name(protocol.as_string()))
    errors.invalid(path + ".appProtocol", protocol,
                   "must be a name of letters, digits, '-', '_' and '.', or one behind a domain and '/'");
  const std::string_view type = spec["type"].as_string();
  if (port["nodePort"].as_int() != 0 && (type == "ClusterIP" || type == "ExternalName"))
    errors.forbidden(path + ".nodePort", base::format("may not be used when `type` is '{}'", type));
}

void check_selector(const Json& spec, api::FieldErrors& errors) {
  api::check_labels(spec["selector"], "spec.selector", errors);
  constexpr std::string_view kFamilies[] = {"IPv4", "IPv6"};
  constexpr std::string_view kFamilyPolicies[] = {"SingleStack", "PreferDualStack", "RequireDualStack"};
  if (const Json& policy = spec["ipFamilyPolicy"]; policy.is_string())
    errors.one_of("spec.ipFamilyPolicy", policy.as_string(), kFamilyPolicies);
  const Json& families = spec["ipFamilies"];
  std::set<std::string, std::less<>> seen;
  for (std::size_t i = 0; i < families.size(); ++i) {
    errors.one_of(api::at("spec.ipFamilies", i), families[i].as_string(), kFamilies);
    if (!seen.emplace(families[i].as_string()).second) errors.duplicate(api::at("spec.ipFamilies", i), families[i]);
  }
}

void check_ports(const Json& spec, api::FieldErrors& errors) {
  const bool headless = spec["clusterIP"].as_string() == "None";
  if (spec["ports"].empty() && !headless && spec["type"].as_string() != "ExternalName") errors.required("spec.ports");
  std::set<std::string, std::less<>> names;
  std::set<std::pair<std::string, std::int64_t>> ports, node_ports;
  std::size_t at = 0;
  for (const Json& port : spec["ports"].items()) {
    if (errors.is_full()) break;
    const std::string path = base::format("spec.ports[{}]", at++);
    check_port(spec, port, path, errors);
    const auto duplicate = [&](const std::string& field, const Json& value) {
      errors.add({"FieldValueDuplicate", base::format("Duplicate value: {}", api::shown(value)), field});
    };
    const std::string_view name = port["name"].as_string();
    const std::string protocol = port["protocol"].str();
    if (!name.empty() && !names.emplace(name).second) duplicate(path + ".name", port["name"]);
    if (!ports.emplace(protocol, port["port"].as_int()).second)
      duplicate(path, Json::object({{"port", port["port"]}, {"protocol", protocol}}));
    if (const Json& node_port = port["nodePort"];
        node_port.as_int() != 0 && !node_ports.emplace(protocol, node_port.as_int()).second)
      duplicate(path + ".nodePort", node_port);
  }
}

void check_addresses(const Json& spec, api::FieldErrors& errors) {
  const std::string_view type = spec["type"].as_string();
  const Json& all = spec["clusterIPs"];
  if (type == "ExternalName") {
    if (!all.empty() || !spec["clusterIP"].as_string().empty())
      errors.forbidden("spec.clusterIPs", "may not be set for ExternalName services");
    for (const char* field : {"ipFamilies", "ipFamilyPolicy"})
      if (spec[field].is_string() || !spec[field].empty())
        errors.forbidden(base::format("spec.{}", field), "may not be set for ExternalName services");
    return;
  }
  if (all.size() > 1)
    errors.invalid("spec.clusterIPs", all, "may only hold one value where services have one IP family");
  if (!all.empty() && !(all[std::size_t{0}] == spec["clusterIP"]))
    errors.invalid("spec.clusterIP", spec["clusterIP"], "must be the first element of clusterIPs");
  if (all.empty()) return;
  const std::string_view first = all[std::size_t{0}].as_string();
  if (first == "None") {
    if (type != "ClusterIP")
      errors.invalid("spec.clusterIPs[0]", all, base::format("may not be set to 'None' for {} services", type));
  } else if (!api::parse_ipv4(first) && api::ip_problem(first).empty()) {
    errors.invalid("spec.clusterIPs[0]", all, "IPv6 is not configured on this cluster");
  } else if (!api::parse_ipv4(first)) {
    errors.invalid("spec.clusterIPs[0]", all[std::size_t{0}],
                   "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  }
}

// Somebody else writes its endpoints, of whichever family.
bool is_headless_without_selector(const Json& spec) {
  return spec["clusterIP"].as_string() == "None" && spec["selector"].empty();
}

// Addresses of Services are of IPv4 only: a Service that has to have others would never be reached by them.
void check_families(const Json& spec, api::FieldErrors& errors) {
  const Json& policy = spec["ipFamilyPolicy"];
  const Json& families = spec["ipFamilies"];
  if (spec["type"].as_string() == "ExternalName") return;
  if (policy.as_string() == "SingleStack" && families.size() == 2)
    return errors.invalid("spec.ipFamilyPolicy", policy,
                          "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified");
  if (is_headless_without_selector(spec)) return;
  if (policy.as_string() == "RequireDualStack")
    errors.invalid("spec.ipFamilyPolicy", policy, "this cluster is not configured for dual-stack services");
  for (std::size_t i = 0; i < families.size(); ++i)
    if (families[i].as_string() == "IPv6")
      errors.invalid(api::at("spec.ipFamilies", i), families[i], "not configured on this cluster");
}

void check_affinity(const Json& spec, api::FieldErrors& errors) {
  const std::size_t so_far = errors.size();
  errors.one_of("spec.sessionAffinity", spec["sessionAffinity"].as_string(), kAffinities);
  if (errors.size() != so_far) return;
  const Json& settings = spec["sessionAffinityConfig"];
  if (spec["sessionAffinity"].as_string() == "None") {
    if (!settings.is_null())
      errors.forbidden("spec.sessionAffinityConfig", "must not be set when session affinity is None");
    return;
  }
  const Json& seconds = settings["clientIP"]["timeoutSeconds"];
  if (!seconds.is_int() || seconds.as_int() <= 0 || seconds.as_int() > kAffinitySecondsMax)
    errors.invalid("spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds,
                   base::format("must be greater than 0 and less than or equal to {}", kAffinitySecondsMax));
}

std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

void check_policies(const Json& service, api::FieldErrors& errors) {
  const Json& spec = service["spec"];
  if (const Json& outside = spec["externalTrafficPolicy"]; !outside.as_string().empty()) {
    if (!is_reached_from_outside(service))
      errors.invalid("spec.externalTrafficPolicy", outside, "may only be set for externally-accessible services");
    else
      errors.one_of("spec.externalTrafficPolicy", outside.as_string(), kTrafficPolicies);
  }
  if (const Json& inside = spec["internalTrafficPolicy"]; !inside.is_null())
    errors.one_of("spec.internalTrafficPolicy", inside.as_string(), kTrafficPolicies);
  if (const Json& near = spec["trafficDistribution"]; !near.is_null())
    errors.one_of("spec.trafficDistribution", near.as_string(), kDistributions);
  if (const Json& name = spec["loadBalancerClass"]; name.is_string() && !api::is_qualified_name(name.as_string()))
    errors.invalid("spec.loadBalancerClass", name,
                   "must be a name of letters, digits, '-', '_' and '.', or one behind a domain and '/'");
  const Json& ranges = spec["loadBalancerSourceRanges"];
  if (!ranges.empty() && spec["type"].as_string() != "LoadBalancer")
    errors.forbidden("spec.LoadBalancerSourceRanges", "may only be used when `type` is 'LoadBalancer'");
  else
    for (std::size_t i = 0; i < ranges.size() && !errors.is_full(); ++i)
      if (const auto why = api::ip_range_problem(without_blanks(ranges[i].as_string())); !why.empty())
        errors.invalid(api::at("spec.LoadBalancerSourceRanges", i), ranges[i], why);
  if (spec["type"].as_string() != "LoadBalancer")
    for (const char* key : {"allocateLoadBalancerNodePorts", "loadBalancerClass"})
      if (!spec[key].is_null())
        errors.forbidden(base::format("spec.{}", key), "may only be used when `type` is 'LoadBalancer'");
}

bool is_headless(const Json& service) { return service["spec"]["clusterIP"].as_string() == "None"; }

void erase_if_same(const Json& old_spec, Json& spec, std::initializer_list<std::string_view> fields) {
  for (const std::string_view field : fields)
    if (old_spec[field] == spec[field]) spec.erase(field);
}

// A port that does not state its node port keeps the one it had.
void keep_node_ports(const Json& old_spec, Json& spec) {
  std::set<std::int64_t> used;
  for (const Json& port : spec["ports"].items()) used.insert(port["nodePort"].as_int());
  const auto key_of = [](const Json& port) { return std::pair(port["protocol"].str(), port["port"].as_int()); };
  std::map<std::pair<std::string, std::int64_t>, Json> before;
  for (const Json& port : old_spec["ports"].items())
    if (port["nodePort"].as_int() != 0) before.emplace(key_of(port), port["nodePort"]);
  for (std::size_t i = 0; i < spec["ports"].size(); ++i) {
    if (!spec["ports"].is_array() || !spec["ports"][i].is_object() || spec["ports"][i]["nodePort"].as_int() != 0)
      continue;
    const auto had = before.find(key_of(spec["ports"][i]));
    if (had != before.end() && used.insert(had->second.as_int()).second)
      spec.edit("ports").edit(i).set("nodePort", had->second);
  }
}

void drop_node_ports(const Json& old_spec, Json& spec) {
  std::set<std::int64_t> before;
  for (const Json& port : old_spec["ports"].items()) before.insert(port["nodePort"].as_int());
  // Ports that are stated anew stay, for the check to refuse them.
  for (const Json& port : spec["ports"].items())
    if (!port["nodePort"].is_null() && !before.contains(port["nodePort"].as_int())) return;
  for (std::size_t i = 0; i < spec["ports"].size(); ++i)
    if (spec["ports"].is_array() && spec["ports"][i].is_object()) spec.edit("ports").edit(i).erase("nodePort");
}

}  // namespace

bool needs_cluster_ip(const Json& service) {
  const std::string_view type = service["spec"]["type"].as_string();
  return type == "ClusterIP" || type == "NodePort" || type == "LoadBalancer";
}

bool needs_node_ports(const Json& service) {
  const std::string_view type = service["spec"]["type"].as_string();
  return type == "NodePort" ||
         (type == "LoadBalancer" && service["spec"]["allocateLoadBalancerNodePorts"].as_bool(true));
}

void default_service(Json& object) {
  if (!takes_members(object["spec"])) return;
  Json& spec = object.edit("spec");
  set_if_absent(spec, "type", "ClusterIP");
  set_if_absent(spec, "sessionAffinity", "None");
  if (spec["sessionAffinity"].as_string() == "None") spec.erase("sessionAffinityConfig");
  if (spec["sessionAffinity"].as_string() == "ClientIP" && takes_members(spec["sessionAffinityConfig"]) &&
      takes_members(spec["sessionAffinityConfig"]["clientIP"]))
    set_if_absent(spec.edit_path({"sessionAffinityConfig", "clientIP"}), "timeoutSeconds", kAffinitySeconds);
  if (spec["ports"].is_array())
    for (std::size_t i = 0; i < spec["ports"].size(); ++i) {
      if (!spec["ports"][i].is_object()) continue;
      Json& port = spec.edit("ports").edit(i);
      set_if_absent(port, "protocol", "TCP");
      set_if_absent(port, "targetPort", port["port"]);
      if (const Json& target = port["targetPort"]; (target.is_int() && target.as_int() == 0) || target == Json(""))
        port.set("targetPort", port["port"]);
      if (port["nodePort"].is_int() && port["nodePort"].as_int() == 0) port.erase("nodePort");
    }
  if (spec["clusterIP"] == Json("")) spec.erase("clusterIP");
  if (spec["type"].as_string() == "ExternalName") return;
  set_if_absent(spec, "internalTrafficPolicy", "Cluster");
  const bool any_family = is_headless_without_selector(spec);
  set_if_absent(spec, "ipFamilyPolicy", any_family ? "RequireDualStack" : "SingleStack");
  set_if_absent(spec, "ipFamilies", Json::array({Json("IPv4")}));
  const Json& families = spec["ipFamilies"];
  if (any_family && spec["ipFamilyPolicy"].as_string() != "SingleStack" && families.is_array() && families.size() == 1)
    spec.edit("ipFamilies").push_back(families[std::size_t{0}].as_string() == "IPv4" ? "IPv6" : "IPv4");
  if (const Json& outside = spec["externalTrafficPolicy"];
      is_reached_from_outside(object) && (outside.is_null() || outside == Json("")))
    spec.set("externalTrafficPolicy", "Cluster");
  if (spec["type"].as_string() == "LoadBalancer") set_if_absent(spec, "allocateLoadBalancerNodePorts", true);
  if (spec["clusterIP"].is_string() && spec["clusterIPs"].empty())
    spec.set("clusterIPs", Json::array({spec["clusterIP"]}));
}

namespace {

void check_all_but_families(const Json& object, api::FieldErrors& errors) {
  const Json& spec = object["spec"];
  const std::string_view type = spec["type"].as_string();
  const std::size_t so_far = errors.size();
  errors.one_of("spec.type", type, kTypes);
  if (errors.size() != so_far) return;
  check_selector(spec, errors);
  check_ports(spec, errors);
  check_addresses(spec, errors);
  check_affinity(spec, errors);
  check_policies(object, errors);
  if (type == "ExternalName") {
    std::string_view name = spec["externalName"].as_string();
    if (name.ends_with('.')) name.remove_suffix(1);
    if (name.empty())
      errors.required("spec.externalName");
    else if (!api::is_dns_subdomain(name))
      errors.invalid("spec.externalName", spec["externalName"], api::kDnsSubdomainRule);
  }
  std::size_t at = 0;
  for (const Json& ip : spec["externalIPs"].items())
    if (const std::string path = base::format("spec.externalIPs[{}]", at++), why(api::ip_problem(ip.as_string()));
        !why.empty())
      errors.invalid(path, ip, why);
    else if (ip.as_string().starts_with("127.") || ip == Json("::1"))
      errors.invalid(path, ip, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
}

}  // namespace

void check_service(const Json& object, api::FieldErrors& errors) {
  check_all_but_families(object, errors);
  if (errors.empty()) check_families(object["spec"], errors);
}

void settle_service_update(const Json& old_object, Json& object) {
  if (!object["spec"].is_object()) return;
  const Json& old_spec = old_object["spec"];
  Json& spec = object.edit("spec");
  const bool addressed = needs_cluster_ip(object);
  if (needs_cluster_ip(old_object) && !addressed)
    erase_if_same(old_spec, spec, {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"});
  if (needs_cluster_ip(old_object) && addressed && spec["clusterIP"].as_string().empty() &&
      (spec["clusterIPs"].empty() || old_spec["clusterIPs"] == spec["clusterIPs"]))
    for (const char* key : {"clusterIP", "clusterIPs"})
      if (const Json* value = old_spec.find(key)) spec.set(key, *value);
  // A client that knows one address only changes that.
  if (addressed && spec["clusterIP"].is_string() && !(spec["clusterIP"] == old_spec["clusterIP"]) &&
      (spec["clusterIPs"].empty() || spec["clusterIPs"] == old_spec["clusterIPs"]))
    spec.set("clusterIPs", Json::array({spec["clusterIP"]}));
  if (needs_node_ports(object)) {
    if (needs_node_ports(old_object)) keep_node_ports(old_spec, spec);
  } else if (spec["type"].as_string() != "LoadBalancer") {
    drop_node_ports(old_spec, spec);
  }
  if (is_reached_from_outside(old_object) && !is_reached_from_outside(object))
    erase_if_same(old_spec, spec, {"externalTrafficPolicy", "healthCheckNodePort"});
  if (old_spec["type"].as_string() == "LoadBalancer" && spec["type"].as_string() != "LoadBalancer")
    erase_if_same(old_spec, spec, {"allocateLoadBalancerNodePorts", "loadBalancerClass"});
}

void check_service_update(const Json& old_object, const Json& object, api::FieldErrors& errors) {
  const Json& before = old_object["spec"];
  const Json& after = object["spec"];
  check_all_but_families(object, errors);
  // Services that were stored when families did nothing stay as they are.
  const bool same_families =
      before["ipFamilies"] == after["ipFamilies"] && before["ipFamilyPolicy"] == after["ipFamilyPolicy"];
  if (!same_families && errors.empty()) check_families(after, errors);
  if (!needs_cluster_ip(old_object) || !needs_cluster_ip(object)) return;
  if (!before["clusterIP"].as_string().empty() && !(before["clusterIP"] == after["clusterIP"]))
    errors.invalid("spec.clusterIPs[0]", after["clusterIPs"], "may not change once set");
  if (!before["ipFamilies"].empty() && !after["ipFamilies"].empty() &&
      !(before["ipFamilies"][std::size_t{0}] == after["ipFamilies"][std::size_t{0}]))
    errors.invalid("spec.ipFamilies[0]", after["ipFamilies"][std::size_t{0}], "may not change once set");
  if (is_headless(old_object)) return;
  if (before["type"] == after["type"] && !before["loadBalancerClass"].is_null() &&
      !(before["loadBalancerClass"] == after["loadBalancerClass"]))
    errors.invalid("spec.loadBalancerClass", after["loadBalancerClass"], "may not change once set");
}

}  // namespace apiserver

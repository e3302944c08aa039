// Peers, ports and ranges of policies; hosts, paths and backends of Ingresses.
#include "apiserver/kinds/services/network_rules.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "api/ipv4.h"
#include "api/pods/names.h"
#include "api/schema/names.h"
#include "api/schema/path_rules.h"
#include "api/schema/selector_rules.h"
#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/rows.h"
#include "base/format.h"

namespace apiserver {

using api::at;
using api::FieldErrors;
using api::in;
using api::Json;

namespace {

constexpr std::string_view kPortRange = "must be between 1 and 65535, inclusive";
bool is_port(std::int64_t port) { return port >= 1 && port <= 65535; }

void check_policy_port(const Json& port, const std::string& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 3> kProtocols = {"SCTP", "TCP", "UDP"};
  if (const std::string protocol = port["protocol"].str(); port["protocol"].is_string())
    errors.one_of(in(path, "protocol"), protocol, kProtocols);
  const Json& number = port["port"];
  const Json& last = port["endPort"];
  if (number.is_null()) {
    if (!last.is_null()) errors.required(in(path, "port"), "must be specified when `endPort` is specified");
    return;
  }
  if (number.is_string()) {
    if (!last.is_null()) errors.invalid(in(path, "endPort"), last, "may not be specified when `port` is non-numeric");
    return errors.invalid(in(path, "port"), number, api::check_port_name(number.as_string()));
  }
  if (!last.is_null() && last.as_int() < number.as_int())
    errors.invalid(in(path, "endPort"), last, "must be greater than or equal to `port`");
  if (!last.is_null() && !is_port(last.as_int())) errors.invalid(in(path, "endPort"), last, kPortRange);
  if (!is_port(number.as_int())) errors.invalid(in(path, "port"), number, kPortRange);
}

void check_range(const Json& text, const std::string& path, FieldErrors& errors) {
  if (const auto why = api::ip_range_problem(text.as_string()); !why.empty()) errors.invalid(path, text.str(), why);
}

void check_block(const Json& block, const std::string& path, FieldErrors& errors) {
  const std::string cidr = block["cidr"].str();
  if (cidr.empty()) return errors.required(in(path, "cidr"));
  check_range(block["cidr"], in(path, "cidr"), errors);
  const Json& holes = block["except"];
  for (std::size_t i = 0; i < holes.size(); ++i) {
    const std::string where = at(in(path, "except"), i);
    check_range(holes[i], where, errors);
    if (api::is_ip_range(cidr) && api::is_ip_range(holes[i].as_string()) && !api::is_within(holes[i].as_string(), cidr))
      errors.invalid(where, holes[i], base::format("must be a strict subset of `cidr`"));
  }
}

void check_peer(const Json& peer, const std::string& path, FieldErrors& errors) {
  api::check_label_selector(peer["podSelector"], in(path, "podSelector"), errors);
  api::check_label_selector(peer["namespaceSelector"], in(path, "namespaceSelector"), errors);
  const bool selects = peer["podSelector"].is_object() || peer["namespaceSelector"].is_object();
  const bool block = peer["ipBlock"].is_object();
  if (block) check_block(peer["ipBlock"], in(path, "ipBlock"), errors);
  if (!selects && !block)
    errors.required(path, "must specify a peer");
  else if (selects && block)
    errors.forbidden(path, "may not specify both ipBlock and another peer");
}

void check_direction(const Json& rules, std::string_view name, std::string_view peers, FieldErrors& errors) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string where = at(in("spec", name), i);
    const Json& ports = rules[i]["ports"];
    for (std::size_t k = 0; k < ports.size(); ++k) check_policy_port(ports[k], at(in(where, "ports"), k), errors);
    const Json& all = rules[i][peers];
    for (std::size_t k = 0; k < all.size(); ++k) check_peer(all[k], at(in(where, peers), k), errors);
  }
}

void check_reference(const Json& reference, const std::string& path, FieldErrors& errors) {
  for (const char* field : {"kind", "name"})
    if (const std::string text = reference[field].str(); text.empty())
      errors.required(in(path, field));
    else
      errors.invalid(in(path, field), text, api::check_path_segment(text));
  if (const Json& group = reference["apiGroup"]; group.is_string())
    errors.invalid(in(path, "apiGroup"), group, api::check_dns_subdomain(group.as_string()));
}

void check_backend(const Json& backend, const std::string& path, FieldErrors& errors) {
  const Json& service = backend["service"];
  if (service.is_null() == backend["resource"].is_null())
    return service.is_null() ? errors.required(path, "must specify one of `service` or `resource`")
                             : errors.invalid(path, "", "cannot set both resource and service backends");
  if (service.is_null()) return check_reference(backend["resource"], in(path, "resource"), errors);
  if (const std::string name = service["name"].str(); name.empty())
    errors.required(in(path, "service.name"));
  else
    errors.invalid(in(path, "service.name"), name, api::check_dns_label(name));
  const std::string name = service["port"]["name"].str();
  const std::int64_t number = service["port"]["number"].as_int();
  if (name.empty() && number == 0)
    errors.required(in(path, "service.port"), "port name or number is required");
  else if (!name.empty() && number != 0)
    errors.invalid(in(path, "service.port"), "", "cannot set both port name & port number");
  else if (!name.empty())
    errors.invalid(in(path, "service.port.name"), name, api::check_port_name(name));
  else if (!is_port(number))
    errors.invalid(in(path, "service.port.number"), number, kPortRange);
}

// "a.example.com", or "*.example.com". An address of IPv4 reads as a name.
void check_host(const std::string& host, const std::string& path, FieldErrors& errors) {
  if (host.find('*') == std::string::npos) return errors.invalid(path, host, api::check_dns_subdomain(host));
  if (!host.starts_with("*.") || !api::is_dns_subdomain(std::string_view(host).substr(2)))
    errors.invalid(path, host,
                   "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must "
                   "consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character "
                   "(e.g. '*.example.com', regex used for validation is "
                   "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
}

void check_path(const Json& row, const std::string& where, FieldErrors& errors) {
  constexpr std::array<std::string_view, 3> kTypes = {"Exact", "ImplementationSpecific", "Prefix"};
  const std::string type = row["pathType"].str();
  const std::string path = row["path"].str();
  const std::string field = in(where, "path");
  if (type.empty())
    errors.required(in(where, "pathType"), "pathType must be specified");
  else
    errors.one_of(in(where, "pathType"), type, kTypes);
  const bool strict = type == "Exact" || type == "Prefix";
  if ((strict || !path.empty()) && !path.starts_with('/')) errors.invalid(field, path, "must be an absolute path");
  if (strict)
    for (const char* part : {"//", "/./", "/../", "%2f", "%2F"})
      if (path.find(part) != std::string::npos)
        errors.invalid(field, path, base::format("must not contain '{}'", part));
  if (strict)
    for (const char* part : {"/..", "/."})
      if (path.ends_with(part)) errors.invalid(field, path, base::format("cannot end with '{}'", part));
  check_backend(row["backend"], in(where, "backend"), errors);
}

}  // namespace

void check_network_policy(const Json& object, FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kTypes = {"Egress", "Ingress"};
  const Json& spec = object["spec"];
  api::check_label_selector(spec["podSelector"], "spec.podSelector", errors);
  check_direction(spec["ingress"], "ingress", "from", errors);
  check_direction(spec["egress"], "egress", "to", errors);
  const Json& types = spec["policyTypes"];
  if (types.size() > 2) return errors.invalid("spec.policyTypes", types, "may not specify more than two policyTypes");
  for (std::size_t i = 0; i < types.size(); ++i) errors.one_of(at("spec.policyTypes", i), types[i].as_string(), kTypes);
}

void check_ingress(const Json& object, FieldErrors& errors) {
  const Json& spec = object["spec"];
  if (spec["rules"].empty() && spec["defaultBackend"].is_null())
    errors.invalid("spec", Json(), "either `defaultBackend` or `rules` must be specified");
  if (!spec["defaultBackend"].is_null()) check_backend(spec["defaultBackend"], "spec.defaultBackend", errors);
  if (const Json& name = spec["ingressClassName"]; name.is_string())
    errors.invalid("spec.ingressClassName", name, api::check_dns_subdomain(name.as_string()));
  const Json& secrets = spec["tls"];
  for (std::size_t i = 0; i < secrets.size(); ++i) {
    const std::string where = at("spec.tls", i);
    for (std::size_t k = 0; k < secrets[i]["hosts"].size(); ++k)
      check_host(secrets[i]["hosts"][k].str(), at(in(where, "hosts"), k), errors);
    if (const std::string name = secrets[i]["secretName"].str(); !name.empty())
      errors.invalid(in(where, "secretName"), name, api::check_dns_subdomain(name));
  }
  for (std::size_t i = 0; i < spec["rules"].size(); ++i) {
    const Json& rule = spec["rules"][i];
    const std::string where = at("spec.rules", i);
    const std::string host = rule["host"].str();
    if (api::is_ip_address(host))
      errors.invalid(in(where, "host"), host, "must be a DNS name, not an IP address");
    else if (!host.empty())
      check_host(host, in(where, "host"), errors);
    const Json& paths = rule["http"]["paths"];
    if (rule["http"].is_object() && paths.empty()) errors.required(in(where, "http.paths"));
    for (std::size_t k = 0; k < paths.size(); ++k) check_path(paths[k], at(in(where, "http.paths"), k), errors);
  }
}

void check_ingress_class(const Json& object, FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kScopes = {"Cluster", "Namespace"};
  constexpr std::size_t kControllerMax = 250;
  const std::string controller = object["spec"]["controller"].str();
  const Json& parameters = object["spec"]["parameters"];
  if (controller.size() > kControllerMax) errors.too_long("spec.controller", kControllerMax);
  errors.invalid("spec.controller", controller, api::check_domain_prefixed_path(controller));
  if (!parameters.is_object()) return;
  check_reference(parameters, "spec.parameters", errors);
  const std::string scope = parameters["scope"].str();
  if (scope.empty())
    errors.required("spec.parameters.scope");
  else
    errors.one_of("spec.parameters.scope", scope, kScopes);
  const bool placed = !parameters["namespace"].as_string().empty();
  if (const std::string name = parameters["namespace"].str(); placed)
    errors.invalid("spec.parameters.namespace", name, api::check_dns_label(name));
  if (scope == "Namespace" && !placed)
    errors.required("spec.parameters.namespace", "`parameters.scope` is set to 'Namespace'");
  if (scope == "Cluster" && placed)
    errors.forbidden("spec.parameters.namespace", "`parameters.scope` is set to 'Cluster'");
}

namespace {

// A port of a policy is one of TCP, if it does not say.
void default_policy_ports(Json& policy) {
  for (const char* way : {"ingress", "egress"})
    for (std::size_t i = 0; i < policy["spec"][way].items().size(); ++i)
      for (std::size_t k = 0; k < policy["spec"][way][i]["ports"].items().size(); ++k)
        if (policy["spec"][way][i]["ports"][k].is_object())
          set_if_absent(policy.edit("spec").edit(way).edit(i).edit("ports").edit(k), "protocol", "TCP");
}

void default_network_policy(Json& object) {
  default_policy_ports(object);
  const Json& given = object["spec"]["policyTypes"];
  if (!object["spec"].is_object() || !(given.is_null() || (given.is_array() && given.empty()))) return;
  Json types = Json::array({Json("Ingress")});
  if (!object["spec"]["egress"].is_null()) types.push_back("Egress");
  object.edit("spec").set("policyTypes", std::move(types));
}

void default_ingress_class(Json& object) {
  if (object["spec"]["parameters"].is_object())
    set_if_absent(object.edit_path({"spec", "parameters"}), "scope", "Cluster");
}

constexpr FixedField kFixedOfIngressClass[] = {{"spec.controller", "field is immutable"}};

std::vector<Json> network_policy_cells(const Json& policy, base::Time now) {
  std::vector<std::string> labels;
  for (const Json::Member& member : policy["spec"]["podSelector"]["matchLabels"].members())
    labels.push_back(std::string(member.name()) + "=" + member.value.str());
  return {joined(labels, "<none>"), age_of(policy, now)};
}
constexpr api::Column kColumnsOfNetworkPolicy[] = {{"Pod-Selector", ""}, {"Age", ""}};

std::vector<Json> ingress_cells(const Json& ingress, base::Time now) {
  constexpr std::size_t kHostsMax = 3;
  const Json& spec = ingress["spec"];
  std::vector<std::string> hosts, addresses;
  for (const Json& rule : spec["rules"].items())
    if (!rule["host"].as_string().empty()) hosts.push_back(rule["host"].str());
  const std::size_t more = hosts.size() - std::min(hosts.size(), kHostsMax);
  hosts.resize(hosts.size() - more);
  if (more > 0) hosts.back() += base::format(" + {} more...", more);
  for (const Json& one : ingress["status"]["loadBalancer"]["ingress"].items())
    addresses.push_back(one["ip"].as_string().empty() ? one["hostname"].str() : one["ip"].str());
  return {spec["ingressClassName"].is_null() ? Json("<none>") : spec["ingressClassName"], joined(hosts, "*"),
          joined(addresses, ""), Json(spec["tls"].empty() ? "80" : "80, 443"), age_of(ingress, now)};
}
constexpr api::Column kColumnsOfIngress[] = {{"Class", ""}, {"Hosts", ""}, {"Address", ""}, {"Ports", ""}, {"Age", ""}};

std::vector<Json> ingress_class_cells(const Json& ingress_class, base::Time now) {
  const Json& parameters = ingress_class["spec"]["parameters"];
  std::string named = "<none>";
  if (parameters.is_object()) {
    named = parameters["kind"].str();
    if (const std::string group = parameters["apiGroup"].str(); !group.empty()) named += "." + group;
    named += "/" + parameters["name"].str();
  }
  return {ingress_class["spec"]["controller"], Json(named), age_of(ingress_class, now)};
}
constexpr api::Column kColumnsOfIngressClass[] = {{"Controller", ""}, {"Parameters", ""}, {"Age", ""}};

}  // namespace

const KindRules kNetworkPolicy = {
    .kind = "NetworkPolicy",
    .defaults = default_network_policy,
    .check = [](const Json&, const Json& object, api::FieldErrors& errors) { check_network_policy(object, errors); },
    .table = {kColumnsOfNetworkPolicy, network_policy_cells}};

const KindRules kIngress = {
    .kind = "Ingress",
    .check = [](const Json&, const Json& object, api::FieldErrors& errors) { check_ingress(object, errors); },
    .table = {kColumnsOfIngress, ingress_cells}};

const KindRules kIngressClass = {
    .kind = "IngressClass",
    .defaults = default_ingress_class,
    .check = [](const Json&, const Json& object, api::FieldErrors& errors) { check_ingress_class(object, errors); },
    .fixed = kFixedOfIngressClass,
    .table = {kColumnsOfIngressClass, ingress_class_cells}};

}  // namespace apiserver

// Addresses that can be reached, and ports.
#include "apiserver/kinds/services/endpoint_rules.h"

#include <array>
#include <set>
#include <string>
#include <vector>

#include "api/ipv4.h"
#include "api/schema/names.h"
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

constexpr std::array<std::string_view, 3> kProtocols = {"SCTP", "TCP", "UDP"};
constexpr std::size_t kEndpointsMax = 1000, kPortsMax = 20000, kAddressesMax = 100, kHintsMax = 8;

// An address that only the own wire reaches is not one of a service. The loopback is one here: it means this machine.
void check_reach(std::string_view address, const std::string& path, FieldErrors& errors) {
  if (address == "0.0.0.0" || address == "::") errors.invalid(path, address, "may not be unspecified (0.0.0.0 or ::)");
  if (address.starts_with("169.254.") || address.starts_with("fe80:"))
    errors.invalid(path, address, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  if (address.starts_with("224.0.0.") || address.starts_with("ff02:"))
    errors.invalid(path, address, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
}

void check_address(std::string_view type, const Json& text, const std::string& path, FieldErrors& errors) {
  const std::string_view address = text.as_string();
  if (type == "FQDN") return errors.invalid(path, address, api::check_dns_subdomain(address));
  const bool six = address.find(':') != std::string_view::npos;
  if (!api::ip_problem(address).empty() || six != (type == "IPv6"))
    return errors.invalid(path, address,
                          type == "IPv6" ? "must be a valid IPv6 address" : "must be a valid IPv4 address");
  check_reach(address, path, errors);
}

void check_port(const Json& port, const std::string& path, FieldErrors& errors) {
  if (const std::string protocol = port["protocol"].str(); protocol.empty())
    errors.required(in(path, "protocol"));
  else
    errors.one_of(in(path, "protocol"), protocol, kProtocols);
  if (const std::string protocol = port["appProtocol"].str(); !protocol.empty())
    errors.invalid(in(path, "appProtocol"), protocol, api::check_qualified_name(protocol));
}

void check_endpoint(std::string_view type, const Json& endpoint, const std::string& path, FieldErrors& errors) {
  const Json& addresses = endpoint["addresses"];
  const std::string where = in(path, "addresses");
  if (addresses.empty()) errors.required(where, "must contain at least 1 address");
  if (addresses.size() > kAddressesMax) errors.too_many(where, addresses.size(), kAddressesMax);
  for (std::size_t i = 0; i < addresses.size() && i < kAddressesMax; ++i)
    check_address(type, addresses[i], at(where, i), errors);
  if (const Json& node = endpoint["nodeName"]; node.is_string())
    errors.invalid(in(path, "nodeName"), node, api::check_dns_subdomain(node.as_string()));
  if (const Json& host = endpoint["hostname"]; host.is_string())
    errors.invalid(in(path, "hostname"), host, api::check_dns_label(host.as_string()));
  const Json& zones = endpoint["hints"]["forZones"];
  const std::string hints = in(in(path, "hints"), "forZones");
  if (zones.size() > kHintsMax) return errors.too_many(hints, zones.size(), kHintsMax);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < zones.size(); ++i) {
    const std::string name = zones[i]["name"].str();
    if (!seen.insert(name).second) errors.duplicate(at(hints, i), name);
    errors.invalid(in(at(hints, i), "name"), name, api::check_label_value(name));
  }
}

}  // namespace

void check_endpoint_slice(const Json& object, FieldErrors& errors) {
  constexpr std::array<std::string_view, 3> kTypes = {"FQDN", "IPv4", "IPv6"};
  const std::string type = object["addressType"].str();
  if (type.empty())
    errors.required("addressType");
  else
    errors.one_of("addressType", type, kTypes);
  const Json& endpoints = object["endpoints"];
  if (endpoints.size() > kEndpointsMax)
    errors.too_many("endpoints", endpoints.size(), kEndpointsMax);
  else
    for (std::size_t i = 0; i < endpoints.size(); ++i) check_endpoint(type, endpoints[i], at("endpoints", i), errors);
  const Json& ports = object["ports"];
  if (ports.size() > kPortsMax) return errors.too_many("ports", ports.size(), kPortsMax);
  std::set<std::string> names;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::string where = at("ports", i), name = ports[i]["name"].str();
    if (!names.insert(name).second) errors.duplicate(in(where, "name"), name);
    if (!name.empty()) errors.invalid(in(where, "name"), name, api::check_dns_label(name));
    check_port(ports[i], where, errors);
  }
}

void check_endpoints(const Json& object, FieldErrors& errors) {
  const Json& subsets = object["subsets"];
  for (std::size_t i = 0; i < subsets.size(); ++i) {
    const std::string where = at("subsets", i);
    const Json& subset = subsets[i];
    if (subset["addresses"].empty() && subset["notReadyAddresses"].empty())
      errors.required(where, "must specify `addresses` or `notReadyAddresses`");
    for (const char* list : {"addresses", "notReadyAddresses"})
      for (std::size_t k = 0; k < subset[list].size(); ++k) {
        const std::string place = at(in(where, list), k), ip = subset[list][k]["ip"].str();
        if (const auto why = api::ip_problem(ip); !why.empty())
          errors.invalid(in(place, "ip"), ip, why);
        else
          check_reach(ip, in(place, "ip"), errors);
        if (const std::string host = subset[list][k]["hostname"].str(); !host.empty())
          errors.invalid(in(place, "hostname"), host, api::check_dns_label(host));
        if (const Json& node = subset[list][k]["nodeName"]; node.is_string())
          errors.invalid(in(place, "nodeName"), node, api::check_dns_subdomain(node.as_string()));
      }
    const Json& ports = subset["ports"];
    for (std::size_t k = 0; k < ports.size(); ++k) {
      const std::string place = at(in(where, "ports"), k), name = ports[k]["name"].str();
      if (ports.size() > 1 && name.empty()) errors.required(in(place, "name"));
      if (!name.empty()) errors.invalid(in(place, "name"), name, api::check_dns_label(name));
      if (const std::int64_t port = ports[k]["port"].as_int(); port < 1 || port > 65535)
        errors.invalid(in(place, "port"), port, "must be between 1 and 65535, inclusive");
      check_port(ports[k], place, errors);
    }
  }
}

namespace {

void default_protocols(Json& holder) {
  for (std::size_t i = 0; i < holder["ports"].items().size(); ++i)
    set_if_absent(holder.edit("ports").edit(i), "protocol", "TCP");
}

// A zone without a name is one that nothing is in.
void default_endpoint_slice(Json& object) {
  default_protocols(object);
  for (std::size_t i = 0; i < object["endpoints"].items().size(); ++i)
    for (std::size_t k = 0; k < object["endpoints"][i]["hints"]["forZones"].items().size(); ++k)
      if (const Json& zone = object["endpoints"][i]["hints"]["forZones"][k]; zone.is_object() && zone["name"].is_null())
        object.edit("endpoints").edit(i).edit("hints").edit("forZones").edit(k).set("name", "");
}

void default_endpoints(Json& object) {
  for (std::size_t i = 0; i < object["subsets"].items().size(); ++i)
    if (object["subsets"][i].is_object()) default_protocols(object.edit("subsets").edit(i));
}

void check_endpoint_slice_update(const Json& old_object, const Json& object, api::FieldErrors& errors) {
  if (!(old_object["addressType"] == object["addressType"]))
    errors.invalid("addressType", object["addressType"], "field is immutable");
}

// Every address with every port: they are counted, and three of them are shown.
std::vector<Json> endpoints_cells(const Json& endpoints, base::Time now) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> shown;
  std::size_t all = 0;
  for (const Json& subset : endpoints["subsets"].items()) {
    const auto ports = subset["ports"].items();
    all += subset["addresses"].size() * std::max<std::size_t>(ports.size(), 1);
    for (const Json& address : subset["addresses"].items()) {
      if (shown.size() == kShown) break;
      if (ports.empty()) shown.push_back(address["ip"].str());
      for (const Json& port : ports.first(std::min(ports.size(), kShown - std::min(shown.size(), kShown))))
        shown.push_back(address["ip"].str() + ":" + port["port"].dump());
    }
  }
  std::string text = joined(shown, "<none>").str();
  if (all > kShown) text += base::format(" + {} more...", all - kShown);
  return {Json(text), age_of(endpoints, now)};
}
constexpr api::Column kColumnsOfEndpoints[] = {{"Endpoints", ""}, {"Age", ""}};

std::vector<Json> slice_cells(const Json& slice, base::Time now) {
  constexpr std::size_t kShownMax = 3;
  std::vector<std::string> ports, addresses;
  for (const Json& port : slice["ports"].items()) ports.push_back(port["port"].is_null() ? "*" : port["port"].dump());
  for (const Json& endpoint : slice["endpoints"].items())
    for (const Json& address : endpoint["addresses"].items()) addresses.push_back(address.str());
  const std::size_t more = addresses.size() - std::min(addresses.size(), kShownMax);
  addresses.resize(addresses.size() - more);
  Json shown = joined(addresses, "<unset>");
  if (more > 0) shown = base::format("{} + {} more...", shown.as_string(), more);
  return {slice["addressType"], joined(ports, "<unset>"), shown, age_of(slice, now)};
}
constexpr api::Column kColumnsOfEndpointSlice[] = {{"AddressType", ""}, {"Ports", ""}, {"Endpoints", ""}, {"Age", ""}};

}  // namespace

const KindRules kEndpoints = {
    .kind = "Endpoints",
    .defaults = default_endpoints,
    .check = [](const Json&, const Json& object, api::FieldErrors& errors) { check_endpoints(object, errors); },
    .table = {kColumnsOfEndpoints, endpoints_cells}};

const KindRules kEndpointSlice = {
    .kind = "EndpointSlice",
    .defaults = default_endpoint_slice,
    .check = [](const Json&, const Json& object, api::FieldErrors& errors) { check_endpoint_slice(object, errors); },
    .check_update = check_endpoint_slice_update,
    .table = {kColumnsOfEndpointSlice, slice_cells}};

}  // namespace apiserver

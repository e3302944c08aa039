// Cells of the kinds around services.
#include "apiserver/documents/service_tables.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

std::string join(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ",") + part;
  return out;
}

Json joined(const std::vector<std::string>& parts, std::string_view none) {
  return parts.empty() ? Json(none) : Json(join(parts));
}

Json external_addresses(const Json& service) {
  const Json& spec = service["spec"];
  const std::string_view type = spec["type"].as_string();
  if (type == "ExternalName") return spec["externalName"];
  std::vector<std::string> addresses;
  for (const Json& ingress : service["status"]["loadBalancer"]["ingress"].items())
    addresses.push_back(ingress["ip"].as_string().empty() ? ingress["hostname"].str() : ingress["ip"].str());
  for (const Json& ip : spec["externalIPs"].items()) addresses.push_back(ip.str());
  return joined(addresses, type == "LoadBalancer" ? "<pending>" : "<none>");
}

std::vector<Json> service_cells(const Json& service, base::Time now) {
  const Json& spec = service["spec"];
  std::vector<std::string> ports;
  for (const Json& port : spec["ports"].items()) {
    std::string text = port["port"].dump();
    if (port["nodePort"].as_int() > 0) text += ":" + port["nodePort"].dump();
    ports.push_back(text + "/" + port["protocol"].str());
  }
  std::vector<std::string> selector;
  for (const Json::Member& member : spec["selector"].members())
    selector.push_back(std::string(member.name()) + "=" + member.value.str());
  return {spec["type"],
          spec["clusterIP"].as_string().empty() ? Json("<none>") : spec["clusterIP"],
          external_addresses(service),
          joined(ports, "<none>"),
          age_of(service, now),
          joined(selector, "<none>")};
}

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

std::vector<Json> budget_cells(const Json& budget, base::Time now) {
  const auto bound = [&](std::string_view field) {
    const Json& value = budget["spec"][field];
    return value.is_null() ? Json("N/A") : value.is_string() ? value : Json(value.dump());
  };
  return {bound("minAvailable"), bound("maxUnavailable"), Json(budget["status"]["disruptionsAllowed"].as_int()),
          age_of(budget, now)};
}

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

std::vector<Json> api_service_cells(const Json& one, base::Time now) {
  std::string available = "Unknown";
  for (const Json& condition : one["status"]["conditions"].items())
    if (condition["type"].as_string() == "Available")
      available = condition["status"].as_string() == "True"
                      ? "True"
                      : base::format("{} ({})", condition["status"].as_string(), condition["reason"].as_string());
  return {Json("Local"), Json(available), age_of(one, now)};
}

std::vector<Json> runtime_class_cells(const Json& runtime_class, base::Time now) {
  return {runtime_class["handler"], age_of(runtime_class, now)};
}

}  // namespace

const Printer* service_printer(std::string_view kind) {
  static const std::map<std::string, Printer, std::less<>> printers = {
      {"Service",
       {{{"Type", ""},
         {"Cluster-IP", ""},
         {"External-IP", ""},
         {"Port(s)", ""},
         {"Age", ""},
         {"Selector", "", "string", 1}},
        service_cells}},
      {"EndpointSlice", {{{"AddressType", ""}, {"Ports", ""}, {"Endpoints", ""}, {"Age", ""}}, slice_cells}},
      {"Ingress", {{{"Class", ""}, {"Hosts", ""}, {"Address", ""}, {"Ports", ""}, {"Age", ""}}, ingress_cells}},
      {"APIService", {{{"Service", ""}, {"Available", ""}, {"Age", ""}}, api_service_cells}},
      {"IngressClass", {{{"Controller", ""}, {"Parameters", ""}, {"Age", ""}}, ingress_class_cells}},
      {"RuntimeClass", {{{"Handler", ""}, {"Age", ""}}, runtime_class_cells}},
      {"PodDisruptionBudget",
       {{{"Min Available", ""}, {"Max Unavailable", ""}, {"Allowed Disruptions", "", "integer"}, {"Age", ""}},
        budget_cells}}};
  const auto found = printers.find(kind);
  return found == printers.end() ? nullptr : &found->second;
}

}  // namespace apiserver

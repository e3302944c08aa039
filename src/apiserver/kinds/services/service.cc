// Services: their addresses and ports are given when they are made, or change.
#include <vector>

#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/rows.h"
#include "apiserver/kinds/services/service_addresses.h"
#include "apiserver/kinds/services/service_rules.h"

namespace apiserver {

using api::Json;

namespace {

base::Status prepare_service(const Context& context, Json& object, api::FieldErrors& errors) {
  object.set("status", Json::object({{"loadBalancer", Json::object()}}));
  allocate_for_service(context, Json(), object, errors);
  return {};
}

void settle_service(const Context& context, std::string_view subresource, const Json& old_object, Json& object,
                    api::FieldErrors& errors) {
  if (!subresource.empty()) return;
  settle_service_update(old_object, object);
  allocate_for_service(context, old_object, object, errors);
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
constexpr api::Column kColumnsOfService[] = {{"Type", ""},    {"Cluster-IP", ""}, {"External-IP", ""},
                                             {"Port(s)", ""}, {"Age", ""},        {"Selector", "", "string", 1}};
constexpr std::string_view kSelectableOfService[] = {"spec.clusterIP", "spec.type"};

}  // namespace

const KindRules kService = {.kind = "Service",
                            .naming = Naming::kLabel,
                            .defaults = default_service,
                            .prepare = prepare_service,
                            .prepare_update = settle_service,
                            .check_create = check_service,
                            .check_update = check_service_update,
                            .table = {kColumnsOfService, service_cells},
                            .selectable = kSelectableOfService};

}  // namespace apiserver

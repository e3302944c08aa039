// Services into addresses: a ready endpoint of the Service's port, as its slices or its Endpoints say.
#include "apiserver/webhooks/endpoint.h"

#include <vector>

#include "api/kinds.h"
#include "base/format.h"
#include "rt/http/url.h"

namespace apiserver {

using api::Json;
using base::Code;
using base::Result;

namespace {

const api::TextField kSliceService{{"discovery.k8s.io", "v1", "endpointslices"},
                                   {"metadata", "labels", "kubernetes.io/service-name"}};

struct Place {
  std::string host;
  std::uint16_t port = 0;
};

// The number of the port called `name`; 0: there is none.
std::uint16_t port_named(const Json& ports, std::string_view name) {
  for (const Json& port : ports.items())
    if (port["name"].as_string() == name && port["port"].as_int() > 0 && port["port"].as_int() <= 65535)
      return static_cast<std::uint16_t>(port["port"].as_int());
  return 0;
}

std::vector<Place> places_of_slices(const api::policies::WebhookAddress& address, std::string_view port_name,
                                    const api::ObjectReader& objects, bool& known) {
  std::vector<Place> out;
  for (const Json& slice : objects.list_by(kSliceService, address.service_name)) {
    if (api::namespace_of(slice) != address.service_ns) continue;
    known = true;
    const std::uint16_t port = port_named(slice["ports"], port_name);
    if (port == 0) continue;
    for (const Json& endpoint : slice["endpoints"].items())
      if (endpoint["conditions"]["ready"].as_bool(true) && !endpoint["addresses"].empty())
        out.push_back({endpoint["addresses"].items().front().str(), port});
  }
  return out;
}

std::vector<Place> places_of_endpoints(const api::policies::WebhookAddress& address, std::string_view port_name,
                                       const api::ObjectReader& objects) {
  std::vector<Place> out;
  const Json found =
      objects.find(api::resources::kEndpoints, address.service_ns, address.service_name).value_or(Json());
  for (const Json& subset : found["subsets"].items()) {
    const std::uint16_t port = port_named(subset["ports"], port_name);
    if (port == 0) continue;
    for (const Json& one : subset["addresses"].items()) out.push_back({one["ip"].str(), port});
  }
  return out;
}

Result<WebhookEndpoint> of_service(const api::policies::WebhookAddress& address, const api::ObjectReader& objects,
                                   base::Random& random) {
  const auto service = objects.find(api::resources::kServices, address.service_ns, address.service_name);
  if (!service)
    return base::make_error(Code::kNotFound, base::format("service \"{}\" not found", address.service_name));
  WebhookEndpoint out;
  out.server_name = base::format("{}.{}.svc", address.service_name, address.service_ns);
  out.target = address.path.empty() ? "/" : address.path;
  out.port = address.port;
  if ((*service)["spec"]["type"].as_string() == "ExternalName") {
    out.host = (*service)["spec"]["externalName"].str();
    return out;
  }
  const Json* wanted = nullptr;
  for (const Json& port : (*service)["spec"]["ports"].items())
    if (port["port"].as_int() == address.port) wanted = &port;
  if (wanted == nullptr)
    return base::make_error(Code::kUnavailable, base::format("no service port {} found for service \"{}\"",
                                                             address.port, address.service_name));
  const std::string_view name = (*wanted)["name"].as_string();
  bool sliced = false;
  std::vector<Place> places = places_of_slices(address, name, objects, sliced);
  if (!sliced) places = places_of_endpoints(address, name, objects);
  std::erase_if(places, [](const Place& place) { return place.host.empty(); });
  if (places.empty())
    return base::make_error(Code::kUnavailable,
                            base::format("no endpoints available for service \"{}\"", address.service_name));
  const Place& place = places[random.below(places.size())];
  out.host = place.host;
  out.port = place.port;
  return out;
}

}  // namespace

Result<WebhookEndpoint> find_webhook_endpoint(const api::policies::WebhookAddress& address,
                                              const api::ObjectReader& objects, base::Random& random) {
  if (address.url.empty()) return of_service(address, objects, random);
  TRY(const rt::ServerUrl url, rt::parse_server_url(address.url));
  return WebhookEndpoint{url.host, url.port, url.host, url.target()};
}

}  // namespace apiserver

// From the Service's port by way of its slices to addresses of pods.
#include "node/ingress/endpoints.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "rt/http/http.h"

namespace node::ingress {

using api::Json;
using base::Code;
using base::make_error;

namespace {

const Json* port_of(const Backend& backend, const Json& service) {
  for (const Json& port : service["spec"]["ports"].items())
    if (backend.port_name.empty() ? port["port"].as_int() == backend.port
                                  : port["name"].as_string() == backend.port_name)
      return port["protocol"].as_string("TCP") == "TCP" ? &port : nullptr;
  return nullptr;
}

bool has_address(const Json& pod, std::string_view address) {
  const Json& status = pod["status"];
  if (status["podIP"].as_string() == address) return true;
  return std::ranges::any_of(status["podIPs"].items(),
                             [address](const Json& one) { return one["ip"].as_string() == address; });
}

}  // namespace

base::Status check_backend(const Backend& backend, const Json* service) {
  if (service == nullptr)
    return make_error(Code::kNotFound, base::format("Service {:?} is not there", backend.service));
  if ((*service)["spec"]["type"].as_string() == "ExternalName")
    return make_error(
        Code::kForbidden,
        base::format("Service {:?} stands for a name elsewhere (ExternalName), where nothing is sent from here",
                     backend.service));
  if (port_of(backend, *service) != nullptr) return {};
  const std::string port = backend.port_name.empty() ? std::to_string(backend.port) : "\"" + backend.port_name + "\"";
  return make_error(Code::kNotFound, base::format("Service {:?} has no TCP port {}", backend.service, port));
}

std::vector<Endpoint> endpoints_of(const Backend& backend, const Objects& objects) {
  const Json* service = objects.service(backend.service);
  std::vector<Endpoint> out;
  if (!check_backend(backend, service).ok()) return out;
  const Json& port = *port_of(backend, *service);
  const bool tls = rt::same_header(port["appProtocol"].as_string(), "https");
  for (const Json* slice : objects.slices(backend.service))
    for (const Json& one : (*slice)["ports"].items()) {
      const std::int64_t number = one["port"].as_int();
      if (one["name"].as_string() != port["name"].as_string() || number < 1 || number > 65535) continue;
      for (const Json& endpoint : (*slice)["endpoints"].items()) {
        const Json& target = endpoint["targetRef"];
        if (!endpoint["conditions"]["ready"].as_bool(true) || target["kind"].as_string() != "Pod") continue;
        const Json* pod = objects.pod(target["name"].str());
        if (pod == nullptr || api::uid_of(*pod) != target["uid"].as_string()) continue;
        for (const Json& address : endpoint["addresses"].items())
          if (has_address(*pod, address.as_string()))
            out.push_back({address.str(), static_cast<std::uint16_t>(number), tls});
      }
    }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace node::ingress

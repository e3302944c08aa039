// How names are derived from Services, EndpointSlices and pods.
#include "node/pod/names.h"

#include <algorithm>
#include <map>

#include "api/ipv4.h"
#include "api/meta/resource.h"
#include "api/network_resources.h"
#include "api/schema/names.h"
#include "base/format.h"
#include "base/letters.h"
#include "base/split.h"
#include "node/pod/pod_specs.h"

namespace node {

using api::Json;

namespace {

void add(NameTable& names, std::string name, std::string_view ip) {
  std::vector<std::string>& addresses = names.addresses[base::lower(name)];
  if (std::find(addresses.begin(), addresses.end(), ip) == addresses.end()) addresses.emplace_back(ip);
}

void add_place(NameTable& names, const Json& port, const std::string& domain, ServicePlace place) {
  if (port["name"].as_string().empty()) return;
  std::vector<ServicePlace>& places = names.places[base::lower(
      base::format("_{}._{}.{}", port["name"].as_string(), port["protocol"].as_string("TCP"), domain))];
  place.target = base::lower(place.target);
  if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(std::move(place));
}

bool selects(const Json& service, const Json& pod) {
  const Json& selector = service["spec"]["selector"];
  if (selector.empty()) return false;
  for (const Json::Member& member : selector.members())
    if (api::label_of(pod, member.name()) != member.value.as_string()) return false;
  return true;
}

std::string domain_of(const Json& service) {
  return base::format("{}.{}.svc.cluster.local", api::name_of(service), api::namespace_of(service));
}

// A name that a DNS message can carry; empty: there is none.
std::string alias_of(const Json& service) {
  std::string name = base::lower(service["spec"]["externalName"].str());
  if (name.ends_with('.')) name.pop_back();
  if (!api::is_dns_subdomain(name)) return {};
  constexpr std::size_t kLabelMax = 63;
  const std::vector<std::string_view> labels = base::split(name, '.');
  const bool fits =
      std::all_of(labels.begin(), labels.end(), [](std::string_view label) { return label.size() <= kLabelMax; });
  return fits ? name : std::string();
}

// The names of what stands behind a service: the endpoints' own, and the service's where it has no address.
void add_slice(NameTable& names, const Json& slice, const std::string& domain, bool has_address) {
  if (slice["addressType"].as_string() != "IPv4") return;
  for (const Json& endpoint : slice["endpoints"].items()) {
    const std::string_view ip = endpoint["addresses"][std::size_t{0}].as_string();
    if (!endpoint["conditions"]["ready"].as_bool(true) || !api::parse_ipv4(ip)) continue;
    std::string host = endpoint["hostname"].str();
    if (!host.empty() && !api::is_dns_label(host)) continue;
    if (host.empty() && has_address) continue;
    if (host.empty()) {
      host = ip;
      std::replace(host.begin(), host.end(), '.', '-');
    }
    const std::string name = base::format("{}.{}", host, domain);
    add(names, name, ip);
    if (has_address) continue;
    add(names, domain, ip);
    for (const Json& port : slice["ports"].items())
      add_place(names, port, domain, {name, static_cast<int>(port["port"].as_int())});
  }
}

}  // namespace

NameTable name_table(const NamedObjects& objects) {
  NameTable names;
  std::map<std::string, bool, std::less<>> known;  // the domains of services: whether their address answers
  for (const Json* service : objects.services) {
    const std::string domain = domain_of(*service);
    if ((*service)["spec"]["type"].as_string() == "ExternalName") {
      if (std::string alias = alias_of(*service); !alias.empty()) names.aliases[domain] = std::move(alias);
      continue;
    }
    const std::string_view address = (*service)["spec"]["clusterIP"].as_string();
    const bool has_address = objects.addresses_answer && api::parse_ipv4(address);
    known[domain] = has_address;
    names.addresses[domain];  // it exists, even with nobody behind it
    if (!has_address) continue;
    add(names, domain, address);
    for (const Json& port : (*service)["spec"]["ports"].items())
      add_place(names, port, domain, {domain, static_cast<int>(port["port"].as_int())});
  }
  for (const Json* slice : objects.slices) {
    const std::string domain = base::format(
        "{}.{}.svc.cluster.local", api::label_of(*slice, api::resources::kServiceNameLabel), api::namespace_of(*slice));
    if (const auto service = known.find(domain); service != known.end())
      add_slice(names, *slice, domain, service->second);
  }
  for (const NamedPod& named : objects.pods) {
    const std::string_view subdomain = (*named.pod)["spec"]["subdomain"].as_string();
    if (named.ip.empty() || subdomain.empty()) continue;
    for (const Json* service : objects.services) {
      if (api::name_of(*service) != subdomain || api::namespace_of(*service) != api::namespace_of(*named.pod)) continue;
      if (!selects(*service, *named.pod)) continue;
      const std::string domain = domain_of(*service);
      add(names, base::format("{}.{}", hostname_of(*named.pod), domain), named.ip);
      if ((*service)["spec"]["publishNotReadyAddresses"].as_bool() && !known[domain]) add(names, domain, named.ip);
    }
  }
  return names;
}

}  // namespace node

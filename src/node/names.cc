// How names are derived from Services, Endpoints and pods.
#include "node/names.h"

#include <algorithm>
#include <set>

#include "api/resource.h"
#include "base/format.h"
#include "node/pod_specs.h"

namespace node {

using api::Json;

namespace {

void add(NameTable& names, std::string name, std::string_view ip) {
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  std::vector<std::string>& addresses = names[name];
  if (std::find(addresses.begin(), addresses.end(), ip) == addresses.end()) addresses.emplace_back(ip);
}

bool selects(const Json& service, const Json& pod) {
  const Json& selector = service["spec"]["selector"];
  if (selector.empty()) return false;
  for (const Json::Member& member : selector.members())
    if (api::label_of(pod, member.name()) != member.value.as_string()) return false;
  return true;
}

}  // namespace

NameTable name_table(const std::vector<const Json*>& services, const std::vector<const Json*>& endpoints,
                     const std::vector<NamedPod>& pods) {
  NameTable names;
  const auto domain = [](const Json& service) {
    return base::format("{}.{}.svc.cluster.local", api::name_of(service), api::namespace_of(service));
  };
  std::set<std::string> known;
  for (const Json* service : services) {
    known.insert(api::key_of(*service));
    names[domain(*service)];  // it exists, even with nobody behind it
  }
  for (const Json* entry : endpoints) {
    if (!known.contains(api::key_of(*entry))) continue;
    for (const Json& subset : (*entry)["subsets"].items()) {
      for (const Json& address : subset["addresses"].items()) {
        const std::string_view ip = address["ip"].as_string();
        add(names, domain(*entry), ip);
        if (!address["hostname"].as_string().empty())
          add(names, base::format("{}.{}", address["hostname"].as_string(), domain(*entry)), ip);
      }
    }
  }
  for (const NamedPod& named : pods) {
    const std::string_view subdomain = (*named.pod)["spec"]["subdomain"].as_string();
    if (named.ip.empty() || subdomain.empty()) continue;
    for (const Json* service : services) {
      if (api::name_of(*service) != subdomain || api::namespace_of(*service) != api::namespace_of(*named.pod)) continue;
      if (!selects(*service, *named.pod)) continue;
      add(names, base::format("{}.{}", hostname_of(*named.pod), domain(*service)), named.ip);
      if ((*service)["spec"]["publishNotReadyAddresses"].as_bool()) add(names, domain(*service), named.ip);
    }
  }
  return names;
}

}  // namespace node

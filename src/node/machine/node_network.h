// The agent's requests to the machine's network: names that pods look up, rules of services and of policies.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "node/machine/service_rules.h"
#include "node/policies/policy_rules.h"

namespace node {

// The place of a service's named port.
struct ServicePlace {
  std::string target;  // a name of the same table
  int port = 0;

  bool operator==(const ServicePlace&) const = default;
};

// The names that pods may look up: lower-case names without the last dot.
struct NameTable {
  std::map<std::string, std::vector<std::string>, std::less<>> addresses = {};  // IPv4
  std::map<std::string, std::vector<ServicePlace>, std::less<>> places = {};    // "_http._tcp.web.ns.svc.cluster.local"
  std::map<std::string, std::string, std::less<>> aliases = {};  // names that stand for others, here or anywhere
};

// This class itself is the network of a machine whose pods have none of their own. Methods marked "blocking" run off
// the loop.
class NodeNetwork {
 public:
  virtual ~NodeNetwork() = default;

  // Names that pods resolve from now on. Quick.
  virtual void set_names(std::shared_ptr<const NameTable>) {}
  // Why nothing answers at the addresses of services here, or nothing. After Runtime::open(). Quick.
  virtual std::string no_service_proxy() const { return "pods are on this machine's own network"; }
  // Blocking: from now on the addresses of services lead where `rules` say. The next call mends the remains of an
  // error.
  virtual base::Status set_services(const ServiceRules&) { return {}; }
  // Blocking. Whether the kernel would take these rules; nothing changes.
  virtual base::Status try_services(const ServiceRules&) { return {}; }
  // Why NetworkPolicies have no effect here, or nothing. After Runtime::open(). Quick.
  virtual std::string no_policies() const { return "pods are on this machine's own network"; }
  // Blocking: from now on packets from and to pods pass as `rules` say. The next call mends the remains of an error.
  virtual base::Status set_policies(const PolicyRules&) { return {}; }
};

}  // namespace node

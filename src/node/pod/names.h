// The names that pods can look up: services, their ports, and pods of headless services. Pure.
#pragma once

#include <memory>
#include <vector>

#include "api/json/json.h"
#include "node/machine/node_network.h"

namespace node {

// A pod of this node that has an address.
struct NamedPod {
  const api::Json* pod = nullptr;
  std::string ip;
};

struct NamedObjects {
  std::vector<const api::Json*> services;
  std::vector<const api::Json*> slices;  // EndpointSlices
  std::vector<NamedPod> pods;            // of this node: they have their names as soon as they have addresses
  bool addresses_answer = false;         // something leads from the addresses of services to their pods
};

// SERVICE.NS.svc.cluster.local is the service's address, if it has one that answers, else the addresses of its pods;
// HOST.SERVICE.NS... the pod with that host name; _PORT._PROTOCOL.SERVICE.NS... says where a named port is.
NameTable name_table(const NamedObjects& objects);

}  // namespace node

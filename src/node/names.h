// The names that pods can look up: services, and pods of headless services. Pure.
#pragma once

#include <memory>
#include <vector>

#include "api/json/json.h"
#include "node/runtime.h"

namespace node {

// A pod of this node that has an address.
struct NamedPod {
  const api::Json* pod = nullptr;
  std::string ip;
};

// SERVICE.NS.svc.cluster.local are the addresses of its Endpoints (there is no proxy: a service's own address leads
// nowhere, its pods' do); HOST.SERVICE.NS... the pod with that host name. Pods of this node have their names as soon as
// they have addresses.
NameTable name_table(const std::vector<const api::Json*>& services, const std::vector<const api::Json*>& endpoints,
                     const std::vector<NamedPod>& pods);

}  // namespace node

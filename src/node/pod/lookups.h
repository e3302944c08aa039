// Other objects that a pod's spec refers to, as the agent's informers know them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/schema/quantity.h"

namespace node {

struct Lookups {
  // `kind` is ConfigMap, Secret, PersistentVolumeClaim or PersistentVolume; null when there is none.
  std::function<const api::Json*(std::string_view kind, std::string_view ns, std::string_view name)> find;
  api::ResourceList allocatable;  // what a container without limits may use
  std::string host_ip;
  std::string pod_ip;
  // The address at which the pod reaches the API server; empty: it is told nothing.
  std::string api_host = {};
  int api_port = 0;
  // The services whose variables the containers have, the API server's first. Empty where addresses of services lead
  // nowhere.
  std::vector<const api::Json*> services = {};
  // The token that a projected volume's serviceAccountToken asks for; null: it is not there yet.
  std::function<const std::string*(const api::Json& source)> token = {};
};

}  // namespace node

// Which Ingresses are served here, by their class.
#pragma once

#include <map>
#include <string>

#include "api/json/json.h"
#include "api/meta/resource.h"

namespace node::ingress {

inline const api::ResourceId kIngresses{"networking.k8s.io", "v1", "ingresses"};
inline const api::ResourceId kIngressClasses{"networking.k8s.io", "v1", "ingressclasses"};
inline constexpr std::string_view kController = "volcano.sh/ingress";

// By name, as an informer has them.
using Classes = std::map<std::string, api::Json, std::less<>>;

// An Ingress without a class is of the default one.
bool is_ours(const api::Json& ingress, const Classes& classes);
// The class of this router, which is the default one.
api::Json own_class();

}  // namespace node::ingress

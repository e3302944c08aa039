// The keys that pods show registries: the credentials of their imagePullSecrets. Pure.
#pragma once

#include <string>
#include <vector>

#include "api/json/json.h"

namespace node {

// A file of credentials as skopeo reads it ({"auths": ...}), from Secrets of the types kubernetes.io/dockerconfigjson
// and kubernetes.io/dockercfg; empty: there are none. The first of two for one registry holds; what cannot be read is
// left out.
std::string registry_keys(const std::vector<const api::Json*>& secrets);

}  // namespace node

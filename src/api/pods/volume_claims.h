// Which claim does a volume of a pod lead to? Pure functions; any thread.
#pragma once

#include <string>

#include "api/json/json.h"

namespace api {

// The name of the claim that a persistentVolumeClaim names, or that is made for an ephemeral volume; empty: neither.
std::string claim_of_volume(const Json& pod, const Json& volume);

// Whether `claim`, of that name, is the volume's: that of an ephemeral one is controlled by the pod. A claim of such a
// name may be somebody else's.
bool is_claim_of(const Json& pod, const Json& volume, const Json& claim);

}  // namespace api

// Names of objects that a workload makes: they have to be allowed, or it could never become what it says.
#pragma once

#include <vector>

#include "api/json/json.h"
#include "api/kinds.h"
#include "base/result.h"

namespace apiserver {

// COMPAT(names-that-are-made): a StatefulSet whose pod with the highest ordinal, and a Deployment whose ReplicaSets,
// would have too long a name. A stock server takes them, and their objects are refused for ever.
void check_made_names(const api::KindInfo& kind, const api::Json& object, std::vector<base::Cause>& causes);

}  // namespace apiserver

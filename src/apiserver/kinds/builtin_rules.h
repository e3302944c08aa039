// The rules of Kubernetes' own kinds with few rules each, in Kubernetes' words.
#pragma once

#include <vector>

#include "api/json/json.h"
#include "api/kinds.h"
#include "base/result.h"

namespace apiserver {

// Checks an object that is made, or as it is after a change. Kinds without such rules have none.
void check_builtin_kind(const api::KindInfo& kind, const api::Json& object, std::vector<base::Cause>& causes);

}  // namespace apiserver

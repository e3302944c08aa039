// Problems that a change makes. Problems that the object had before are not a reason to refuse it: what was stored
// before a rule was known could never lose its finalizers.
#pragma once

#include <functional>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"

namespace apiserver {

using CheckObject = std::function<void(const api::Json& object, std::vector<base::Cause>& causes)>;
void check_ratcheting(const CheckObject& check, const api::Json& old_object, const api::Json& object,
                      std::vector<base::Cause>& causes);

}  // namespace apiserver

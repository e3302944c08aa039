// Problems that a change makes. Problems that the object had before are not a reason to refuse it: what was stored
// before a rule was known could never lose its finalizers.
#pragma once

#include <vector>

#include "api/json/json.h"
#include "api/schema/field_errors.h"
#include "base/result.h"

namespace apiserver {

using CheckObject = void (*)(const api::Json& stored, const api::Json& object, api::FieldErrors& errors);
std::vector<base::Cause> new_problems(CheckObject check, const api::Json& old_object, const api::Json& object);

}  // namespace apiserver

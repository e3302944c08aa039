// The rules of schemas that are expressions (x-kubernetes-validations of CRDs), judged as the API server judges them.
#pragma once

#include <vector>

#include "api/json/json.h"
#include "api/schema/schema.h"
#include "base/result.h"

namespace api::cel {

// Adds what the rules of a custom resource's schema say of the object, behind what api::validate() has found. Rules are
// not asked if that made values unfit to be looked at (a wrong type, something missing), and one cause says so.
void check_rules(const Schema& schema, const Json& object, std::vector<base::Cause>& causes);

}  // namespace api::cel

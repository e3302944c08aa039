// Checks the types of many objects that have equal parts.
#pragma once

#include <optional>

#include "api/json/by_identity.h"
#include "api/schema/schema.h"

namespace api {

// Parts that were found good, and by which schema.
using CheckedValues = ByIdentity<const Schema*, 256>;

// As find_wrong_type(), but parts that `good` knows are not looked at again. Schemas live as long as `good`.
std::optional<base::Cause> find_wrong_type(const Schema& schema, const Json& object, CheckedValues& good);

}  // namespace api

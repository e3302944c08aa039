// A schema that demands the same and fills in nothing: for parts of objects that are laid over others.
#pragma once

#include "api/schema/schema.h"

namespace api {

// Kept for the life of the program, once for each schema. Call while schemas are made, on one thread.
const Schema& without_defaults(const Schema& schema);

}  // namespace api

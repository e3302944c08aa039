// The schema of what is laid over an object: the same rules, nothing required, nothing filled in.
#pragma once

#include "api/schema/schema.h"

namespace api {

// Kept for the life of the program, once for each schema; its definitions are called "<name>Patch". Call while schemas
// are made, on one thread.
const Schema& partial_schema(const Schema& schema);

}  // namespace api

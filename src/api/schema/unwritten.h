// The fields that Go's encoders leave out: a field that is "", 0 or false, or an empty list or map, and is not told
// apart from none. A stock server stores objects without it, and its clients send them back without it.
#pragma once

#include <cstdint>

#include "api/schema/schema.h"

namespace api {

enum class Empties : std::uint8_t { kKept, kDropped };

// Removes such fields (empty lists and maps if they are asked for), and makes a null in a map of texts the text "" that
// Go reads it as. Values of a wrong type stay, for validation to name. A value that needs no change is not copied.
void drop_unwritten(const Schema& schema, Json& value, Empties empties);

// Whether two values of a schema are the same once what need not be written is gone.
bool same_as_written(const Schema& schema, const Json& one, const Json& other);
// The same of a member.
bool same_member_as_written(const Schema& schema, std::string_view name, const Json& one, const Json& other);

}  // namespace api

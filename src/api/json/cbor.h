// CBOR (RFC 8949) as Kubernetes' API has it: what its servers accept is read, and written in the form that they write.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "api/json/json.h"
#include "base/result.h"

namespace api {

// One value, and nothing behind it. Texts may be text strings or byte strings; lengths may be open; tags that mean
// nothing here are passed over, a time becomes its RFC 3339 text, and bytes that are tagged for base64 or base16 become
// that text. Refused, with the place: equal names in one map, names that are not a text, text that is not UTF-8,
// integers beyond int64, NaN and infinities, `undefined` and other simple values, and what is deeper or of more values
// than JSON of a body can be.
base::Result<Json> parse_cbor(std::string_view bytes);

// The self-described form (a prefix of three bytes that no JSON begins with): texts as byte strings, members in the
// order of their encoded names, numbers as short as they go. Integers beyond int64 become floating-point numbers, as
// Kubernetes' clients read no others.
std::string to_cbor(const Json& json);

// The same of `list`, whose "items" are `count` values that are asked for one after the other: they are never all
// there.
std::string list_to_cbor(const Json& list, std::size_t count, const std::function<Json(std::size_t)>& item);

}  // namespace api

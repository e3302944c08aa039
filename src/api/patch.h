// The three kinds of patches beside apply. Each returns the patched document or says what is wrong; the input is
// unchanged.
#pragma once

#include "api/json.h"
#include "api/schema.h"
#include "base/result.h"

namespace api {

// RFC 6902. A failed "test" is kInvalid, a malformed patch kBadRequest.
base::Result<Json> apply_json_patch(const Json& document, const Json& patch);
// RFC 7386.
Json apply_merge_patch(const Json& document, const Json& patch);
// The merge patch that turns `before` into `after`.
Json make_merge_patch(const Json& before, const Json& after);
// Kubernetes' strategic merge: lists with merge keys merge, "$patch", "$retainKeys", "$setElementOrder/x" and
// "$deleteFromPrimitiveList/x" are directives.
base::Result<Json> apply_strategic_patch(const Schema& schema, const Json& document, const Json& patch);

}  // namespace api

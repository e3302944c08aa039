// The three kinds of patches beside apply. Each returns the patched document or says what is wrong; the input is
// unchanged.
#pragma once

#include <cstddef>
#include <cstdint>

#include "api/json/json.h"
#include "api/schema/schema.h"
#include "base/result.h"

namespace api {

// The limit of one patch's work: members and items moved, copied or compared (api/json/work.h).
inline constexpr std::uint64_t kPatchStepsMax = std::uint64_t{8} << 20;

// The limits of one JSON patch.
struct JsonPatchLimits {
  std::size_t operations = 10'000;                  // Kubernetes' own
  std::size_t copied_bytes = std::size_t{3} << 20;  // by all its "copy" operations; Kubernetes' own
  std::uint64_t steps = kPatchStepsMax;
};

// RFC 6902. A failed "test" is kInvalid, as is what copies too much or nests deeper than an object may; a malformed
// patch is kBadRequest, one of too many operations or steps kTooLarge.
base::Result<Json> apply_json_patch(const Json& document, const Json& patch, const JsonPatchLimits& limits = {});
// RFC 7386.
Json apply_merge_patch(Json document, const Json& patch);
// The merge patch that turns `before` into `after`.
Json make_merge_patch(const Json& before, const Json& after);
// Kubernetes' strategic merge: lists with merge keys merge, "$patch", "$retainKeys", "$setElementOrder/x" and
// "$deleteFromPrimitiveList/x" are directives. Items of a patch that have one key merge one after the other; what takes
// more than `steps_max` steps by that is kTooLarge.
base::Result<Json> apply_strategic_patch(const Schema& schema, const Json& document, const Json& patch,
                                         std::uint64_t steps_max = kPatchStepsMax);

}  // namespace api

// LimitRanges: what they say themselves, what they give to pods that say nothing, and what they refuse. Pure.
#pragma once

#include <string>
#include <vector>

#include "api/admission.h"
#include "api/json/json.h"
#include "api/kinds.h"
#include "api/schema/field_errors.h"
#include "base/result.h"

namespace apiserver {

// Of containers: a maximum is the default limit, which is the default request; or else the minimum is.
void default_limit_range(api::Json& object);
void check_limit_range(const api::Json& object, api::FieldErrors& errors);

// The LimitRanges of a namespace, by name.
std::vector<api::Json> limit_ranges_of(const api::ObjectReader& objects, const std::string& ns);
// Whether they are about objects of the kind.
bool has_limits(const api::KindInfo& kind);
// Gives containers of a pod the requests that they lack. The additions, in words, or nothing.
std::string apply_limit_ranges(const std::vector<api::Json>& ranges, api::Json& pod);
// Writes them into a new pod.
void annotate_limit_ranges(const std::string& words, api::Json& pod);
// kForbidden, in Kubernetes' words, with all that is wrong by the first LimitRange that refuses.
base::Status check_limits(const std::vector<api::Json>& ranges, const api::KindInfo& kind, const api::Json& object);

}  // namespace apiserver

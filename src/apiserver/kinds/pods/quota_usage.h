// The use that an object makes of the quotas of its namespace, and the quotas that it is about. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/json/projection.h"
#include "api/kinds.h"
#include "api/schema/field_errors.h"
#include "api/schema/quantity.h"
#include "base/result.h"

namespace apiserver {

// A ResourceQuota as it is applied.
struct QuotaTerms {
  api::ResourceList hard;
  api::Json selectors;  // of scopes: {scopeName, operator, values}, all of which must hold

  // Whether objects of the kind can take anything of it.
  bool measures(const api::KindInfo& kind) const;
};
QuotaTerms quota_terms(const api::Json& quota);

// The object's use of each of the names in `hard`, if the scopes are about it. Null takes nothing.
api::ResourceList quota_usage(const QuotaTerms& terms, const api::KindInfo& kind, const api::Json& object);
// The parts that quota_usage() reads of an object of the kind.
const api::Projection& quota_projection(const api::KindInfo& kind);

// Containers that do not say what the quota counts: "must specify limits.cpu for: a,b; memory for: a", or nothing.
std::string unsaid_by_pod(const QuotaTerms& terms, const api::Json& pod);

// "limits.cpu=2,pods=1": of `list`, what `names` has.
std::string quota_text(const api::ResourceList& list, const std::vector<std::string>& names);

// The rules of a ResourceQuota; `old_object` is null on create.
void check_resource_quota(const api::Json& old_object, const api::Json& object, api::FieldErrors& errors);

}  // namespace apiserver

// PodDisruptionBudgets: what they may say, and what they say to an eviction.
#pragma once

#include <optional>
#include <vector>

#include "api/json/json.h"
#include "api/schema/field_errors.h"
#include "apiserver/kinds/context.h"
#include "base/result.h"

namespace apiserver {

void check_budget(const api::Json& object, api::FieldErrors& errors);

// Whether a pod may be evicted; the error is 429 in the words of Kubernetes. The result is the budget with one
// disruption less, to be stored with the eviction; nothing where no budget is spent.
base::Result<std::optional<api::Json>> spend_budget(const Context& context, const api::Json& pod);

}  // namespace apiserver

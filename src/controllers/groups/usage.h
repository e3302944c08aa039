// The use of a pod in a quota.
#pragma once

#include "api/json/json.h"
#include "api/schema/quantity.h"

namespace controllers {

// Usage of one pod in the terms of a ResourceQuota: counts, requests and limits (controllers.md 3.9).
api::ResourceList quota_usage(const api::Json& pod_spec);

}  // namespace controllers

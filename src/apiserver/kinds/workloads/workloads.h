// The defaults and rules of the kinds of apps/v1 and batch/v1 and of ReplicationControllers.
#pragma once

#include <vector>

#include "api/json/json.h"
#include "api/kinds.h"
#include "base/result.h"

namespace apiserver {

bool is_workload(const api::KindInfo& kind);

void default_workload(const api::KindInfo& kind, api::Json& object);
// Before a create, once the uid is there: the status is reset, a Job gets its selector.
void prepare_workload(const api::KindInfo& kind, api::Json& object);
void check_workload(const api::KindInfo& kind, const api::Json& object, std::vector<base::Cause>& causes);
void check_workload_update(const api::KindInfo& kind, const api::Json& old_object, const api::Json& object,
                           std::vector<base::Cause>& causes);

// The defaults of pods and of their templates (core_defaults.cc).
void default_pod_spec(api::Json& spec);

}  // namespace apiserver

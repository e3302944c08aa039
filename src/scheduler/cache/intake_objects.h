// API objects in, the model kept current: kinds that leave nothing behind but what the model says.
//
// Each reads one object that exists in this state now, or is gone.
#pragma once

#include "api/json/json.h"
#include "api/meta/resource.h"
#include "scheduler/cache/intake_options.h"
#include "scheduler/model/model.h"

namespace scheduler {

// True when a decision could differ.
bool set_node(Model& model, const IntakeOptions& options, const api::Json& node);
bool remove_node(Model& model, const api::Json& node);
// True when a decision could differ. False also for resources that are read elsewhere.
bool set_policy(Model& model, const api::ResourceId& id, const api::Json& object, bool exists);
// False for resources that are read elsewhere.
bool set_storage(Model& model, const api::ResourceId& id, const api::Json& object, bool exists);
bool set_devices(Model& model, const api::ResourceId& id, const api::Json& object, bool exists);
// Services and the controllers that own pods.
bool set_workload(Model& model, const api::ResourceId& id, const api::Json& object, bool exists);

}  // namespace scheduler

// How do pods, nodes, groups and queues look to an extender? JSON with the field names that extenders of Volcano read.
#pragma once

#include "api/json/json.h"
#include "scheduler/model/model.h"

namespace scheduler {

api::Json extender_task(const Model& model, const Task& task);
api::Json extender_node(const Model& model, NodeId node);
api::Json extender_job(const Model& model, const Job& job);
api::Json extender_queue(const Model& model, const Queue& queue);
// Everything at once, for onSessionOpen.
api::Json extender_session(const Model& model);

}  // namespace scheduler

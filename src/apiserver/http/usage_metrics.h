// metrics.k8s.io: what nodes and pods use, from the node agent's measurements. They are never stored.
#pragma once

#include "api/node_usage.h"
#include "apiserver/pipeline/api.h"

namespace apiserver {

// Whether objects of the kind are measured, not stored.
bool is_measured(const api::KindInfo& kind);

// The object of a measurement; null where it has no means yet. `object`: the Node or Pod it is about. Pure.
api::Json node_metrics(const api::NodeUsage& usage, const api::Json& object);
api::Json pod_metrics(const api::NodeUsage& usage, const api::PodUsage& pod, const api::Json& object);

// A get or list of a measured kind; others are kMethodNotAllowed. `source` may be null: no node agent in this process.
// Loop thread.
base::Result<Answer> measured_answer(Api& api, const api::NodeUsageSource* source, const Request& request);

}  // namespace apiserver

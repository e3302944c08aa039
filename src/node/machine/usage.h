// From two readings of counters to what is used, and to the pages on which a kubelet shows it. Pure.
#pragma once

#include <string>

#include "api/json/json.h"
#include "api/node_usage.h"

namespace node {

// `now` with the means since `before`. A counter that was not there before, or counts from anew, has no mean yet.
api::NodeUsage usage_since(const api::NodeUsage& before, api::NodeUsage now);

// /stats/summary
api::Json stats_summary(const api::NodeUsage& usage);
// /metrics/resource
std::string resource_metrics(const api::NodeUsage& usage);
// /metrics/cadvisor
std::string container_metrics(const api::NodeUsage& usage);

}  // namespace node

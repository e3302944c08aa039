// The columns that kubectl shows of Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs and CronJobs.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/kinds.h"
#include "base/time.h"

namespace apiserver {

struct Printer {
  std::vector<api::Column> columns;  // after NAME; paths unused
  std::function<std::vector<api::Json>(const api::Json& object, base::Time now)> cells;
};

// How long ago an object was made, as kubectl says it.
api::Json age_of(const api::Json& object, base::Time now);

// By the kind of apps/v1, batch/v1 and of ReplicationController; null: another kind.
const Printer* workload_printer(std::string_view kind);

}  // namespace apiserver

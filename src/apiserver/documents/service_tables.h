// The columns that kubectl shows of Services, EndpointSlices, PodDisruptionBudgets, Ingresses and their classes, and
// RuntimeClasses.
#pragma once

#include <string_view>

#include "apiserver/documents/workload_tables.h"

namespace apiserver {

// null: another kind.
const Printer* service_printer(std::string_view kind);

}  // namespace apiserver

// The columns that kubectl shows of HorizontalPodAutoscalers.
#pragma once

#include "apiserver/documents/workload_tables.h"

namespace apiserver {

const Printer& autoscaler_printer();

}  // namespace apiserver

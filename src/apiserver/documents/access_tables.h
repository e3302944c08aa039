// The columns that kubectl shows of roles and of who has them.
#pragma once

#include "apiserver/documents/workload_tables.h"

namespace apiserver {

// Null for other kinds.
const Printer* access_printer(std::string_view kind);

}  // namespace apiserver

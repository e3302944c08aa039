// The columns that kubectl shows of this program's own kinds: the columns of their definitions, which are Volcano's,
// and more of them under `-o wide`.
#pragma once

#include <vector>

#include "api/json/json.h"
#include "api/kinds.h"
#include "base/time.h"

namespace apiserver {

// After NAME. Columns that are not in the kind's definition have priority 1 and come last. Empty: the kind has none.
std::vector<api::Column> own_columns(const api::KindInfo& kind);
// One cell for each of these columns; what the object does not say is null.
std::vector<api::Json> own_cells(const api::KindInfo& kind, const api::Json& object, base::Time now);

}  // namespace apiserver

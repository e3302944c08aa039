// Server-side printing: objects as the rows of a meta.k8s.io Table, with the columns kubectl shows.
#pragma once

#include <string_view>

#include "api/kinds.h"
#include "base/time.h"

namespace apiserver {

enum class IncludeObject : std::uint8_t { kNone, kMetadata, kObject };

// `list` is a list object (with items) or a single object.
api::Json make_table(const api::KindInfo& kind, const api::Json& list, base::Time now, IncludeObject include);
// One row without column definitions, for watch events after the first.
api::Json make_table_for(const api::KindInfo& kind, const api::Json& object, base::Time now, IncludeObject include,
                         bool with_columns);

}  // namespace apiserver

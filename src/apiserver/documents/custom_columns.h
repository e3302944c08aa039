// The columns that definitions of strangers give their kinds.
#pragma once

#include <string_view>
#include <vector>

#include "apiserver/custom/custom_kind.h"
#include "base/time.h"

namespace apiserver {

// A row of a Table's columnDefinitions.
api::Json column_definition(std::string_view name, std::string_view type, std::string_view format, int priority,
                            std::string_view description = {});
void add_stranger_columns(const CustomKind& kind, api::Json& columns);
// A column shows the first value that its path leads to, if that is of its type.
std::vector<api::Json> stranger_cells(const CustomKind& kind, const api::Json& object, base::Time now);

}  // namespace apiserver

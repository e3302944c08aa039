// Definitions and cells by paths.
#include "apiserver/documents/custom_columns.h"

namespace apiserver {

using api::Json;

namespace {

Json cell(const CustomColumn& column, const Json& object, base::Time now) {
  const auto found = column.path.find(object);
  if (found.empty() || found.front()->is_null()) return {};
  const Json& value = *found.front();
  if (column.type == "string") return value.is_string() ? value : Json(value.dump());
  if (column.type == "boolean") return value.is_bool() ? value : Json();
  if (column.type == "date") {
    if (!value.is_string()) return {};
    const auto time = base::parse_rfc3339(value.as_string());
    return time ? Json(base::format_human_duration(now - *time)) : Json("<unknown>");
  }
  if (!value.is_number()) return {};
  return column.type == "integer" ? Json(value.as_int()) : value;
}

}  // namespace

Json column_definition(std::string_view name, std::string_view type, std::string_view format, int priority,
                       std::string_view description) {
  return Json::object(
      {{"name", name}, {"type", type}, {"format", format}, {"description", description}, {"priority", priority}});
}

void add_stranger_columns(const CustomKind& kind, Json& columns) {
  for (std::size_t i = 0; i < kind.columns.size(); ++i) {
    const api::Column& column = kind.columns[i];
    columns.push_back(
        column_definition(column.name, column.type, kind.cells[i].format, column.priority, kind.cells[i].description));
  }
}

std::vector<Json> stranger_cells(const CustomKind& kind, const Json& object, base::Time now) {
  std::vector<Json> cells;
  for (const CustomColumn& column : kind.cells) cells.push_back(cell(column, object, now));
  return cells;
}

}  // namespace apiserver

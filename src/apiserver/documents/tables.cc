// Column definitions and cells. Kubernetes' own kinds have theirs in their rows; custom resources follow their column
// rows.
#include "apiserver/documents/tables.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/other_versions.h"
#include "api/storage_resources.h"
#include "apiserver/documents/custom_columns.h"
#include "apiserver/documents/own_tables.h"
#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/kind_rules.h"

namespace apiserver {

using api::Json;

namespace {

constexpr api::Column kAgeAlone[] = {{"Age", "", "date"}};

KindTable table_of(const api::KindInfo& kind) {
  if (const KindTable& table = rules_of(kind).table; table.cells != nullptr) return table;
  return {kAgeAlone, [](const Json& object, base::Time now) { return std::vector{age_of(object, now)}; }};
}

// A custom resource without columns shows its age.
bool has_own_columns(const api::KindInfo& kind) { return kind.custom && !kind.columns.empty(); }

Json columns_for(const api::KindInfo& kind) {
  Json columns = Json::array();
  const bool event = kind.kind == "Event";
  if (!event) columns.push_back(column_definition("Name", "string", "name", 0));
  if (const CustomKind* custom = custom_kind(kind); custom != nullptr && has_own_columns(kind)) {
    add_stranger_columns(*custom, columns);
    return columns;
  }
  const std::vector<api::Column> own = has_own_columns(kind) ? own_columns(kind) : std::vector<api::Column>();
  for (const api::Column& column : has_own_columns(kind) ? std::span(own) : table_of(kind).columns)
    columns.push_back(column_definition(column.name, column.type, "", column.priority));
  return columns;
}

// As kubectl shows it: the class of claims that name none is marked.
Json shown_name(const api::KindInfo& kind, const Json& object) {
  const Json& name = object["metadata"]["name"];
  if (kind.kind != "StorageClass" || kind.resource.group != "storage.k8s.io") return name;
  return api::is_default_class(object) ? Json(name.str() + " (default)") : name;
}

Json row_for(const api::KindInfo& kind, const Json& object, base::Time now, IncludeObject include) {
  const CustomKind* custom = custom_kind(kind);
  std::vector<Json> cells = !has_own_columns(kind) ? table_of(kind).cells(object, now)
                            : custom != nullptr    ? stranger_cells(*custom, object, now)
                                                   : own_cells(kind, object, now);
  if (kind.kind != "Event") cells.insert(cells.begin(), shown_name(kind, object));
  Json row = Json::object({{"cells", Json::array(std::move(cells))}});
  if (include == IncludeObject::kMetadata)
    row.set("object", Json::object({{"kind", "PartialObjectMetadata"},
                                    {"apiVersion", "meta.k8s.io/v1"},
                                    {"metadata", object["metadata"]}}));
  else if (include == IncludeObject::kObject)
    row.set("object", object);
  return row;
}

}  // namespace

Json make_table_for(const api::KindInfo& kind, const Json& object, base::Time now, IncludeObject include,
                    bool with_columns) {
  if (const api::OtherVersion* other = api::other_version(kind))
    return make_table_for(*other->stored, other->to_stored(object), now, include, with_columns);
  Json table = Json::object({{"kind", "Table"},
                             {"apiVersion", "meta.k8s.io/v1"},
                             {"metadata", Json::object({{"resourceVersion", object["metadata"]["resourceVersion"]}})}});
  table.set("columnDefinitions", with_columns ? columns_for(kind) : Json());
  table.set("rows", Json::array({row_for(kind, object, now, include)}));
  return table;
}

Json make_table(const api::KindInfo& kind, const Json& list, base::Time now, IncludeObject include) {
  const Json* items = list.find("items");
  if (!items) return make_table_for(kind, list, now, include, true);
  if (const api::OtherVersion* other = api::other_version(kind)) {
    std::vector<Json> stored;
    for (const Json& item : items->items()) stored.push_back(other->to_stored(item));
    Json converted = list;
    converted.set("items", Json::array(std::move(stored)));
    return make_table(*other->stored, converted, now, include);
  }
  Json table = Json::object({{"kind", "Table"},
                             {"apiVersion", "meta.k8s.io/v1"},
                             {"metadata", list["metadata"]},
                             {"columnDefinitions", columns_for(kind)}});
  std::vector<Json> rows;
  rows.reserve(items->size());
  for (const Json& item : items->items()) rows.push_back(row_for(kind, item, now, include));
  table.set("rows", Json::array(std::move(rows)));
  return table;
}

}  // namespace apiserver

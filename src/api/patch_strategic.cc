// Strategic merge patch along a schema.
#include <algorithm>

#include "api/patch.h"
#include "base/format.h"

namespace api {
namespace {

using base::Code;
using base::make_error;
using base::Result;

constexpr std::string_view kOrderPrefix = "$setElementOrder/";
constexpr std::string_view kDeletePrefix = "$deleteFromPrimitiveList/";
constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";

const Schema& field_schema(const Schema& schema, std::string_view name) {
  if (schema.kind == Schema::Kind::kMap) return *schema.element;
  const SchemaField* field = schema.kind == Schema::Kind::kObject ? schema.field(name) : nullptr;
  return field ? *field->schema : any_schema();
}

bool is_directive(std::string_view name) {
  return name == kDirective || name == kRetainKeys || name.starts_with(kOrderPrefix) || name.starts_with(kDeletePrefix);
}

// The patch value without directives, as it is stored when there was nothing before.
Json without_directives(const Json& patch) {
  if (patch.is_array()) {
    Json out = Json::array();
    for (const Json& item : patch.items())
      if (item["$patch"].as_string() != "delete") out.push_back(without_directives(item));
    return out;
  }
  if (!patch.is_object()) return patch;
  Json out = Json::object();
  for (const Json::Member& member : patch.members())
    if (!is_directive(member.name()) && !member.value.is_null())
      out.set(member.name(), without_directives(member.value));
  return out;
}

Result<Json> merge_object(const Schema& schema, const Json& document, const Json& patch);

// Items in the order of `order` (values of the merge key, or scalars); others keep their place relative to the item
// before.
void reorder(Json& list, const Json& order, const std::string& key) {
  const auto rank = [&](const Json& item) -> std::ptrdiff_t {
    const Json& mine = key.empty() ? item : item[key];
    for (std::size_t i = 0; i < order.size(); ++i)
      if ((key.empty() ? order[i] : order[i][key]) == mine) return static_cast<std::ptrdiff_t>(i);
    return -1;
  };
  std::vector<Json> ordered;
  std::vector<Json> others;
  for (const Json& item : list.items()) (rank(item) >= 0 ? ordered : others).push_back(item);
  std::ranges::stable_sort(ordered, {}, rank);
  Json out = Json::array();
  for (Json& item : ordered) out.push_back(std::move(item));
  for (Json& item : others) out.push_back(std::move(item));
  list = std::move(out);
}

Result<Json> merge_keyed_list(const Schema& schema, const Json& document, const Json& patch) {
  const std::string& key = schema.patch_merge_key;
  Json result = document.is_array() ? document : Json::array();
  for (const Json& item : patch.items())
    if (item["$patch"].as_string() == "replace") {
      Json replaced = Json::array();
      for (const Json& other : patch.items())
        if (!other.has(kDirective)) replaced.push_back(without_directives(other));
      return replaced;
    }
  for (const Json& item : patch.items()) {
    const Json* value = item.find(key);
    if (!value)
      return make_error(Code::kBadRequest,
                        base::format("map: {} does not contain declared merge key: {}", item.dump(), key));
    std::size_t at = 0;
    while (at < result.size() && !(result[at][key] == *value)) ++at;
    if (item["$patch"].as_string() == "delete") {
      if (at < result.size()) result.erase_at(at);
    } else if (at < result.size()) {
      TRY(Json merged, merge_object(*schema.element, result[at], item));
      result.edit(at) = std::move(merged);
    } else {
      result.push_back(without_directives(item));
    }
  }
  return result;
}

Json merge_scalar_list(const Json& document, const Json& patch) {
  Json result = document.is_array() ? document : Json::array();
  for (const Json& item : patch.items())
    if (std::ranges::find(result.items(), item) == result.items().end()) result.push_back(item);
  return result;
}

Result<Json> merge_value(const Schema& schema, const Json* old, const Json& value) {
  if (value.is_object() && schema.kind != Schema::Kind::kAny) return merge_object(schema, old ? *old : Json(), value);
  if (value.is_object()) return apply_merge_patch(old ? *old : Json(), value);
  if (value.is_array() && schema.kind == Schema::Kind::kList && schema.patch_merge) {
    if (schema.patch_merge_key.empty()) return merge_scalar_list(old ? *old : Json(), value);
    return merge_keyed_list(schema, old ? *old : Json(), value);
  }
  return value;
}

void apply_list_directives(const Schema& schema, const Json& patch, Json& result) {
  for (const Json::Member& member : patch.members()) {
    if (member.name().starts_with(kDeletePrefix)) {
      const std::string name(member.name().substr(kDeletePrefix.size()));
      if (!result.has(name)) continue;
      Json kept = Json::array();
      for (const Json& item : result[name].items())
        if (std::ranges::find(member.value.items(), item) == member.value.items().end()) kept.push_back(item);
      result.set(name, std::move(kept));
    } else if (member.name().starts_with(kOrderPrefix)) {
      const std::string name(member.name().substr(kOrderPrefix.size()));
      if (result[name].is_array()) reorder(result.edit(name), member.value, field_schema(schema, name).patch_merge_key);
    }
  }
}

Result<Json> merge_object(const Schema& schema, const Json& document, const Json& patch) {
  const std::string_view directive = patch["$patch"].as_string();
  if (directive == "replace") return without_directives(patch);
  if (directive == "delete") return Json::object();
  if (!directive.empty() && directive != "merge")
    return make_error(Code::kBadRequest, base::format("unknown patch type found: {}", directive));
  Json result = document.is_object() ? document : Json::object();
  for (const Json::Member& member : patch.members()) {
    if (is_directive(member.name())) continue;
    if (member.value.is_null()) {
      result.erase(member.name());
      continue;
    }
    TRY(Json merged, merge_value(field_schema(schema, member.name()), result.find(member.name()), member.value));
    result.set(member.name(), std::move(merged));
  }
  apply_list_directives(schema, patch, result);
  if (const Json* retain = patch.find(kRetainKeys)) {
    std::vector<std::string> dropped;
    for (const Json::Member& member : result.members())
      if (std::ranges::find(retain->items(), member.key) == retain->items().end()) dropped.emplace_back(member.name());
    for (const std::string& name : dropped) result.erase(name);
  }
  return result;
}

}  // namespace

Result<Json> apply_strategic_patch(const Schema& schema, const Json& document, const Json& patch) {
  if (!patch.is_object()) return make_error(Code::kBadRequest, "a strategic merge patch must be an object");
  return merge_object(schema, document, patch);
}

}  // namespace api

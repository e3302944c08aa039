// Pruning and defaulting of custom resources, and their schema in the other form.
#include <algorithm>

#include "api/json/json_bulk.h"
#include "api/json/problems.h"
#include "api/json/work.h"
#include "api/schema/structural/structural.h"
#include "base/format.h"

namespace api {
namespace {

using Type = Structural::Type;

bool is_type_meta(std::string_view name) { return name == "apiVersion" || name == "kind" || name == "metadata"; }

std::string below(const std::string& path, std::string_view name) {
  if (path.size() > kShownBytesMax) return path;
  return path.empty() ? shortened(name, 256) : path + "." + shortened(name, 256);
}

// Metadata has the same form everywhere.
const Schema& metadata_schema() { return core_schema("meta.v1.ObjectMeta"); }

void prune_metadata(Json& object, const std::string& path, std::vector<std::string>* removed) {
  static const Schema kHolder{.kind = Schema::Kind::kObject,
                              .fields = {SchemaField{.name = "metadata", .schema = &metadata_schema()}}};
  const Json* metadata = object.find("metadata");
  if (metadata == nullptr || !metadata->is_object()) return;
  Json holder = Json::object({{"metadata", *metadata}});
  std::vector<std::string> gone;
  prune(kHolder, holder, {}, &gone);
  if (gone.empty()) return;
  object.set("metadata", holder["metadata"]);
  if (removed == nullptr) return;
  for (const std::string& name : gone)
    if (removed->size() < kProblemsMax) removed->push_back(below(path, name));
}

struct Pruner {
  std::vector<std::string>* removed;

  // Unchanged parts stay shared.
  void walk(const Structural& schema, Json& value, const std::string& path, bool is_root) {
    count_work(1);
    keep(schema, value, path, is_root, schema.preserves_unknown);
  }

 private:
  // `takes_all`: unknown members stay, in the value and, of a list, in its items; what a named member holds is pruned
  // as it says itself.
  void keep(const Structural& schema, Json& value, const std::string& path, bool is_root, bool takes_all) {
    if (value.is_array()) {
      if (!schema.items) return;
      for (std::size_t i = 0; i < value.size(); ++i) {
        count_work(1);
        Json copy = value[i];
        keep(*schema.items, copy, path + "[" + std::to_string(i) + "]", false,
             takes_all || schema.items->preserves_unknown);
        if (!copy.same_as(value[i])) value.edit(i) = std::move(copy);
      }
    } else if (value.is_object()) {
      object(schema, value, path, is_root, takes_all || schema.any_member);
    }
  }

  void object(const Structural& schema, Json& value, const std::string& path, bool is_root, bool takes_all) {
    const bool whole = is_root || schema.embedded;
    const auto unknown = [&](const Json::Member& one) {
      if (whole && is_type_meta(one.name())) return false;
      return !takes_all && !schema.additional && schema.member(one.name()) == nullptr;
    };
    bool any = false;
    std::vector<std::pair<std::string, const Structural*>> nested;
    for (const Json::Member& one : value.members()) {
      if (unknown(one)) {
        any = true;
        if (removed != nullptr && removed->size() < kProblemsMax) removed->push_back(below(path, one.name()));
        continue;
      }
      if ((whole && is_type_meta(one.name())) || !(one.value.is_object() || one.value.is_array())) continue;
      const Structural* of = schema.member(one.name());
      if (of == nullptr) of = schema.additional.get();
      if (of != nullptr) nested.emplace_back(one.name(), of);
    }
    if (any) erase_members(value, unknown);
    for (const auto& [name, of] : nested) {
      Json copy = value[name];
      walk(*of, copy, below(path, name), false);
      if (!copy.same_as(value[name])) value.set(name, std::move(copy));
    }
    if (whole) prune_metadata(value, path, removed);
  }
};

void fill(const Structural& schema, Json& value);

void fill_member(const Structural& schema, std::string_view name, Json& object) {
  const Json* present = object.find(name);
  if (present != nullptr && present->is_null() && !schema.nullable) {
    object.erase(name);
    present = nullptr;
  }
  if (present == nullptr) {
    if (schema.has_default) object.set(name, schema.default_value);
    return;
  }
  if (!present->is_object() && !present->is_array()) return;
  Json copy = *present;
  fill(schema, copy);
  if (!copy.same_as(*object.find(name))) object.set(name, std::move(copy));
}

void fill(const Structural& schema, Json& value) {
  count_work(1);
  if (value.is_array() && schema.items) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      Json copy = value[i];
      if (copy.is_null() && !schema.items->nullable && schema.items->has_default) copy = schema.items->default_value;
      fill(*schema.items, copy);
      if (!copy.same_as(value[i])) value.edit(i) = std::move(copy);
    }
  }
  if (!value.is_object()) return;
  for (const Structural::Member& one : schema.members) fill_member(one.schema, one.name, value);
  if (!schema.additional) return;
  std::vector<std::string> names;
  for (const Json::Member& one : value.members())
    if (schema.member(one.name()) == nullptr) names.emplace_back(one.name());
  for (const std::string& name : names) fill_member(*schema.additional, name, value);
}

class Copier {
 public:
  explicit Copier(std::deque<Schema>& parts) : parts_(parts) {}

  const Schema& copy(const Structural& from) {
    if (from.int_or_string) return int_or_string_schema();
    switch (from.type) {
      case Type::kString: return string_schema();
      case Type::kInteger: return int64_schema();
      case Type::kNumber: return double_schema();
      case Type::kBoolean: return boolean_schema();
      case Type::kArray: return list(from);
      case Type::kObject: return object(from);
      case Type::kAny: return anything();
    }
    return anything();
  }

  const Schema& object(const Structural& from) {
    if (from.members.empty() && from.additional) {
      Schema& map = parts_.emplace_back();
      map.kind = Schema::Kind::kMap;
      map.atomic = from.atomic;
      map.element = &copy(*from.additional);
      return map;
    }
    // Unnamed members are owned one by one, as a map's are.
    if (from.members.empty() && !from.embedded) return from.atomic ? atomic_map() : anything();
    Schema& made = parts_.emplace_back();
    made.kind = Schema::Kind::kObject;
    made.atomic = from.atomic;
    for (const Structural::Member& one : from.members) {
      SchemaField field;
      field.name = one.name;
      field.schema = &copy(one.schema);
      if (one.schema.has_default) field.default_value = one.schema.default_value;
      made.fields.push_back(std::move(field));
    }
    if (from.embedded) add_type_meta(made);
    return made;
  }

  static void add_type_meta(Schema& object) {
    for (const auto& [name, schema] :
         {std::pair{"apiVersion", &string_schema()}, {"kind", &string_schema()}, {"metadata", &metadata_schema()}}) {
      const auto at = std::ranges::lower_bound(object.fields, std::string_view(name), {},
                                               [](const SchemaField& f) { return std::string_view(f.name); });
      if (at != object.fields.end() && at->name == name)
        at->schema = schema;
      else
        object.fields.insert(at, SchemaField{.name = name, .schema = schema});
    }
  }

 private:
  const Schema& list(const Structural& from) {
    Schema& made = parts_.emplace_back();
    made.kind = Schema::Kind::kList;
    made.list_type = from.list_type;
    made.list_keys = from.list_keys;
    made.element = from.items ? &copy(*from.items) : &anything();
    return made;
  }

  // Objects of any depth; lists in them are owned whole.
  const Schema& anything() {
    if (anything_ == nullptr) {
      anything_ = &parts_.emplace_back();
      anything_->kind = Schema::Kind::kMap;
      anything_->element = anything_;
    }
    return *anything_;
  }

  const Schema& atomic_map() {
    Schema& made = parts_.emplace_back();
    made.kind = Schema::Kind::kMap;
    made.atomic = true;
    made.element = &any_schema();
    return made;
  }

  std::deque<Schema>& parts_;
  Schema* anything_ = nullptr;
};

}  // namespace

const Structural* Structural::member(std::string_view name) const {
  const auto at = std::ranges::lower_bound(members, name, {}, [](const Member& m) { return std::string_view(m.name); });
  return at != members.end() && at->name == name ? &at->schema : nullptr;
}

void prune(const Structural& root, Json& object, std::vector<std::string>* removed) {
  Pruner{removed}.walk(root, object, "", true);
}

void apply_defaults(const Structural& root, Json& object) { fill(root, object); }

SchemaCopy to_schema(const Structural& root) {
  SchemaCopy out;
  Copier copier(out.parts);
  // An object that names nothing still has its metadata.
  Schema& made = out.parts.emplace_back();
  made.kind = Schema::Kind::kObject;
  for (const Structural::Member& one : root.members) {
    SchemaField field;
    field.name = one.name;
    field.schema = &copier.copy(one.schema);
    if (one.schema.has_default) field.default_value = one.schema.default_value;
    made.fields.push_back(std::move(field));
  }
  Copier::add_type_meta(made);
  out.root = &made;
  return out;
}

}  // namespace api

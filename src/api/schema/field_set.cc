// Set algebra on field paths, and the division of objects into fields.
#include "api/schema/field_set.h"

#include <algorithm>

#include "api/json/work.h"
#include "base/format.h"

namespace api {
namespace {

const FieldSet kEmpty;

const FieldSet& child_of(const FieldSet& set, std::string_view element) {
  const auto found = set.children.find(element);
  return found == set.children.end() ? kEmpty : found->second;
}

void put(FieldSet& parent, const std::string& element, FieldSet child) {
  if (!child.empty()) parent.children.insert_or_assign(element, std::move(child));
}

}  // namespace

FieldSet field_set_from(const Json& fields_v1) {
  FieldSet set;
  for (const Json::Member& entry : fields_v1.members()) {
    if (entry.name() == ".") {
      set.member = true;
      continue;
    }
    if (entry.name().size() < 2 || entry.name()[1] != ':') continue;  // "f:", "k:", "v:" and "i:" is all there is
    FieldSet child = field_set_from(entry.value);
    if (entry.value.empty()) child.member = true;
    set.children.insert_or_assign(std::string(entry.name()), std::move(child));
  }
  return set;
}

Json to_fields_v1(const FieldSet& set) {
  Json json = Json::object();
  if (set.member && !set.children.empty()) json.set(".", Json::object());
  for (const auto& [element, child] : set.children) json.set(element, to_fields_v1(child));
  return json;
}

void add(FieldSet& set, const FieldSet& other) {
  count_work(1);
  set.member = set.member || other.member;
  for (const auto& [element, child] : other.children) add(set.children[element], child);
}

FieldSet intersect(const FieldSet& a, const FieldSet& b) {
  count_work(1);
  FieldSet out;
  out.member = a.member && b.member;
  for (const auto& [element, child] : a.children) put(out, element, intersect(child, child_of(b, element)));
  return out;
}

FieldSet subtract(const FieldSet& a, const FieldSet& b) {
  count_work(1);
  FieldSet out;
  out.member = a.member && !b.member;
  for (const auto& [element, child] : a.children) put(out, element, subtract(child, child_of(b, element)));
  return out;
}

std::string element_path(std::string_view element) {
  const std::string_view content = element.substr(2);
  if (element.starts_with("f:")) return base::format(".{}", content);
  if (!element.starts_with("k:")) return base::format("[={}]", content);
  std::string text;
  if (const auto key = parse_json(content); key.ok())
    for (const Json::Member& part : key->members())
      text += base::format("{}{}={}", text.empty() ? "" : ",", part.name(), part.value.dump());
  return base::format("[{}]", text);
}

namespace {

void collect(const FieldSet& set, const std::string& path, std::size_t most, std::vector<std::string>& out) {
  if (out.size() >= most) return;
  if (set.member) out.push_back(path);
  for (const auto& [element, child] : set.children) {
    if (out.size() >= most) return;
    const std::string next = path + element_path(element);
    collect(child, next, most, out);
  }
}

}  // namespace

std::vector<std::string> paths_of(const FieldSet& set, std::size_t most) {
  std::vector<std::string> out;
  collect(set, "", most, out);
  return out;
}

Shape shape_of(const Schema& schema, const Json& value) {
  using Kind = Schema::Kind;
  if (schema.kind == Kind::kObject || schema.kind == Kind::kMap)
    return !schema.atomic && value.is_object() && !value.empty() ? Shape::kObject : Shape::kLeaf;
  if (schema.kind == Kind::kList && value.is_array() && !value.empty()) {
    if (schema.list_type == Schema::ListType::kMap) return Shape::kKeyedList;
    if (schema.list_type == Schema::ListType::kSet) return Shape::kSetList;
  }
  return Shape::kLeaf;
}

std::string list_element(const Schema& list, const Json& item) {
  if (list.list_type == Schema::ListType::kSet) return "v:" + item.dump();
  Json key = Json::object();
  for (const std::string& name : list.list_keys) {
    const Json* value = item.find(name);
    if (value && !value->is_null()) {
      key.set(name, *value);
    } else if (const SchemaField* field = list.element->field(name); field && !field->default_value.is_null()) {
      key.set(name, field->default_value);
    }
  }
  return "k:" + key.sorted().dump();
}

const Schema& child_schema(const Schema& schema, std::string_view field) {
  if (schema.kind == Schema::Kind::kMap) return *schema.element;
  const SchemaField* row = schema.field(field);
  return row ? *row->schema : any_schema();
}

FieldSet owned_by_apply(const Schema& schema, const Json& object) {
  count_work(1);
  FieldSet set;
  switch (shape_of(schema, object)) {
    case Shape::kLeaf: set.member = true; break;
    case Shape::kObject:
      for (const Json::Member& member : object.members())
        put(set, "f:" + std::string(member.name()), owned_by_apply(child_schema(schema, member.name()), member.value));
      break;
    case Shape::kKeyedList:
    case Shape::kSetList:
      for (const Json& item : object.items()) {
        FieldSet child;
        if (shape_of(schema, object) == Shape::kKeyedList) child = owned_by_apply(*schema.element, item);
        child.member = true;
        set.children.insert_or_assign(list_element(schema, item), std::move(child));
      }
      break;
  }
  return set;
}

namespace {

// Every path of a value that is new: leaves, and the containers themselves.
FieldSet all_of(const Schema& schema, const Json& value, bool with_self) {
  count_work(1);
  FieldSet set;
  const Shape shape = shape_of(schema, value);
  if (shape == Shape::kLeaf) {
    set.member = true;
    return set;
  }
  set.member = with_self;
  if (shape == Shape::kObject) {
    for (const Json::Member& member : value.members()) {
      const SchemaField* row = schema.kind == Schema::Kind::kObject ? schema.field(member.name()) : nullptr;
      put(set, "f:" + std::string(member.name()),
          all_of(child_schema(schema, member.name()), member.value, !(row && row->required)));
    }
  } else {
    for (const Json& item : value.items()) {
      FieldSet child = shape == Shape::kKeyedList ? all_of(*schema.element, item, true) : FieldSet{true, {}};
      set.children.insert_or_assign(list_element(schema, item), std::move(child));
    }
  }
  return set;
}

void compare_into(const Schema& schema, const Json& before, const Json& after, int depth, Comparison& out);

void compare_children(const Schema& schema, const std::string& element, const Schema& child, const Json* before,
                      const Json* after, int depth, Comparison& out) {
  if (before && after) {
    if (*before == *after) return;
    Comparison inner;
    compare_into(child, *before, *after, depth + 1, inner);
    put(out.changed, element, std::move(inner.changed));
    put(out.removed, element, std::move(inner.removed));
    return;
  }
  const SchemaField* row = schema.kind == Schema::Kind::kObject && element.starts_with("f:")
                               ? schema.field(std::string_view(element).substr(2))
                               : nullptr;
  const bool with_self = (depth > 0 || child.kind != Schema::Kind::kObject) && !(row && row->required);
  if (after) put(out.changed, element, all_of(child, *after, with_self));
  if (before) put(out.removed, element, all_of(child, *before, true));
}

void compare_into(const Schema& schema, const Json& before, const Json& after, int depth, Comparison& out) {
  const Shape old_shape = shape_of(schema, before);
  const Shape new_shape = shape_of(schema, after);
  if (new_shape == Shape::kLeaf || old_shape == Shape::kLeaf) {
    out.changed = all_of(schema, after, true);
    if (old_shape != Shape::kLeaf) out.removed = subtract(all_of(schema, before, false), out.changed);
    return;
  }
  if (new_shape == Shape::kObject) {
    for (const Json::Member& member : after.members())
      compare_children(schema, "f:" + std::string(member.name()), child_schema(schema, member.name()),
                       before.find(member.name()), &member.value, depth, out);
    for (const Json::Member& member : before.members())
      if (!after.has(member.name()))
        compare_children(schema, "f:" + std::string(member.name()), child_schema(schema, member.name()), &member.value,
                         nullptr, depth, out);
    return;
  }
  std::map<std::string, const Json*> old_items;
  for (const Json& item : before.items()) old_items.emplace(list_element(schema, item), &item);
  std::map<std::string, const Json*> new_items;
  for (const Json& item : after.items()) new_items.emplace(list_element(schema, item), &item);
  for (const auto& [element, item] : new_items) {
    const auto old_item = old_items.find(element);
    compare_children(schema, element, *schema.element, old_item == old_items.end() ? nullptr : old_item->second, item,
                     depth, out);
  }
  for (const auto& [element, item] : old_items)
    if (!new_items.contains(element)) compare_children(schema, element, *schema.element, item, nullptr, depth, out);
}

}  // namespace

Comparison compare(const Schema& schema, const Json& before, const Json& after) {
  Comparison out;
  // A new object is compared with one whose top-level parts are there and empty, so these are not owned themselves. The
  // parts of a stranger's kind, whose schema has no name, are owned like all others.
  const bool owned = schema.name.empty();
  Json base = before;
  if (before.is_null()) {
    base = Json::object();
    if (owned) base.set("\x01", Json());
    for (const Json::Member& member : after.members())
      if (!owned && child_schema(schema, member.name()).kind == Schema::Kind::kObject)
        base.set(member.name(), Json::object({{"\x01", Json()}}));
  }
  compare_into(schema, base, after, owned ? 1 : 0, out);
  if (before.is_null()) out.removed = FieldSet();
  return out;
}

void strip_server_fields(FieldSet& set) {
  set.children.erase("f:apiVersion");
  set.children.erase("f:kind");
  const auto meta = set.children.find("f:metadata");
  if (meta == set.children.end()) return;
  meta->second.member = false;
  for (const char* name :
       {"f:name", "f:namespace", "f:creationTimestamp", "f:selfLink", "f:uid", "f:clusterName", "f:generation",
        "f:managedFields", "f:resourceVersion", "f:deletionTimestamp", "f:deletionGracePeriodSeconds"})
    meta->second.children.erase(name);
  if (meta->second.empty()) set.children.erase(meta);
}

}  // namespace api

// Sets of field paths, the content of FieldsV1: a tree of path elements "f:name", "k:{...}", "v:...".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/schema/schema.h"

namespace api {

struct FieldSet {
  bool member = false;  // the path that ends here is in the set
  std::map<std::string, FieldSet, std::less<>> children;

  bool empty() const { return !member && children.empty(); }
  bool operator==(const FieldSet&) const = default;
};

FieldSet field_set_from(const Json& fields_v1);
Json to_fields_v1(const FieldSet& set);

void add(FieldSet& set, const FieldSet& other);  // the union, in place
FieldSet intersect(const FieldSet& a, const FieldSet& b);
FieldSet subtract(const FieldSet& a, const FieldSet& b);
// One element of a path as text: ".spec", "[name=\"a\"]", "[=1]".
std::string element_path(std::string_view element);
// Member paths as text, the first `most`: ".spec.containers[name=\"a\"].image".
std::vector<std::string> paths_of(const FieldSet& set, std::size_t most);

// Walking objects along a schema. How a value is divided into owned fields:
enum class Shape : std::uint8_t { kLeaf, kObject, kKeyedList, kSetList };
Shape shape_of(const Schema& schema, const Json& value);
// The element of one list item: "k:{\"name\":\"a\"}" or "v:...".
std::string list_element(const Schema& list, const Json& item);
const Schema& child_schema(const Schema& schema, std::string_view field);  // of an object or map

// The leaves of an applied configuration (and the items of keyed lists).
FieldSet owned_by_apply(const Schema& schema, const Json& object);

struct Comparison {
  FieldSet changed;  // added or modified, with new containers
  FieldSet removed;
};
Comparison compare(const Schema& schema, const Json& before, const Json& after);

// Takes out what the server itself owns: names, uid, versions, times, managedFields.
void strip_server_fields(FieldSet& set);

}  // namespace api

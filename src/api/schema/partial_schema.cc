// Copies of schemas, each once.
#include "api/schema/partial_schema.h"

#include <algorithm>
#include <map>

namespace api {
namespace {

class Copies {
 public:
  // The copy is known before what is below it is copied, so schemas that hold themselves are not a trouble.
  const Schema& of(const Schema& schema) {
    if (const auto found = copies_.find(&schema); found != copies_.end()) return *found->second;
    // Walks know other objects' metadata by its name; nothing of it is required.
    if (schema.name.ends_with(".ObjectMeta")) return schema;
    auto* copy = new Schema(schema);  // lives as long as the program, like what refers to it
    copies_[&schema] = copy;
    if (!copy->name.empty()) copy->name += "Patch";
    for (SchemaField& field : copy->fields) {
      field.default_value = {};
      field.required = false;
      field.schema = &of(*field.schema);
    }
    if (copy->element != nullptr) copy->element = &of(*copy->element);
    if (schema.list_type == Schema::ListType::kMap) keep_keys(schema);
    return *copy;
  }

 private:
  // An item of a keyed list is none without its keys.
  void keep_keys(const Schema& list) {
    Schema& item = *copies_.at(list.element);
    for (SchemaField& field : item.fields) {
      const SchemaField& original = *list.element->field(field.name);
      if (std::find(list.list_keys.begin(), list.list_keys.end(), field.name) == list.list_keys.end()) continue;
      field.required = original.required;
      field.default_value = original.default_value;
    }
  }

  std::map<const Schema*, Schema*> copies_;
};

}  // namespace

const Schema& partial_schema(const Schema& schema) {
  static Copies& copies = *new Copies();
  return copies.of(schema);
}

}  // namespace api

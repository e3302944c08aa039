// Copies of schemas, each once.
#include "api/schema/without_defaults.h"

#include <map>

namespace api {
namespace {

using Copies = std::map<const Schema*, Schema*>;

// The copy is known before what is below it is copied, so schemas that hold themselves are no trouble.
const Schema& copy_of(const Schema& schema, Copies& copies) {
  // The few defaults of Kubernetes' own types (a port's protocol) complete items that the patch itself brings.
  if (schema.name.starts_with("io.k8s.")) return schema;
  if (const auto found = copies.find(&schema); found != copies.end()) return *found->second;
  auto* copy = new Schema(schema);  // lives as long as the program, like what refers to it
  if (!copy->name.empty()) copy->name += "Patch";
  copies[&schema] = copy;
  for (SchemaField& field : copy->fields) {
    field.default_value = {};
    field.schema = &copy_of(*field.schema, copies);
  }
  if (copy->element != nullptr) copy->element = &copy_of(*copy->element, copies);
  return *copy;
}

}  // namespace

const Schema& without_defaults(const Schema& schema) {
  static Copies& copies = *new Copies();
  return copy_of(schema, copies);
}

}  // namespace api

// Validation rules as JSON Schema keywords.
#include "api/schema/schema_json.h"

namespace api {

Json string_list(const std::vector<std::string>& values) {
  Json list = Json::array();
  for (const std::string& value : values) list.push_back(value);
  return list;
}

void add_validation(const Schema& schema, Json& out) {
  if (!schema.enumeration.empty()) out.set("enum", string_list(schema.enumeration));
  if (schema.length_max) out.set("maxLength", *schema.length_max);
  if (schema.length_min) out.set("minLength", *schema.length_min);
  if (schema.maximum) out.set("maximum", *schema.maximum);
  if (schema.minimum) out.set("minimum", *schema.minimum);
  if (!schema.pattern.empty()) out.set("pattern", schema.pattern);
}

}  // namespace api

// -o json|yaml.
#include "cli/output.h"

#include "api/json/yaml.h"
#include "api/kinds.h"
#include "base/check.h"

namespace cli {

using api::Json;

namespace {

std::string written(const Json& json, std::string_view format) {
  return format == "json" ? json.pretty() + "\n" : api::to_yaml(json);
}

// Items of lists may come without their kind.
Json shown(Json object, const api::ResourceId& resource) {
  const api::KindInfo* kind = api::find_kind(resource);
  CHECK(kind != nullptr);
  object.set("apiVersion", resource.api_version());
  object.set("kind", kind->kind);
  if (object["metadata"].has("managedFields")) {
    Json metadata = object["metadata"];
    metadata.erase("managedFields");
    object.set("metadata", std::move(metadata));
  }
  return object.sorted();
}

}  // namespace

Flag table_or_output_flag() {
  Flag flag = output_flag();
  flag.help = "json, yaml, or the table of a terminal also into a pipe";
  flag.choices = "json|yaml|table";
  return flag;
}

Flag output_flag() {
  return {.name = "output",
          .letter = 'o',
          .help = "print the objects as json or yaml instead of a table",
          .choices = "json|yaml",
          .is_extra = true};
}

std::string object_text(const Json& object, const api::ResourceId& resource, std::string_view format) {
  return written(shown(object, resource), format);
}

std::optional<std::string> as_object(const Values& values, const Json& object, const api::ResourceId& resource) {
  if (const std::string& format = values.text("output"); format.empty() || format == "table") return std::nullopt;
  return object_text(object, resource, values.text("output"));
}

std::optional<std::string> as_list(const Values& values, const std::vector<Json>& objects,
                                   const api::ResourceId& resource) {
  if (const std::string& format = values.text("output"); format.empty() || format == "table") return std::nullopt;
  Json items = Json::array();
  for (const Json& object : objects) items.push_back(shown(object, resource));
  return written(Json::object({{"apiVersion", "v1"}, {"items", std::move(items)}, {"kind", "List"}}),
                 values.text("output"));
}

}  // namespace cli

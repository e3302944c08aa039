// Types as the SDK writes them; what has no use here is passed over.
#include "pipelines/rest/v1beta1/references.h"

#include "pipelines/rest/objects.h"

namespace pipelines::rest::v1beta1 {

using api::Json;

namespace {

void take(References& references, std::string_view type, std::string id) {
  if (type == "NAMESPACE") references.ns = std::move(id);
  if (type == "EXPERIMENT") references.experiment = std::move(id);
  if (type == "PIPELINE_VERSION") references.version = std::move(id);
}

}  // namespace

References references_in(const Json& body) {
  References references;
  for (const Json& one : member(body, "resource_references").items())
    take(references, one["key"]["type"].as_string(), one["key"]["id"].str());
  return references;
}

References references_in_query(const Call& call) {
  References references;
  take(references, call.query("resource_reference_key.type"), call.query("resource_reference_key.id"));
  return references;
}

std::string namespace_of(const References& references, const Call& call) {
  return references.ns.empty() ? call.ns() : references.ns;
}

Json reference(std::string_view type, std::string_view id, std::string_view relationship, std::string_view name) {
  Json out = Json::object({{"key", Json::object({{"type", type}, {"id", id}})}, {"relationship", relationship}});
  set_text(out, "name", name);
  return out;
}

}  // namespace pipelines::rest::v1beta1

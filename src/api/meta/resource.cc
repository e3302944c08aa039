// Paths and metadata readers.
#include "api/meta/resource.h"

#include "base/percent.h"

namespace api {

std::string resource_path(const ResourceId& id, std::string_view ns, std::string_view name,
                          std::string_view subresource) {
  std::string path = id.group.empty() ? "/api/" : "/apis/" + id.group + "/";
  path += id.version;
  if (!ns.empty()) path.append("/namespaces/").append(base::percent_encode_segment(ns));
  path.append("/").append(id.plural);
  if (!name.empty()) path.append("/").append(base::percent_encode_segment(name));
  if (!subresource.empty()) path.append("/").append(subresource);
  return path;
}

std::string_view name_of(const Json& object) { return object["metadata"]["name"].as_string(); }
std::string_view namespace_of(const Json& object) { return object["metadata"]["namespace"].as_string(); }
std::string_view uid_of(const Json& object) { return object["metadata"]["uid"].as_string(); }
std::string_view resource_version_of(const Json& object) { return object["metadata"]["resourceVersion"].as_string(); }
std::string_view kind_of(const Json& object) { return object["kind"].as_string(); }

std::string key_of(const Json& object) {
  const std::string_view ns = namespace_of(object);
  std::string key(ns);
  if (!ns.empty()) key += '/';
  key += name_of(object);
  return key;
}

std::string_view label_of(const Json& object, std::string_view key) {
  return object["metadata"]["labels"][key].as_string();
}
std::string_view annotation_of(const Json& object, std::string_view key) {
  return object["metadata"]["annotations"][key].as_string();
}

bool is_deleting(const Json& object) { return !object["metadata"]["deletionTimestamp"].is_null(); }

const Json& controller_of(const Json& object) {
  static const Json none;
  for (const Json& reference : object["metadata"]["ownerReferences"].items())
    if (reference["controller"].as_bool()) return reference;
  return none;
}

Json controller_reference(const Json& owner) {
  return Json::object({{"apiVersion", owner["apiVersion"]},
                       {"blockOwnerDeletion", true},
                       {"controller", true},
                       {"kind", owner["kind"]},
                       {"name", owner["metadata"]["name"]},
                       {"uid", owner["metadata"]["uid"]}});
}

}  // namespace api

// One rule for two kinds.
#include "apiserver/kinds/storage/storage_protection_hook.h"

#include <algorithm>

namespace apiserver {

using api::Json;

namespace {

api::AdmissionHook hook_for(const api::ResourceId& resource, const char* kind, const char* finalizer) {
  const auto review = [finalizer](const api::AdmissionRequest& request, const api::ObjectReader&) {
    api::AdmissionAnswer answer;
    const Json& given = request.object["metadata"]["finalizers"];
    if (std::ranges::any_of(given.items(), [finalizer](const Json& one) { return one.as_string() == finalizer; }))
      return answer;
    Json all = given.is_array() ? given : Json::array();
    all.push_back(finalizer);
    answer.object = request.object;
    answer.object->edit("metadata").set("finalizers", std::move(all));
    return answer;
  };
  return {.path = {},
          .mutating = true,
          .resource = resource,
          .kind = kind,
          .operations = {api::Operation::kCreate},
          .review = review};
}

}  // namespace

std::vector<api::AdmissionHook> storage_protection_hooks() {
  return {hook_for(api::resources::kPersistentVolumeClaims, "PersistentVolumeClaim", "kubernetes.io/pvc-protection"),
          hook_for(api::resources::kPersistentVolumes, "PersistentVolume", "kubernetes.io/pv-protection")};
}

}  // namespace apiserver

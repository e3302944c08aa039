// Which class is the default, where there are several; and which lets its claims grow.
#include "apiserver/kinds/storage/storage_class_hook.h"

#include <optional>
#include <string>
#include <vector>

#include "api/schema/quantity.h"
#include "api/storage_resources.h"
#include "apiserver/kinds/newest_default.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

const api::ResourceId kStorageClasses{"storage.k8s.io", "v1", "storageclasses"};
// Claims named their class so once, and may still.
constexpr std::string_view kClassAnnotation = "volume.beta.kubernetes.io/storage-class";

api::AdmissionAnswer review(const api::AdmissionRequest& request, const api::ObjectReader& objects) {
  api::AdmissionAnswer answer;
  const Json& claim = request.object;
  // An empty name means none, and is kept.
  if (!claim["spec"].is_object() || !claim["spec"]["storageClassName"].is_null() ||
      claim["metadata"]["annotations"].has(kClassAnnotation))
    return answer;
  const std::string name = newest_default(objects, kStorageClasses, api::kDefaultClassMarks);
  if (name.empty()) return answer;
  answer.object = claim;
  answer.object->edit("spec").set("storageClassName", name);
  return answer;
}

api::Quantity size_of(const Json& claim) {
  return api::Quantity::from_json(claim["spec"]["resources"]["requests"]["storage"]).value_or(api::Quantity());
}

api::AdmissionAnswer review_growth(const api::AdmissionRequest& request, const api::ObjectReader& objects) {
  const Json& claim = request.old_object;
  if (!(size_of(claim) < size_of(request.object))) return {};
  const auto refused = [&](std::string_view why) {
    api::AdmissionAnswer answer;
    answer.allowed = false;
    answer.message = base::format("persistentvolumeclaims \"{}\" is forbidden: {}", request.name, why);
    return answer;
  };
  if (claim["status"]["phase"].as_string() != "Bound")
    return refused("Only bound persistent volume claims can be expanded");
  const std::string_view name = claim["spec"]["storageClassName"].as_string();
  const auto storage_class = name.empty() ? std::nullopt : objects.find(kStorageClasses, {}, name);
  if (storage_class && (*storage_class)["allowVolumeExpansion"].as_bool()) return {};
  return refused(
      "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support "
      "resize");
}

}  // namespace

api::AdmissionHook claim_growth_hook() {
  return {.path = {},
          .mutating = false,
          .resource = api::resources::kPersistentVolumeClaims,
          .kind = "PersistentVolumeClaim",
          .operations = {api::Operation::kUpdate},
          .review = review_growth};
}

api::AdmissionHook storage_class_hook() {
  return {.path = {},
          .mutating = true,
          .resource = api::resources::kPersistentVolumeClaims,
          .kind = "PersistentVolumeClaim",
          .operations = {api::Operation::kCreate},
          .review = review};
}

}  // namespace apiserver

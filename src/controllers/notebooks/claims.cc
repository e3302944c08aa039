// Pods by the claims that their volumes name.
#include "controllers/notebooks/claims.h"

#include "api/meta/resource.h"
#include "base/format.h"

namespace controllers::notebooks {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr const char* kByClaim = "claim";

}  // namespace

IndexBy pods_by_claim() {
  return {resources::kPods, kByClaim, [](const Json& pod) {
            Keys keys;
            for (const Json& volume : pod["spec"]["volumes"].items()) {
              const std::string_view claim = volume["persistentVolumeClaim"]["claimName"].as_string();
              if (!claim.empty()) keys.push_back(base::format("{}/{}", api::namespace_of(pod), claim));
            }
            return keys;
          }};
}

std::string node_with_claim(const View& view, std::string_view ns, std::string_view claim, std::string_view label,
                            std::string_view value) {
  for (const Json* pod : view.by_index(resources::kPods, kByClaim, base::format("{}/{}", ns, claim)))
    if ((*pod)["status"]["phase"].as_string() == "Running" && api::label_of(*pod, label) != value)
      return (*pod)["spec"]["nodeName"].str();
  return {};
}

bool is_for_one_node(const View& view, std::string_view ns, std::string_view claim) {
  const Json* found = view.find(resources::kPersistentVolumeClaims, base::format("{}/{}", ns, claim));
  if (found == nullptr) return false;
  const Json& modes =
      (*found)["status"]["accessModes"].empty() ? (*found)["spec"]["accessModes"] : (*found)["status"]["accessModes"];
  return modes[std::size_t{0}].as_string() == "ReadWriteOnce";
}

Json affinity_to(const std::string& node) {
  const Json rule =
      Json::object({{"key", "kubernetes.io/hostname"}, {"operator", "In"}, {"values", Json::array({Json(node)})}});
  const Json request =
      Json::object({{"weight", 100}, {"preference", Json::object({{"matchExpressions", Json::array({rule})}})}});
  return Json::object(
      {{"nodeAffinity", Json::object({{"preferredDuringSchedulingIgnoredDuringExecution", Json::array({request})}})}});
}

}  // namespace controllers::notebooks

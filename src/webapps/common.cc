// Answers of all applications: namespaces, classes of storage, PodDefaults.
#include "api/kubeflow/v1alpha1/poddefault.h"
#include "webapps/apps.h"
#include "webapps/objects.h"

namespace webapps {

using api::Json;

namespace {

base::Result<Json> names_of(Facts& facts, const api::ResourceId& resource) {
  TRY(const auto objects, list(facts, resource, {}));
  Json names = Json::array();
  for (const Json& object : objects) names.push_back(api::name_of(object));
  return names;
}

base::Result<Reply> info(const Call&, Facts&) { return answer("info", Json::object()); }

base::Result<Reply> namespaces(const Call&, Facts& facts) {
  TRY(Json names, names_of(facts, api::resources::kNamespaces));
  return answer("namespaces", std::move(names));
}

base::Result<Reply> storage_classes(const Call&, Facts& facts) {
  TRY(Json names, names_of(facts, api::resources::kStorageClasses));
  return answer("storageClasses", std::move(names));
}

base::Result<Reply> default_storage_class(const Call&, Facts& facts) {
  TRY(const auto classes, list(facts, api::resources::kStorageClasses, {}));
  for (const Json& one : classes)
    for (const std::string_view key :
         {"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"})
      if (one["metadata"]["annotations"][key].as_string() == "true")
        return answer("defaultStorageClass", api::name_of(one));
  return answer("defaultStorageClass", "");
}

// Forms offer each by one label: the first that its selector wants.
base::Result<Reply> pod_defaults(const Call& call, Facts& facts) {
  TRY(const auto objects, list(facts, api::resources::kPodDefaults, call.names[0]));
  Json rows = Json::array();
  for (Json row : objects) {
    const auto labels = row["spec"]["selector"]["matchLabels"].members();
    if (labels.empty()) continue;
    row.set("label", labels[0].key);
    const Json& described = row["spec"]["desc"];
    row.set("desc", described.is_string() ? described : Json(api::name_of(row)));
    rows.push_back(std::move(row));
  }
  return answer("poddefaults", std::move(rows));
}

}  // namespace

const Route kInfo{"GET", "info", info};
const Route kNamespaces{"GET", "api/namespaces", namespaces};
const Route kStorageClasses{"GET", "api/storageclasses", storage_classes};
const Route kDefaultStorageClass{"GET", "api/storageclasses/default", default_storage_class};
const Route kPodDefaults{"GET", "api/namespaces/{}/poddefaults", pod_defaults};

}  // namespace webapps

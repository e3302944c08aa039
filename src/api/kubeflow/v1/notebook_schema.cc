// A pod's specification as a Notebook has it: Kubernetes' own, with containers that have images.
#include "api/kubeflow/v1/notebook.h"
#include "base/check.h"

namespace api {

namespace {

// A copy of `schema` whose field `name` has another schema, or is required. Never destroyed, as all schemas.
const Schema& with_field(const Schema& schema, std::string_view name, const Schema* other) {
  auto& copy = *new Schema(schema);
  bool found = false;
  for (SchemaField& field : copy.fields) {
    if (field.name != name) continue;
    field.required = true;
    if (other != nullptr) field.schema = other;
    found = true;
  }
  CHECK(found);
  return copy;
}

const Schema& make_pod_schema() {
  const Schema& pod = core_schema("core.v1.PodSpec");
  auto& containers = *new Schema(*pod.field("containers")->schema);
  containers.element = &with_field(*containers.element, "image", nullptr);
  containers.items_min = 1;
  return with_field(pod, "containers", &containers);
}

}  // namespace

const Schema& notebook_pod_schema() {
  static const Schema& made = make_pod_schema();
  return made;
}

}  // namespace api

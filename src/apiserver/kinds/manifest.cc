// An object from a manifest as an API server fills it in.
#include "apiserver/kinds/manifest.h"

#include <utility>
#include <vector>

#include "apiserver/kinds/pods/limit_ranges.h"
#include "apiserver/kinds/pods/pod_priority.h"
#include "apiserver/kinds/pods/runtime_class_hook.h"
#include "apiserver/kinds/strategy.h"

namespace apiserver {

using api::Json;

namespace {

base::Status add_runtime_class(const api::ObjectReader& objects, Json& pod) {
  static const api::AdmissionHook kHook = runtime_class_hook();
  api::AdmissionAnswer answer = kHook.review({.operation = api::Operation::kCreate,
                                              .resource = api::resources::kPods,
                                              .kind = "Pod",
                                              .subresource = {},
                                              .ns = std::string(api::namespace_of(pod)),
                                              .name = std::string(api::name_of(pod)),
                                              .object = pod},
                                             objects);
  if (!answer.allowed) return base::make_error(base::Code::kForbidden, std::move(answer.message));
  if (answer.object) pod = *std::move(answer.object);
  return {};
}

}  // namespace

base::Status complete_manifest(const api::ObjectReader& objects, const api::KindInfo& kind, Json& object) {
  if (kind.custom) return {};
  apply_core_defaults(kind, object);
  if (kind.resource != api::resources::kPods || !object["spec"].is_object()) return {};
  if (api::resource_version_of(object).empty()) {
    const std::vector<Json> limits = limit_ranges_of(objects, std::string(api::namespace_of(object)));
    if (!limits.empty()) apply_limit_ranges(limits, object);
  }
  if (!object["spec"]["runtimeClassName"].as_string().empty()) TRY_VOID(add_runtime_class(objects, object));
  if (object["spec"]["priority"].is_null()) TRY_VOID(set_pod_priority(objects, object));
  return {};
}

}  // namespace apiserver

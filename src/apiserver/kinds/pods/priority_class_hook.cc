// Looking for the other default.
#include "apiserver/kinds/pods/priority_class_hook.h"

#include <string>

#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

api::AdmissionAnswer review_default(const api::AdmissionRequest& request, const api::ObjectReader& objects) {
  static const api::TextField kGlobalDefault{api::resources::kPriorityClasses, {"globalDefault"}};
  if (!request.object["globalDefault"].as_bool()) return {};
  for (const Json& other : objects.list_by(kGlobalDefault, "true", false)) {
    if (api::name_of(other) == api::name_of(request.object)) continue;
    api::AdmissionAnswer answer;
    answer.allowed = false;
    answer.message =
        base::format("PriorityClass {} is already marked as default. Only one default can exist", api::name_of(other));
    return answer;
  }
  return {};
}

}  // namespace

api::AdmissionHook priority_class_hook() {
  return {.path = {},
          .mutating = false,
          .resource = api::resources::kPriorityClasses,
          .kind = "PriorityClass",
          .operations = {api::Operation::kCreate, api::Operation::kUpdate},
          .review = review_default};
}

}  // namespace apiserver

// An older annotation counts as a name.
#include "apiserver/kinds/services/ingress_class_hook.h"

#include <array>
#include <string_view>

#include "apiserver/kinds/newest_default.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

const api::ResourceId kClasses{"networking.k8s.io", "v1", "ingressclasses"};
constexpr std::array<std::string_view, 1> kMarks = {"ingressclass.kubernetes.io/is-default-class"};
constexpr std::string_view kOlderField = "kubernetes.io/ingress.class";

api::AdmissionAnswer review(const api::AdmissionRequest& request, const api::ObjectReader& objects) {
  api::AdmissionAnswer answer;
  const Json& ingress = request.object;
  if (const Json& given = ingress["spec"]["ingressClassName"]; given.is_string() && !given.as_string().empty()) {
    // The Ingress would be served by nobody, and nothing else says so.
    if (!objects.find(kClasses, "", given.as_string()))
      answer.warnings.push_back(base::format(
          "spec.ingressClassName: there is no IngressClass {:?}, so that nobody serves the Ingress; `kubectl "
          "get ingressclass` lists those that are there",
          given.as_string()));
    return answer;
  }
  if (!ingress["spec"].is_object() || !ingress["spec"]["ingressClassName"].is_null() ||
      ingress["metadata"]["annotations"].has(kOlderField))
    return answer;
  const std::string name = newest_default(objects, kClasses, kMarks);
  if (name.empty()) return answer;
  answer.object = ingress;
  answer.object->edit("spec").set("ingressClassName", name);
  return answer;
}

}  // namespace

api::AdmissionHook ingress_class_hook() {
  return {.path = {},
          .mutating = true,
          .resource = {"networking.k8s.io", "v1", "ingresses"},
          .kind = "Ingress",
          .operations = {api::Operation::kCreate},
          .review = review};
}

}  // namespace apiserver

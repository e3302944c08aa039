// The field, the older annotation, and the default.
#include "node/ingress/classes.h"

#include <algorithm>

namespace node::ingress {

using api::Json;

namespace {

constexpr const char* kClass = "volcano";
constexpr const char* kDefaultMark = "ingressclass.kubernetes.io/is-default-class";
constexpr std::string_view kOlderField = "kubernetes.io/ingress.class";

bool is_of_us(const Json& one) { return one["spec"]["controller"].as_string() == kController; }

}  // namespace

bool is_ours(const Json& ingress, const Classes& classes) {
  std::string name = ingress["spec"]["ingressClassName"].str();
  if (name.empty()) name = ingress["metadata"]["annotations"][kOlderField].str();
  if (!name.empty()) {
    const auto found = classes.find(name);
    return found != classes.end() && is_of_us(found->second);
  }
  return std::ranges::any_of(classes, [](const auto& one) {
    return is_of_us(one.second) && one.second["metadata"]["annotations"][kDefaultMark].as_string() == "true";
  });
}

Json own_class() {
  return Json::object(
      {{"apiVersion", "networking.k8s.io/v1"},
       {"kind", "IngressClass"},
       {"metadata",
        Json::object({{"name", kClass}, {"annotations", Json::object({{std::string(kDefaultMark), "true"}})}})},
       {"spec", Json::object({{"controller", std::string(kController)}})}});
}

}  // namespace node::ingress

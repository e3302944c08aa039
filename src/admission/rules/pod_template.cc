// Whether the API server would accept pods of a template (webhooks.md 5.3).
#include "admission/rules/rules.h"
#include "api/pods/pod_spec.h"
#include "api/schema/field_errors.h"
#include "base/format.h"

namespace admission {

std::vector<std::string> check_pod_template(const Json& pod_template, const std::string& path, bool pod_level) {
  api::FieldErrors metadata;
  api::check_labels(pod_template["metadata"]["labels"], path + ".labels", metadata);
  api::check_annotations(pod_template["metadata"]["annotations"], path + ".annotations", metadata);
  std::vector<std::string> texts = metadata.take_texts();
  for (const base::Cause& cause : api::check_pod_spec(
           pod_template["spec"], path + ".spec", {.of = api::PodSpecOf::kTemplate, .pod_level_resources = pod_level}))
    texts.push_back(base::format("{}: {}", cause.field, cause.message));
  return texts;
}

}  // namespace admission

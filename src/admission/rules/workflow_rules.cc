// Workflows of Argo: a field outside of the part that is run here is refused, and so is a name that leads nowhere.
#include "admission/rules/rules.h"
#include "api/schema/field_errors.h"
#include "base/format.h"
#include "pipelines/argo/name_check.h"
#include "pipelines/argo/workflow_check.h"

namespace admission {

AdmissionAnswer check_workflow(const AdmissionRequest& request) {
  // A status that is written, or a finalizer that goes, leaves the specification as it is.
  if (request.operation == api::Operation::kUpdate && request.object["spec"] == request.old_object["spec"]) return {};
  api::FieldErrors errors;
  pipelines::argo::check_workflow(request.object["spec"], errors);
  pipelines::argo::check_values(request.object["spec"], errors);
  if (errors.empty()) return {};
  const std::vector<std::string> texts = errors.take_texts();
  std::string all = texts.front();
  for (std::size_t i = 1; i < texts.size() && i < 5; ++i) all += "; " + texts[i];
  if (texts.size() > 5) all += base::format("; and {} more", texts.size() - 5);
  return refuse(std::move(all));
}

}  // namespace admission

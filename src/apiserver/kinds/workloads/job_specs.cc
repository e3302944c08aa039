// The rules of a Job's specification.
#include "apiserver/kinds/workloads/job_specs.h"

#include "api/schema/path_rules.h"
#include "apiserver/kinds/workloads/job_rules.h"
#include "apiserver/kinds/workloads/pod_templates.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

void check_job_spec(const Json& spec, const std::string& path, bool host_sysctls, api::FieldErrors& errors) {
  check_not_negative(spec, path,
                     {"parallelism", "completions", "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished",
                      "backoffLimitPerIndex", "maxFailedIndexes"},
                     errors);
  const std::string_view mode = spec["completionMode"].as_string("NonIndexed");
  if (mode != "NonIndexed" && mode != "Indexed")
    errors.unsupported(path + ".completionMode", spec["completionMode"], R"("Indexed", "NonIndexed")");
  if (mode == "Indexed" && spec["completions"].is_null())
    errors.required(path + ".completions", "when completion mode is Indexed");
  if (mode == "Indexed" && spec["parallelism"].as_int() > 100'000)
    errors.invalid(path + ".parallelism", spec["parallelism"],
                   "must be less than or equal to 100000 when completion mode is Indexed");
  const Json& policy = spec["template"]["spec"]["restartPolicy"];
  if (policy.as_string() == "Always")
    errors.required(path + ".template.spec.restartPolicy", R"(valid values: "OnFailure", "Never")");
  if (spec["podFailurePolicy"].is_object()) {
    check_failure_policy(spec, path, errors);
  }
  check_job_scheduling(spec, path, errors);
  check_pod_template(spec["template"], path + ".template", host_sysctls, errors);
  if (const std::string_view policy = spec["podReplacementPolicy"].as_string();
      !policy.empty() && policy != "Failed" &&
      (policy != "TerminatingOrFailed" || spec["podFailurePolicy"].is_object()))
    errors.unsupported(path + ".podReplacementPolicy", spec["podReplacementPolicy"],
                       spec["podFailurePolicy"].is_object() ? R"("Failed")" : R"("Failed", "TerminatingOrFailed")");
  constexpr std::size_t kManagerMax = 63;
  if (const Json& manager = spec["managedBy"]; manager.is_string()) {
    errors.invalid(path + ".managedBy", manager, api::check_domain_prefixed_path(manager.as_string()));
    if (manager.as_string().size() > kManagerMax) errors.too_long(path + ".managedBy", kManagerMax);
  }
  check_job_indexes(spec, path, errors);
}

}  // namespace apiserver

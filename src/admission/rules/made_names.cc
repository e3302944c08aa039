// Names of what an object makes: would the server take the largest of them?
//
// COMPAT(made-names): what a Job makes later is judged when the Job comes, since a pod that no server takes would be
// asked for in vain.
#include <algorithm>
#include <cstdint>

#include "admission/rules/names.h"
#include "admission/rules/rules.h"
#include "api/meta/resource.h"
#include "base/format.h"

namespace admission {

namespace {

std::string refusal(std::string_view what, std::string_view name, const std::vector<std::string>& problems) {
  return problems.empty() ? std::string()
                          : base::format(" create {} with name {} validate failed {};", what, name, go_list(problems));
}

// Pods with a stable name are hosts of it, so theirs are labels.
std::vector<std::string> problems_of_pod(const std::string& name, bool is_host) {
  if (is_host) return check_dns_label(name);
  std::vector<std::string> problems = check_qualified_name(name);  // it is the value of labels as well
  return problems.empty() ? check_dns_subdomain(name) : problems;
}

}  // namespace

std::string check_made_names(const Json& job) {
  const std::string name(api::name_of(job));
  const Json& spec = job["spec"];
  const bool has_service = spec["plugins"].has("svc");
  std::string text;
  for (const Json& task : spec["tasks"].items()) {
    const std::int64_t last = std::max<std::int64_t>(task["replicas"].as_int(), 1) - 1;
    const std::string pod = base::format("{}-{}-{}", name, task["name"].as_string(), last);
    const bool has_hostname = !is_unset_text(task["template"]["spec"]["hostname"]);
    text = refusal("pod", pod, problems_of_pod(pod, has_service && !has_hostname));
    if (!text.empty()) return text;
  }
  if (has_service) text += refusal("service", name, check_dns_label(name));
  if (spec["plugins"].has("ray")) {
    const std::string head = base::format("{}-head-svc", name);
    text += refusal("service", head, check_dns_label(head));
  }
  if (const auto problems = check_label_value(spec["queue"].as_string()); !problems.empty())
    text += base::format(" pods get the queue's name {} as a label, which is not a value of one: {};",
                         spec["queue"].as_string(), go_list(problems));
  return text;
}

std::string check_job_template(const std::string& job_name, const Json& ns, const Json& given, const std::string& path,
                               const ObjectReader& objects, const Options& options) {
  Json job = Json::object({{"metadata", Json::object({{"name", job_name}, {"namespace", ns}})}, {"spec", given}});
  if (!job["spec"].is_object()) job.set("spec", Json::object());
  default_job_spec(job.edit("spec"), options.scheduler_names.empty() ? "volcano" : options.scheduler_names.front());
  std::string text;
  if (const std::string problem = check_job_itself(job, options); !problem.empty())
    text = base::format("{}: {}", path, problem);
  if (const std::string problem = check_queue_of_template(job["spec"], objects); !problem.empty())
    text += base::format("{}{}.queue: {}", text.empty() ? "" : " ", path, problem);
  return text;
}

AdmissionAnswer check_jobtemplate(const AdmissionRequest& request, const ObjectReader& objects,
                                  const Options& options) {
  const Json& spec = request.object["spec"];
  // Templates that were stored before a rule was there can still lose their finalizers, or get a label.
  if (request.operation == api::Operation::kUpdate && spec == request.old_object["spec"]) return {};
  std::string text =
      check_job_template(request.name, request.object["metadata"]["namespace"], spec, "spec", objects, options);
  return text.empty() ? AdmissionAnswer{} : refuse(std::move(text));
}

}  // namespace admission

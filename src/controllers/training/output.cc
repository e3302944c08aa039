// Writes and events that several phases of a look have in common.
#include "controllers/training/output.h"

#include "api/meta/resource.h"
#include "base/format.h"

namespace controllers::training {

using api::Json;
namespace resources = api::resources;

Output::Output(const Json& job, std::set<std::string> reported) : job_(job), reported_(std::move(reported)) {
  plan_.set_subject(job);
}

void Output::event(std::string_view type, std::string_view reason, std::string text) {
  plan_.event(job_, type, reason, std::move(text));
}

void Output::report_once(const Message& message) {
  if (reported_.is_new(base::format("{} {} {}", message.reason, message.about, message.text)))
    plan_.event(job_, message.type, message.reason, message.text);
}

void Output::report_once(const Messages& messages) {
  for (const Message& one : messages) report_once(one);
}

void Output::remove_pod(const Json& pod) {
  if (api::is_deleting(pod)) return;
  removed_pods_.emplace_back(api::uid_of(pod));
  Action& action = plan_.remove(resources::kPods, pod);
  action.success_reason = "SuccessfulDeletePod";
  action.success_text = "Deleted pod: {}";
  action.success_name = api::name_of(pod);
  action.failure_reason = "FailedDeletePod";
  action.failure_text = "Error deleting: {}";
  count("deleted_pods_total");
}

void Output::remove_service(const Json& service) {
  if (api::is_deleting(service)) return;
  Action& action = plan_.remove(resources::kServices, service);
  action.success_reason = "SuccessfulDeleteService";
  action.success_text = "Deleted service: {}";
  action.success_name = api::name_of(service);
  action.failure_reason = "FailedDeleteService";
  action.failure_text = "Error deleting: {}";
}

}  // namespace controllers::training

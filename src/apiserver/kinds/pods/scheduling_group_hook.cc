// COMPAT(gangs-of-the-default-scheduler): pods of a group are placed together by the scheduler `volcano`.
#include "apiserver/kinds/pods/scheduling_group_hook.h"

#include "api/meta/resource.h"

namespace apiserver {
namespace {

api::AdmissionAnswer review(const api::AdmissionRequest& request, const api::ObjectReader&) {
  api::AdmissionAnswer answer;
  const api::Json& spec = request.object["spec"];
  const std::string_view scheduler = spec["schedulerName"].as_string("default-scheduler");
  if (spec["schedulingGroup"]["podGroupName"].as_string().empty() || scheduler != "default-scheduler") return answer;
  answer.object = request.object;
  answer.object->edit("spec").set("schedulerName", "volcano");
  return answer;
}

}  // namespace

api::AdmissionHook scheduling_group_hook() {
  return {.path = {},
          .mutating = true,
          .resource = api::resources::kPods,
          .kind = "Pod",
          .operations = {api::Operation::kCreate},
          .review = review};
}

}  // namespace apiserver

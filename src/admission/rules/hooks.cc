// The table of admission paths.
#include "admission/rules/hooks.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "admission/rules/pod_defaults.h"
#include "admission/rules/queue_access.h"
#include "admission/rules/rules.h"
#include "api/argo/v1alpha1/workflow.h"
#include "api/kubeflow/v1/notebook.h"
#include "api/kubeflow/v1/run_policy.h"
#include "api/meta/resource.h"
#include "base/format.h"

namespace admission {

AdmissionAnswer refuse(std::string message) {
  AdmissionAnswer answer;
  answer.allowed = false;
  answer.code = base::Code::kBadRequest;
  answer.message = std::move(message);
  return answer;
}

AdmissionAnswer changed(Json object) {
  AdmissionAnswer answer;
  answer.object = std::move(object);
  return answer;
}

std::string_view word(api::Operation operation) {
  switch (operation) {
    case api::Operation::kCreate: return "CREATE";
    case api::Operation::kUpdate: return "UPDATE";
    case api::Operation::kDelete: return "DELETE";
    case api::Operation::kConnect: return "CONNECT";
  }
  return "";
}

bool is_unset_text(const Json& value) { return value.is_null() || (value.is_string() && value.as_string().empty()); }

bool is_unset_number(const Json& value) { return value.is_null() || (value.is_number() && value.as_double() == 0); }

std::string queue_not_found(std::string_view name) {
  return base::format("queue.scheduling.volcano.sh \"{}\" not found", name);
}

bool has_both_tiers(const Json& topology) {
  return topology["highestTierAllowed"].is_number() && !topology["highestTierName"].as_string().empty();
}

namespace {

using Review = std::function<AdmissionAnswer(const AdmissionRequest&, const ObjectReader&)>;

std::string go_resource(const api::ResourceId& id) {
  return base::format("{{{} {} {}}}", id.group, id.version, id.plural);
}

// A request for another resource is a mistake of whoever registered the path. `validates`: the queue that the object
// names must be for its author, too.
Review only_for(api::ResourceId resource, bool validates, Review review) {
  return [resource = std::move(resource), validates, review = std::move(review)](const AdmissionRequest& request,
                                                                                 const ObjectReader& objects) {
    if (request.resource != resource) return refuse("expect resource to be " + go_resource(resource));
    AdmissionAnswer answer = review(request, objects);
    if (!validates || !answer.allowed) return answer;
    if (std::string why = check_queue_access(request, objects); !why.empty()) return refuse(std::move(why));
    return answer;
  };
}

}  // namespace

std::string_view webhook_name(std::string_view path) {
  struct Row {
    std::string_view path;
    std::string_view name;
  };
  constexpr Row kRows[] = {
      {"/jobs/mutate", "mutatejob.volcano.sh"},
      {"/jobs/validate", "validatejob.volcano.sh"},
      {"/queues/mutate", "mutatequeue.volcano.sh"},
      {"/queues/validate", "validatequeue.volcano.sh"},
      {"/podgroups/mutate", "mutatepodgroup.volcano.sh"},
      {"/podgroups/validate", "validatepodgroup.volcano.sh"},
      {"/apply-poddefault", "admission-webhook-deployment.kubeflow.org"},
      {"/pods/mutate", "mutatepod.volcano.sh"},
      {"/pods/validate", "validatepod.volcano.sh"},
      {"/hypernodes/validate", "validatehypernodes.volcano.sh"},
      {"/cronjobs/validate", "validatecronjob.volcano.sh"},
      {"/jobflows/validate", "validatejobflow.volcano.sh"},
      {"/jobtemplates/validate", "validatejobtemplate.volcano.sh"},
      {"/validate-kubeflow-org-v1-notebook", "validator.notebook.kubeflow.org"},
      {"/validate-argoproj-io-v1alpha1-workflow", "validator.workflow.argoproj.io"},
      {"/validate-kubeflow-org-v1-pytorchjob", "validator.pytorchjob.training-operator.kubeflow.org"},
      {"/validate-kubeflow-org-v1-tfjob", "validator.tfjob.training-operator.kubeflow.org"},
      {"/validate-kubeflow-org-v1-mpijob", "validator.mpijob.training-operator.kubeflow.org"},
      {"/validate-kubeflow-org-v2beta1-mpijob", "validator.mpijob.v2beta1.training-operator.kubeflow.org"},
      {"/validate-kubeflow-org-v1-xgboostjob", "validator.xgboostjob.training-operator.kubeflow.org"},
      {"/validate-kubeflow-org-v1-paddlejob", "validator.paddlejob.training-operator.kubeflow.org"},
      {"/validate-kubeflow-org-v1-jaxjob", "validator.jaxjob.training-operator.kubeflow.org"}};
  for (const Row& row : kRows)
    if (row.path == path) return row.name;
  return {};
}

namespace r = api::resources;
using enum api::Operation;

std::vector<api::AdmissionHook> hooks(const Options& given) {
  const auto options = std::make_shared<const Options>(given);
  std::vector<api::AdmissionHook> all;
  const auto add = [&](const std::string& path, bool mutating, const api::ResourceId& resource, std::string kind,
                       std::vector<api::Operation> operations, Review review) {
    const auto& enabled = options->enabled;
    if (enabled && std::find(enabled->begin(), enabled->end(), path) == enabled->end()) return;
    all.push_back({.path = path,
                   .name = std::string(webhook_name(path)),
                   .mutating = mutating,
                   .resource = resource,
                   .kind = std::move(kind),
                   .operations = std::move(operations),
                   .review = only_for(resource, !mutating, std::move(review))});
  };
  const auto add_in_process = [&](auto&&... row) {
    if (options->in_process) add(std::forward<decltype(row)>(row)...);
  };
  add("/jobs/mutate", true, r::kJobs, "Job", {kCreate},
      [options](const AdmissionRequest& q, const ObjectReader&) { return default_job(q, *options); });
  // COMPAT(apply-again). A webhook is registered for creation only; its path keeps refusing an update.
  add_in_process("/jobs/mutate", true, r::kJobs, "Job", std::vector{kUpdate},
                 [](const AdmissionRequest& q, const ObjectReader&) { return default_job_again(q); });
  add("/jobs/validate", false, r::kJobs, "Job", {kCreate, kUpdate},
      [options](const AdmissionRequest& q, const ObjectReader& o) { return check_job(q, o, *options); });
  add("/queues/mutate", true, r::kQueues, "Queue", {kCreate},
      [](const AdmissionRequest& q, const ObjectReader&) { return default_queue(q); });
  add("/queues/validate", false, r::kQueues, "Queue", {kCreate, kUpdate, kDelete},
      [options](const AdmissionRequest& q, const ObjectReader& o) { return check_queue(q, o, *options); });
  add("/podgroups/mutate", true, r::kPodGroups, "PodGroup", {kCreate},
      [](const AdmissionRequest& q, const ObjectReader& o) { return default_podgroup(q, o); });
  // COMPAT(queue-access), DIFFERS(groups-that-move). The chart asks about an update where it names another queue.
  add("/podgroups/validate", false, r::kPodGroups, "PodGroup", {kCreate, kUpdate},
      [](const AdmissionRequest& q, const ObjectReader& o) { return check_podgroup(q, o); });
  add("/apply-poddefault", true, r::kPods, "Pod", {kCreate},
      [](const AdmissionRequest& q, const ObjectReader& o) { return apply_pod_defaults(q, o); });
  add("/pods/mutate", true, r::kPods, "Pod", {kCreate},
      [options](const AdmissionRequest& q, const ObjectReader&) { return default_pod(q, *options); });
  // COMPAT(queue-access). As PodGroups: the queue alone of a pod that is there.
  add("/pods/validate", false, r::kPods, "Pod", {kCreate, kUpdate},
      [options](const AdmissionRequest& q, const ObjectReader&) { return check_pod(q, *options); });
  add("/hypernodes/validate", false, r::kHyperNodes, "HyperNode", {kCreate, kUpdate},
      [](const AdmissionRequest& q, const ObjectReader&) { return check_hypernode(q); });
  add("/cronjobs/validate", false, r::kCronJobs, "CronJob", {kCreate, kUpdate},
      [options](const AdmissionRequest& q, const ObjectReader& o) { return check_cronjob(q, o, *options); });
  add("/jobflows/validate", false, r::kJobFlows, "JobFlow", {kCreate, kUpdate},
      [](const AdmissionRequest& q, const ObjectReader& o) { return check_jobflow(q, o); });
  add("/jobtemplates/validate", false, r::kJobTemplates, "JobTemplate", {kCreate, kUpdate},
      [options](const AdmissionRequest& q, const ObjectReader& o) { return check_jobtemplate(q, o, *options); });
  // COMPAT(queue-access). The queue of its pod alone is asked about.
  add_in_process("/validate-kubeflow-org-v1-notebook", false, r::kNotebooks, "Notebook", std::vector{kCreate, kUpdate},
                 [](const AdmissionRequest&, const ObjectReader&) { return AdmissionAnswer{}; });
  add_in_process("/validate-argoproj-io-v1alpha1-workflow", false, r::kWorkflows, "Workflow",
                 std::vector{kCreate, kUpdate},
                 [](const AdmissionRequest& q, const ObjectReader&) { return check_workflow(q); });
  add("/validate-kubeflow-org-v2beta1-mpijob", false, r::kSshMpiJobs, "MPIJob", {kCreate, kUpdate},
      [options](const AdmissionRequest& q, const ObjectReader&) { return check_mpi_job(q, options->mpi_version); });
  for (const auto& [resource, kind] : {std::pair{r::kPyTorchJobs, "PyTorchJob"}, std::pair{r::kTfJobs, "TFJob"},
                                       std::pair{r::kMpiJobs, "MPIJob"}, std::pair{r::kXgboostJobs, "XGBoostJob"},
                                       std::pair{r::kPaddleJobs, "PaddleJob"}, std::pair{r::kJaxJobs, "JAXJob"}}) {
    const std::string singular = resource.plural.substr(0, resource.plural.size() - 1);
    add("/validate-kubeflow-org-v1-" + singular, false, resource, kind, {kCreate, kUpdate},
        [options](const AdmissionRequest& q, const ObjectReader&) {
          return q.kind == "MPIJob" ? check_mpi_job(q, options->mpi_version) : check_training_job(q);
        });
  }
  return all;
}

}  // namespace admission

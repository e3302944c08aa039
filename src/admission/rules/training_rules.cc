// Training jobs (training.md 3): what is refused before the operator sees it. All problems are named.
#include <algorithm>
#include <cctype>
#include <span>

#include "admission/rules/names.h"
#include "admission/rules/rules.h"
#include "api/schema/field_errors.h"
#include "api/schema/names.h"
#include "base/format.h"
#include "base/letters.h"

namespace admission {

namespace {

using api::at;
using api::FieldErrors;
using api::in;
using api::under;

constexpr std::string_view kManagers[] = {"kubeflow.org/training-operator", "kueue.x-k8s.io/multikueue"};
constexpr std::string_view kMpiManagers[] = {"kubeflow.org/mpi-operator", "kueue.x-k8s.io/multikueue"};  // of v2beta1
constexpr std::string_view kMasterAndWorker[] = {"Master", "Worker"};
constexpr std::string_view kWorkerOnly[] = {"Worker"};

struct TrainingRules {
  std::string_view kind;
  std::string_view replica_map;
  std::string_view container;
  std::span<const std::string_view> types;  // empty: any
  bool one_master = false;
  bool quotes_container = false;
};

const TrainingRules* rules_for(std::string_view kind) {
  static const TrainingRules kRules[] = {
      {.kind = "PyTorchJob",
       .replica_map = "pytorchReplicaSpecs",
       .container = "pytorch",
       .types = kMasterAndWorker,
       .one_master = true},
      {.kind = "TFJob", .replica_map = "tfReplicaSpecs", .container = "tensorflow", .types = {}},
      {.kind = "XGBoostJob",
       .replica_map = "xgbReplicaSpecs",
       .container = "xgboost",
       .types = kMasterAndWorker,
       .one_master = true},
      {.kind = "PaddleJob",
       .replica_map = "paddleReplicaSpecs",
       .container = "paddle",
       .types = kMasterAndWorker,
       .quotes_container = true},
      {.kind = "JAXJob", .replica_map = "jaxReplicaSpecs", .container = "jax", .types = kWorkerOnly}};
  for (const TrainingRules& one : kRules)
    if (one.kind == kind) return &one;
  return nullptr;
}

void check_manager(const Json& job, const Json& old_job, std::span<const std::string_view> known, FieldErrors& errors) {
  constexpr std::string_view kPath = "spec.runPolicy.managedBy";
  const Json& manager = job["spec"]["runPolicy"]["managedBy"];
  if (manager.is_string()) errors.one_of(std::string(kPath), manager.as_string(), known);
  // COMPAT(training-managed-by): for every kind.
  if (!old_job.is_null() && old_job["spec"]["runPolicy"]["managedBy"] != manager)
    errors.invalid(std::string(kPath), manager, "field is immutable");
}

void check_containers(const TrainingRules& rules, const Json& replica, const std::string& path, FieldErrors& errors) {
  const std::string below = path + ".template.spec.containers";
  const Json& containers = replica["template"]["spec"]["containers"];
  if (containers.empty()) return errors.required(below, "must be specified");
  bool found = false;
  for (std::size_t i = 0; i < containers.size(); ++i) {
    if (containers[i]["image"].as_string().empty()) errors.required(in(at(below, i), "image"), "must be required");
    found = found || containers[i]["name"].as_string() == rules.container;
  }
  if (found) return;
  const std::string name = rules.quotes_container ? quoted(rules.container) : std::string(rules.container);
  errors.required(below, base::format("must have at least one container with name {}", name));
}

void check_not_negative(const Json& replicas, const std::string& path, FieldErrors& errors) {
  if (replicas.is_number() && replicas.as_int() < 0)
    errors.invalid(path, replicas, "must be greater than or equal to 0");
}

// The rest is said by the controller: the operators of MPIJobs have no webhook.
void check_mpi_replicas(const Json& job, FieldErrors& errors) {
  constexpr std::string_view kRoot = "spec.mpiReplicaSpecs";
  const Json in_order = job["spec"]["mpiReplicaSpecs"].sorted();
  for (const Json::Member& member : in_order.members())
    check_not_negative(member.value["replicas"], in(under(std::string(kRoot), member.name()), "replicas"), errors);
}

void check_replicas(const TrainingRules& rules, const Json& job, FieldErrors& errors) {
  const std::string root = base::format("spec.{}", rules.replica_map);
  const Json& map = job["spec"][rules.replica_map];
  if (map.is_null()) return errors.required(root, "must be required");
  const Json in_order = map.sorted();
  for (const Json::Member& member : in_order.members()) {
    const std::string path = under(root, member.name());
    if (!rules.types.empty()) errors.one_of(path, member.name(), rules.types);
    const Json& replicas = member.value["replicas"];
    if (rules.one_master && member.name() == "Master" && replicas.as_int() != 1)
      errors.forbidden(in(path, "replicas"), "must be 1");
    else if (rules.kind == "PyTorchJob" && member.name() == "Worker" && replicas.is_number() && replicas.as_int() < 1)
      errors.forbidden(in(path, "replicas"), "must be at least 1");
    else
      check_not_negative(replicas, in(path, "replicas"), errors);
    check_containers(rules, member.value, path, errors);
  }
  if (rules.kind == "XGBoostJob" && !map.has("Master")) errors.required(under(root, "Master"), "must be present");
  if (rules.kind == "TFJob" && map.has("Chief") && map.has("Master"))
    errors.forbidden(root, "must not have more than 1 Chief or Master role");
}

void check_elastic(const Json& spec, AdmissionAnswer& answer, FieldErrors& errors) {
  const Json& policy = spec["elasticPolicy"];
  if (!policy.is_object()) return;
  if (!spec["pytorchReplicaSpecs"].has("Worker"))
    errors.required("spec.pytorchReplicaSpecs[Worker]", "must be configured if elastic policy is used");
  if (policy["nProcPerNode"].is_null()) return;
  answer.warnings.emplace_back("spec.elasticPolicy.nProcPerNode is deprecated, use spec.nprocPerNode instead");
  if (!spec["nprocPerNode"].is_null())
    errors.forbidden("spec.elasticPolicy.nProcPerNode", "must not be used with spec.nprocPerNode");
}

// COMPAT(training-queue): the CRD's rule of the queue, which holds for all kinds.
void check_queue_stays(const Json& job, const Json& old_job, FieldErrors& errors) {
  const Json& before = old_job["spec"]["runPolicy"]["schedulingPolicy"]["queue"];
  const Json& now = job["spec"]["runPolicy"]["schedulingPolicy"]["queue"];
  if (before.is_string() && now.is_string() && before != now)
    errors.invalid("spec.runPolicy.schedulingPolicy.queue", now, "spec.runPolicy.schedulingPolicy.queue is immutable");
}

// As the MPI operator's own rule, for all kinds: pods and services are named alike. COMPAT(made-names)
void check_pod_names(std::string_view name, const Json& replicas, bool have_services, FieldErrors& errors) {
  for (const Json::Member& member : replicas.members()) {
    const std::int64_t last = std::max<std::int64_t>(member.value["replicas"].as_int(1), 1) - 1;
    const std::string type = base::lower(member.name());
    const std::string pod =
        type == "launcher" ? base::format("{}-launcher", name) : base::format("{}-{}-{}", name, type, last);
    const std::vector<std::string> problems = have_services ? api::check_dns1035_label(pod) : api::check_dns_label(pod);
    if (problems.empty()) continue;
    errors.invalid("metadata.name", name,
                   base::format("will not able to create pod and service with invalid DNS label {}: {}", quoted(pod),
                                join(problems, ", ")));
    return;
  }
}

}  // namespace

// COMPAT(mpi-version)
AdmissionAnswer check_mpi_job(const AdmissionRequest& request, std::string_view version_run) {
  const std::string& version = request.resource.version;
  if (request.operation == api::Operation::kCreate && !version_run.empty() && version != version_run)
    return refuse(
        base::format("MPIJobs of kubeflow.org/{0} are not run here, those of kubeflow.org/{1} are; "
                     "start with --mpi-job-version={0} to have them run instead",
                     version, version_run));
  return check_training_job(request);
}

AdmissionAnswer check_training_job(const AdmissionRequest& request) {
  AdmissionAnswer answer;
  FieldErrors errors;
  const Json& job = request.object;
  if (const TrainingRules* rules = rules_for(request.kind)) {
    for (const std::string& problem : api::check_dns1035_label(request.name))
      errors.invalid("metadata.name", request.name, "should match: " + problem);
    check_manager(job, request.old_object, kManagers, errors);
    if (rules->kind == "PyTorchJob") check_elastic(job["spec"], answer, errors);
    check_replicas(*rules, job, errors);
    if (errors.empty()) check_pod_names(request.name, job["spec"][rules->replica_map], true, errors);
  } else if (request.kind == "MPIJob") {
    check_manager(job, request.old_object, request.resource.version == "v1" ? kManagers : kMpiManagers, errors);
    check_mpi_replicas(job, errors);
    check_pod_names(request.name, job["spec"]["mpiReplicaSpecs"], request.resource.version != "v1", errors);
  }
  check_queue_stays(job, request.old_object, errors);
  // Objects stored before a rule was there can still lose their finalizers, or get a label.
  const bool is_old = request.operation == api::Operation::kUpdate && job["spec"] == request.old_object["spec"];
  if (errors.empty() || is_old) return answer;
  const std::vector<std::string> texts = errors.take_texts();
  AdmissionAnswer refusal = refuse(texts.size() == 1 ? texts.front() : base::format("[{}]", join(texts, ", ")));
  refusal.warnings = std::move(answer.warnings);
  return refusal;
}

}  // namespace admission

// The rows of all kinds.
#include "api/kinds.h"

#include "api/argo/v1alpha1/workflow.h"
#include "api/batch/v1alpha1/cronjob.h"
#include "api/batch/v1alpha1/job.h"
#include "api/bus/v1alpha1/command.h"
#include "api/config/v1alpha1/colocation_configuration.h"
#include "api/flow/v1alpha1/jobflow.h"
#include "api/flow/v1alpha1/jobtemplate.h"
#include "api/kubeflow/v1/jaxjob.h"
#include "api/kubeflow/v1/mpijob.h"
#include "api/kubeflow/v1/notebook.h"
#include "api/kubeflow/v1/paddlejob.h"
#include "api/kubeflow/v1/profile.h"
#include "api/kubeflow/v1/pytorchjob.h"
#include "api/kubeflow/v1/tfjob.h"
#include "api/kubeflow/v1/xgboostjob.h"
#include "api/kubeflow/v1alpha1/poddefault.h"
#include "api/kubeflow/v1alpha1/pvcviewer.h"
#include "api/kubeflow/v1alpha1/tensorboard.h"
#include "api/kubeflow/v2beta1/mpijob.h"
#include "api/metrics/v1beta1/metrics.h"
#include "api/nodeinfo/v1alpha1/numatopology.h"
#include "api/pipelines/v2beta1/pipeline.h"
#include "api/pipelines/v2beta1/pipeline_run.h"
#include "api/pipelines/v2beta1/recurring_run.h"
#include "api/scheduling/v1beta1/podgroup.h"
#include "api/scheduling/v1beta1/queue.h"
#include "api/shard/v1alpha1/nodeshard.h"
#include "api/topology/v1alpha1/hypernode.h"
#include "base/check.h"

namespace api {
namespace {

enum Scope { kCluster, kNamespaced };

KindInfo core(std::string group, std::string version, std::string plural, std::string kind, Scope scope,
              std::string_view schema) {
  KindInfo info;
  info.resource = {std::move(group), std::move(version), std::move(plural)};
  info.kind = std::move(kind);
  for (const char c : info.kind) info.singular += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  info.namespaced = scope == kNamespaced;
  info.schema = &core_schema(schema);
  return info;
}

struct CoreRow {
  std::string_view group, version, plural, kind;
  Scope scope;
  std::string_view schema;
  std::vector<std::string> short_names = {};
  bool status = false;
  bool generation = false;
  std::vector<std::string> subresources = {};
  std::vector<std::string> categories = {};
  ScalePaths scale = {};
};

constexpr ScalePaths kWorkloadScale = {".spec.replicas", ".status.replicas", ".spec.selector"};

// clang-format off
std::vector<CoreRow> core_rows() {
  return {
      {"", "v1", "configmaps", "ConfigMap", kNamespaced, "core.v1.ConfigMap", {"cm"}},
      {"", "v1", "endpoints", "Endpoints", kNamespaced, "core.v1.Endpoints", {"ep"}},
      {"", "v1", "events", "Event", kNamespaced, "core.v1.Event", {"ev"}},
      {"", "v1", "limitranges", "LimitRange", kNamespaced, "core.v1.LimitRange", {"limits"}},
      {"", "v1", "namespaces", "Namespace", kCluster, "core.v1.Namespace", {"ns"}, true, false, {"finalize"}},
      {"", "v1", "nodes", "Node", kCluster, "core.v1.Node", {"no"}, true, false, {"proxy"}},
      {"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", kNamespaced, "core.v1.PersistentVolumeClaim", {"pvc"}, true},
      {"", "v1", "persistentvolumes", "PersistentVolume", kCluster, "core.v1.PersistentVolume", {"pv"}, true},
      {"", "v1", "pods", "Pod", kNamespaced, "core.v1.Pod", {"po"}, true, true, {"attach", "binding", "ephemeralcontainers", "eviction", "exec", "log", "portforward", "proxy", "resize"}, {"all"}},
      {"", "v1", "podtemplates", "PodTemplate", kNamespaced, "core.v1.PodTemplate", {}, false, true},
      {"", "v1", "replicationcontrollers", "ReplicationController", kNamespaced, "core.v1.ReplicationController", {"rc"}, true, true, {"scale"}, {"all"}, kWorkloadScale},
      {"", "v1", "resourcequotas", "ResourceQuota", kNamespaced, "core.v1.ResourceQuota", {"quota"}, true},
      {"", "v1", "secrets", "Secret", kNamespaced, "core.v1.Secret"},
      {"", "v1", "serviceaccounts", "ServiceAccount", kNamespaced, "core.v1.ServiceAccount", {"sa"}, false, false, {"token"}},
      {"", "v1", "services", "Service", kNamespaced, "core.v1.Service", {"svc"}, true, false, {"proxy"}, {"all"}},
      {"apps", "v1", "controllerrevisions", "ControllerRevision", kNamespaced, "apps.v1.ControllerRevision"},
      {"apps", "v1", "daemonsets", "DaemonSet", kNamespaced, "apps.v1.DaemonSet", {"ds"}, true, true, {}, {"all"}},
      {"apps", "v1", "deployments", "Deployment", kNamespaced, "apps.v1.Deployment", {"deploy"}, true, true, {"scale"}, {"all"}, kWorkloadScale},
      {"apps", "v1", "replicasets", "ReplicaSet", kNamespaced, "apps.v1.ReplicaSet", {"rs"}, true, true, {"scale"}, {"all"}, kWorkloadScale},
      {"apps", "v1", "statefulsets", "StatefulSet", kNamespaced, "apps.v1.StatefulSet", {"sts"}, true, true, {"scale"}, {"all"}, kWorkloadScale},
      {"autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", kNamespaced, "autoscaling.v2.HorizontalPodAutoscaler", {"hpa"}, true, false, {}, {"all"}},
      {"batch", "v1", "cronjobs", "CronJob", kNamespaced, "batch.v1.CronJob", {"cj"}, true, true, {}, {"all"}},
      {"batch", "v1", "jobs", "Job", kNamespaced, "batch.v1.Job", {}, true, true, {}, {"all"}},
      {"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", kCluster, "scheduling.v1.PriorityClass", {"pc"}, false, true},
      {"scheduling.k8s.io", "v1beta1", "podgroups", "PodGroup", kNamespaced, "scheduling.v1beta1.PodGroup", {}, true, true},
      {"scheduling.k8s.io", "v1beta1", "workloads", "Workload", kNamespaced, "scheduling.v1beta1.Workload", {}, false, true},
      {"storage.k8s.io", "v1", "storageclasses", "StorageClass", kCluster, "storage.v1.StorageClass", {"sc"}},
      {"storage.k8s.io", "v1", "csinodes", "CSINode", kCluster, "storage.v1.CSINode"},
      {"storage.k8s.io", "v1", "csidrivers", "CSIDriver", kCluster, "storage.v1.CSIDriver"},
      {"storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity", kNamespaced, "storage.v1.CSIStorageCapacity"},
      {"storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", kCluster, "storage.v1.VolumeAttachment", {}, true},
      {"storage.k8s.io", "v1", "volumeattributesclasses", "VolumeAttributesClass", kCluster, "storage.v1.VolumeAttributesClass", {"vac"}},
      {"resource.k8s.io", "v1", "deviceclasses", "DeviceClass", kCluster, "resource.v1.DeviceClass", {}, false, true},
      {"resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", kNamespaced, "resource.v1.ResourceClaim", {}, true},
      {"resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate", kNamespaced, "resource.v1.ResourceClaimTemplate"},
      {"resource.k8s.io", "v1", "resourceslices", "ResourceSlice", kCluster, "resource.v1.ResourceSlice", {}, false, true},
      {"certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", kCluster, "certificates.v1.CertificateSigningRequest", {"csr"}, true, false, {"approval"}},
      {"coordination.k8s.io", "v1", "leases", "Lease", kNamespaced, "coordination.v1.Lease"},
      {"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", kNamespaced, "discovery.v1.EndpointSlice", {}, false, true},
      {"networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", kNamespaced, "networking.v1.NetworkPolicy", {"netpol"}, false, true},
      {"networking.k8s.io", "v1", "ingresses", "Ingress", kNamespaced, "networking.v1.Ingress", {"ing"}, true, true},
      {"networking.k8s.io", "v1", "ingressclasses", "IngressClass", kCluster, "networking.v1.IngressClass", {}, false, true},
      {"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", kCluster, "node.v1.RuntimeClass"},
      {"flowcontrol.apiserver.k8s.io", "v1", "flowschemas", "FlowSchema", kCluster, "flowcontrol.v1.FlowSchema", {}, true, true},
      {"flowcontrol.apiserver.k8s.io", "v1", "prioritylevelconfigurations", "PriorityLevelConfiguration", kCluster, "flowcontrol.v1.PriorityLevelConfiguration", {}, true, true},
      {"admissionregistration.k8s.io", "v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", kCluster, "admissionregistration.v1.ValidatingAdmissionPolicy", {}, true, true, {}, {"api-extensions"}},
      {"admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", kCluster, "admissionregistration.v1.ValidatingAdmissionPolicyBinding", {}, false, true, {}, {"api-extensions"}},
      {"admissionregistration.k8s.io", "v1", "mutatingadmissionpolicies", "MutatingAdmissionPolicy", kCluster, "admissionregistration.v1.MutatingAdmissionPolicy", {}, false, true, {}, {"api-extensions"}},
      {"admissionregistration.k8s.io", "v1", "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding", kCluster, "admissionregistration.v1.MutatingAdmissionPolicyBinding", {}, false, true, {}, {"api-extensions"}},
      {"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", kCluster, "admissionregistration.v1.MutatingWebhookConfiguration", {}, false, true, {}, {"api-extensions"}},
      {"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", kCluster, "admissionregistration.v1.ValidatingWebhookConfiguration", {}, false, true, {}, {"api-extensions"}},
      {"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", kCluster, "apiextensions.v1.CustomResourceDefinition", {"crd", "crds"}, true, true, {}, {"api-extensions"}},
      {"apiregistration.k8s.io", "v1", "apiservices", "APIService", kCluster, "apiregistration.v1.APIService", {}, true, false, {}, {"api-extensions"}},
      {"rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", kCluster, "rbac.v1.ClusterRoleBinding"},
      {"rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", kCluster, "rbac.v1.ClusterRole"},
      {"rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", kNamespaced, "rbac.v1.RoleBinding"},
      {"rbac.authorization.k8s.io", "v1", "roles", "Role", kNamespaced, "rbac.v1.Role"},
      {"authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", kCluster, "authentication.v1.SelfSubjectReview"},
      {"authentication.k8s.io", "v1", "tokenreviews", "TokenReview", kCluster, "authentication.v1.TokenReview"},
      {"authorization.k8s.io", "v1", "localsubjectaccessreviews", "LocalSubjectAccessReview", kNamespaced, "authorization.v1.LocalSubjectAccessReview"},
      {"authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", kCluster, "authorization.v1.SelfSubjectAccessReview"},
      {"authorization.k8s.io", "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview", kCluster, "authorization.v1.SelfSubjectRulesReview"},
      {"authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", kCluster, "authorization.v1.SubjectAccessReview"},
      {"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", kNamespaced, "policy.v1.PodDisruptionBudget", {"pdb"}, true, true},
  };
}
// clang-format on

std::vector<KindInfo> core_kinds() {
  std::vector<KindInfo> kinds;
  for (const CoreRow& row : core_rows()) {
    KindInfo info = core(std::string(row.group), std::string(row.version), std::string(row.plural),
                         std::string(row.kind), row.scope, row.schema);
    info.short_names = row.short_names;
    info.status_subresource = row.status;
    info.has_generation = row.generation;
    info.subresources = row.subresources;
    info.categories = row.categories;
    info.scale = row.scale;
    kinds.push_back(std::move(info));
  }
  return kinds;
}

template <class T>
KindInfo custom(ResourceId resource, std::string kind, Scope scope, bool status, std::vector<std::string> short_names,
                std::vector<Column> columns) {
  KindInfo info;
  info.resource = std::move(resource);
  info.kind = std::move(kind);
  for (const char c : info.kind) info.singular += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  info.namespaced = scope == kNamespaced;
  info.custom = true;
  info.status_subresource = status;
  info.has_generation = true;
  info.short_names = std::move(short_names);
  info.schema = &schema_of<T>();
  info.columns = std::move(columns);
  return info;
}

// Kinds that are measured when somebody asks, and never stored.
template <class T>
KindInfo measured(std::string plural, std::string kind, Scope scope) {
  KindInfo info;
  info.resource = {"metrics.k8s.io", "v1beta1", std::move(plural)};
  info.kind = std::move(kind);
  info.namespaced = scope == kNamespaced;
  info.schema = &schema_of<T>();
  return info;
}

// Training jobs: their state is the last condition (training.md 1).
template <class T>
KindInfo training(const ResourceId& resource, std::string kind, ScalePaths scale = {}) {
  const Column state{"State", ".status.conditions[-1:].type"};
  const Column age{"Age", ".metadata.creationTimestamp", "date"};
  const bool age_first = kind == "MPIJob";
  KindInfo info = custom<T>(resource, std::move(kind), kNamespaced, true, {},
                            age_first ? std::vector{age, state} : std::vector{state, age});
  if (!scale.replicas.empty()) info.subresources = {"scale"};
  info.scale = scale;
  return info;
}

// Kinds of pipelines: State is the first column, after the name.
template <class T>
KindInfo pipelines(const ResourceId& resource, std::string kind, std::vector<std::string> short_names,
                   std::vector<Column> more = {}) {
  std::vector<Column> columns{{"State", ".status.state"}};
  columns.insert(columns.end(), more.begin(), more.end());
  columns.push_back({"Age", ".metadata.creationTimestamp", "date"});
  return custom<T>(resource, std::move(kind), kNamespaced, true, std::move(short_names), std::move(columns));
}

void add_pipeline_kinds(std::vector<KindInfo>& kinds) {
  kinds.push_back(custom<Pipeline>(resources::kPipelines, "Pipeline", kNamespaced, false, {}, {}));
  kinds.push_back(custom<PipelineVersion>(resources::kPipelineVersions, "PipelineVersion", kNamespaced, true, {}, {}));
  kinds.push_back(custom<Experiment>(resources::kPipelineExperiments, "Experiment", kNamespaced, true, {}, {}));
  kinds.push_back(pipelines<PipelineRun>(resources::kPipelineRuns, "PipelineRun", {},
                                         {{"Tasks", ".status.tasks.total", "integer"},
                                          {"Done", ".status.tasks.succeeded", "integer"},
                                          {"Failed", ".status.tasks.failed", "integer"}}));
  kinds.push_back(pipelines<PipelineTask>(
      resources::kPipelineTasks, "PipelineTask", {},
      {{"Run", ".spec.runName"}, {"Path", ".spec.path"}, {"Pod", ".status.podName", "string", 1}}));
  kinds.push_back(
      pipelines<RecurringRun>(resources::kRecurringRuns, "RecurringRun", {},
                              {{"Last", ".status.lastRunTime", "date"}, {"Runs", ".status.runs", "integer"}}));
}

std::vector<KindInfo> make_kinds() {
  std::vector<KindInfo> kinds = core_kinds();
  kinds.push_back(measured<NodeMetrics>("nodes", "NodeMetrics", kCluster));
  kinds.push_back(measured<PodMetrics>("pods", "PodMetrics", kNamespaced));
  kinds.push_back(custom<Job>(resources::kJobs, "Job", kNamespaced, true, {"vcjob", "vj"},
                              {{"STATUS", ".status.state.phase"},
                               {"minAvailable", ".status.minAvailable", "integer"},
                               {"RUNNINGS", ".status.running", "integer"},
                               {"AGE", ".metadata.creationTimestamp", "date"},
                               {"QUEUE", ".spec.queue", "string", 1}}));
  kinds.push_back(custom<CronJob>(resources::kCronJobs, "CronJob", kNamespaced, true, {"cronvcjob", "cronvj"}, {}));
  kinds.push_back(custom<Command>(resources::kCommands, "Command", kNamespaced, false, {}, {}));
  kinds.push_back(custom<PodGroup>(resources::kPodGroups, "PodGroup", kNamespaced, false, {"pg", "podgroup-v1beta1"},
                                   {{"STATUS", ".status.phase"},
                                    {"minMember", ".spec.minMember", "integer"},
                                    {"RUNNINGS", ".status.running", "integer"},
                                    {"AGE", ".metadata.creationTimestamp", "date"},
                                    {"QUEUE", ".spec.queue", "string", 1}}));
  kinds.push_back(custom<Numatopology>(resources::kNumatopologies, "Numatopology", kCluster, false, {"numatopo"}, {}));
  kinds.push_back(custom<Queue>(resources::kQueues, "Queue", kCluster, true, {"q", "queue-v1beta1"},
                                {{"PARENT", ".spec.parent"}, {"AGE", ".metadata.creationTimestamp", "date"}}));
  kinds.push_back(custom<HyperNode>(resources::kHyperNodes, "HyperNode", kCluster, true, {"hn"},
                                    {{"Tier", ".spec.tier", "integer"},
                                     {"TierName", ".spec.tierName"},
                                     {"NodeCount", ".status.nodeCount", "integer"},
                                     {"Age", ".metadata.creationTimestamp", "date"}}));
  kinds.push_back(custom<JobFlow>(resources::kJobFlows, "JobFlow", kNamespaced, true, {"jf"},
                                  {{"Status", ".status.state.phase"}, {"Age", ".metadata.creationTimestamp", "date"}}));
  kinds.push_back(custom<JobTemplate>(resources::kJobTemplates, "JobTemplate", kNamespaced, true, {"jt"}, {}));
  kinds.push_back(custom<NodeShard>(resources::kNodeShards, "NodeShard", kCluster, true, {"nsh"},
                                    {{"AGE", ".metadata.creationTimestamp", "date"}}));
  kinds.push_back(custom<ColocationConfiguration>(resources::kColocationConfigurations, "ColocationConfiguration",
                                                  kNamespaced, true, {}, {}));
  constexpr std::string_view kActive = ".status.replicaStatuses.Worker.active";
  constexpr std::string_view kSelector = ".status.replicaStatuses.Worker.selector";
  kinds.push_back(training<PyTorchJob>(resources::kPyTorchJobs, "PyTorchJob",
                                       {".spec.pytorchReplicaSpecs.Worker.replicas", kActive, kSelector}));
  kinds.push_back(training<TfJob>(resources::kTfJobs, "TFJob"));
  kinds.push_back(training<MpiJob>(resources::kMpiJobs, "MPIJob"));
  kinds.push_back(training<XgboostJob>(resources::kXgboostJobs, "XGBoostJob"));
  kinds.push_back(training<PaddleJob>(resources::kPaddleJobs, "PaddleJob",
                                      {".spec.paddleReplicaSpecs.Worker.replicas", kActive, kSelector}));
  kinds.push_back(
      training<JaxJob>(resources::kJaxJobs, "JAXJob", {".spec.jaxReplicaSpecs.Worker.replicas", kActive, kSelector}));
  kinds.push_back(training<SshMpiJob>(resources::kSshMpiJobs, "MPIJob"));
  kinds.push_back(custom<Notebook>(resources::kNotebooks, "Notebook", kNamespaced, true, {}, {}));
  kinds.push_back(custom<Tensorboard>(resources::kTensorboards, "Tensorboard", kNamespaced, true, {}, {}));
  kinds.push_back(custom<PvcViewer>(resources::kPvcViewers, "PVCViewer", kNamespaced, true, {}, {}));
  kinds.push_back(custom<PodDefault>(resources::kPodDefaults, "PodDefault", kNamespaced, false, {}, {}));
  kinds.push_back(custom<Profile>(resources::kProfiles, "Profile", kCluster, true, {}, {}));
  add_pipeline_kinds(kinds);
  kinds.push_back(custom<Workflow>(
      resources::kWorkflows, "Workflow", kNamespaced, false, {"wf"},
      {{"Status", ".status.phase"}, {"Age", ".metadata.creationTimestamp", "date"}, {"Message", ".status.message"}}));
  // A caller that asks while the program's constants are still made would get kinds without names.
  for (const KindInfo& kind : kinds) CHECK(!kind.resource.plural.empty());
  return kinds;
}

const std::vector<KindInfo>& kinds() {
  static const std::vector<KindInfo> all = make_kinds();
  return all;
}

}  // namespace

std::span<const KindInfo> all_kinds() { return kinds(); }

const KindInfo* find_kind(std::string_view group, std::string_view version, std::string_view plural) {
  for (const KindInfo& info : kinds())
    if (info.resource.plural == plural && info.resource.group == group && info.resource.version == version)
      return &info;
  return nullptr;
}

const KindInfo* find_kind(const ResourceId& id) { return find_kind(id.group, id.version, id.plural); }

const KindInfo* find_kind_named(std::string_view api_version, std::string_view kind) {
  for (const KindInfo& info : kinds())
    if (info.kind == kind && info.resource.api_version() == api_version) return &info;
  return nullptr;
}

std::string qualified_plural(const KindInfo& kind) {
  return kind.resource.group.empty() ? kind.resource.plural : kind.resource.plural + "." + kind.resource.group;
}

}  // namespace api

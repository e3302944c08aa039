// Tables of fields, and a walk along the schemas that they are checked against.
#include "node/agent/field_effects.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "api/schema/schema.h"
#include "base/format.h"
#include "base/split.h"
#include "node/policies/policy_book.h"

namespace node {

using api::Json;

const std::vector<FieldRow>& field_rows() {
  static const std::vector<FieldRow> rows = {
      {"core.v1.PodSpec",
       "activeDeadlineSeconds affinity automountServiceAccountToken containers dnsConfig dnsPolicy "
       "enableServiceLinks ephemeralContainers hostAliases hostIPC hostNetwork hostPID hostUsers "
       "hostname hostnameOverride imagePullSecrets initContainers nodeName nodeSelector os overhead "
       "preemptionPolicy priority priorityClassName readinessGates resourceClaims resources "
       "restartPolicy runtimeClassName schedulerName schedulingGates schedulingGroup securityContext serviceAccount "
       "serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain "
       "terminationGracePeriodSeconds tolerations topologySpreadConstraints volumes",
       FieldEffect::kActs},
      {"core.v1.Container",
       "args command env envFrom image imagePullPolicy lifecycle livenessProbe name ports "
       "readinessProbe resizePolicy resources restartPolicy restartPolicyRules securityContext "
       "startupProbe stdin stdinOnce terminationMessagePath terminationMessagePolicy tty "
       "volumeMounts workingDir",
       FieldEffect::kActs},
      {"core.v1.Container", "volumeDevices", FieldEffect::kRefused, "this node has no block volumes"},
      {"core.v1.EphemeralContainer",
       "args command env envFrom image imagePullPolicy lifecycle livenessProbe name ports "
       "readinessProbe resizePolicy resources restartPolicy restartPolicyRules securityContext "
       "startupProbe stdin stdinOnce terminationMessagePath terminationMessagePolicy tty "
       "volumeMounts workingDir targetContainerName",
       FieldEffect::kActs},
      {"core.v1.EphemeralContainer", "volumeDevices", FieldEffect::kRefused, "this node has no block volumes"},
      {"core.v1.ContainerPort", "containerPort hostIP hostPort name protocol", FieldEffect::kActs},
      {"core.v1.ContainerRestartRule", "action exitCodes", FieldEffect::kActs},
      {"core.v1.EnvVar", "name value valueFrom", FieldEffect::kActs},
      {"core.v1.EnvVarSource", "configMapKeyRef fieldRef resourceFieldRef secretKeyRef", FieldEffect::kActs},
      {"core.v1.EnvVarSource", "fileKeyRef", FieldEffect::kRefused,
       "this node takes no variables from files; the container waits"},
      {"core.v1.Lifecycle", "postStart preStop stopSignal", FieldEffect::kActs},
      {"core.v1.VolumeMount", "mountPath mountPropagation name readOnly recursiveReadOnly subPath subPathExpr",
       FieldEffect::kActs},
      {"core.v1.VolumeDevice", "devicePath name", FieldEffect::kRefused, "this node has no block volumes"},
      {"core.v1.Volume",
       "configMap downwardAPI emptyDir ephemeral hostPath name persistentVolumeClaim projected "
       "secret",
       FieldEffect::kActs},
      {"core.v1.Volume",
       "awsElasticBlockStore azureDisk azureFile cephfs cinder csi fc flexVolume flocker "
       "gcePersistentDisk gitRepo glusterfs image iscsi nfs photonPersistentDisk portworxVolume "
       "quobyte rbd scaleIO storageos vsphereVolume",
       FieldEffect::kRefused, "this node has no volumes of this kind; the pod waits"},
      {"core.v1.EmptyDirVolumeSource", "medium sizeLimit", FieldEffect::kActs},
      {"core.v1.HostPathVolumeSource", "path type", FieldEffect::kActs},
      {"core.v1.PersistentVolumeClaimVolumeSource", "claimName readOnly", FieldEffect::kActs},
      {"core.v1.EphemeralVolumeSource", "volumeClaimTemplate", FieldEffect::kActs},
      {"core.v1.PersistentVolumeClaimTemplate", "metadata spec", FieldEffect::kActs},
      {"core.v1.ConfigMapVolumeSource", "defaultMode items name optional", FieldEffect::kActs},
      {"core.v1.SecretVolumeSource", "defaultMode items optional secretName", FieldEffect::kActs},
      {"core.v1.DownwardAPIVolumeSource", "defaultMode items", FieldEffect::kActs},
      {"core.v1.ProjectedVolumeSource", "defaultMode sources", FieldEffect::kActs},
      {"core.v1.VolumeProjection", "configMap downwardAPI secret serviceAccountToken", FieldEffect::kActs},
      {"core.v1.VolumeProjection", "clusterTrustBundle podCertificate", FieldEffect::kRefused,
       "this node has no projections of this kind; the pod waits"},
      {"core.v1.PodSecurityContext",
       "appArmorProfile fsGroup fsGroupChangePolicy runAsGroup runAsNonRoot runAsUser seccompProfile "
       "supplementalGroups supplementalGroupsPolicy sysctls",
       FieldEffect::kActs},
      {"core.v1.PodSecurityContext", "seLinuxOptions windowsOptions", FieldEffect::kRefused,
       "this node refuses pods that set it"},
      {"core.v1.PodSecurityContext", "seLinuxChangePolicy", FieldEffect::kNoEffect,
       "there are no labels of SELinux on this node"},
      {"core.v1.SecurityContext",
       "allowPrivilegeEscalation appArmorProfile capabilities privileged procMount "
       "readOnlyRootFilesystem runAsGroup runAsNonRoot runAsUser seccompProfile",
       FieldEffect::kActs},
      {"core.v1.SecurityContext", "seLinuxOptions windowsOptions", FieldEffect::kRefused,
       "this node refuses pods that set it"},
      {"core.v1.PersistentVolumeClaimSpec", "accessModes resources selector storageClassName volumeMode volumeName",
       FieldEffect::kActs},
      {"core.v1.PersistentVolumeClaimSpec", "dataSource dataSourceRef", FieldEffect::kNoEffect,
       "volumes that are made on this machine begin empty"},
      {"core.v1.PersistentVolumeClaimSpec", "volumeAttributesClassName", FieldEffect::kNoEffect,
       "volumes of this machine have no attributes that could change"},
      // Below those.
      {"core.v1.Affinity", "nodeAffinity podAffinity podAntiAffinity", FieldEffect::kActs},
      {"core.v1.NodeAffinity",
       "preferredDuringSchedulingIgnoredDuringExecution requiredDuringSchedulingIgnoredDuringExecution",
       FieldEffect::kActs},
      {"core.v1.PreferredSchedulingTerm", "preference weight", FieldEffect::kActs},
      {"core.v1.NodeSelectorTerm", "matchExpressions matchFields", FieldEffect::kActs},
      {"core.v1.NodeSelectorRequirement", "key operator values", FieldEffect::kActs},
      {"core.v1.NodeSelector", "nodeSelectorTerms", FieldEffect::kActs},
      {"core.v1.PodAffinity",
       "preferredDuringSchedulingIgnoredDuringExecution requiredDuringSchedulingIgnoredDuringExecution",
       FieldEffect::kActs},
      {"core.v1.WeightedPodAffinityTerm", "podAffinityTerm weight", FieldEffect::kActs},
      {"core.v1.PodAffinityTerm",
       "labelSelector matchLabelKeys mismatchLabelKeys namespaceSelector namespaces topologyKey", FieldEffect::kActs},
      {"core.v1.PodAntiAffinity",
       "preferredDuringSchedulingIgnoredDuringExecution requiredDuringSchedulingIgnoredDuringExecution",
       FieldEffect::kActs},
      {"core.v1.ConfigMapKeySelector", "key name optional", FieldEffect::kActs},
      {"core.v1.ObjectFieldSelector", "apiVersion fieldPath", FieldEffect::kActs},
      {"core.v1.ResourceFieldSelector", "containerName divisor resource", FieldEffect::kActs},
      {"core.v1.SecretKeySelector", "key name optional", FieldEffect::kActs},
      {"core.v1.EnvFromSource", "configMapRef prefix secretRef", FieldEffect::kActs},
      {"core.v1.ConfigMapEnvSource", "name optional", FieldEffect::kActs},
      {"core.v1.SecretEnvSource", "name optional", FieldEffect::kActs},
      {"core.v1.LifecycleHandler", "exec httpGet sleep tcpSocket", FieldEffect::kActs},
      {"core.v1.ExecAction", "command", FieldEffect::kActs},
      {"core.v1.HTTPGetAction", "host httpHeaders path port scheme", FieldEffect::kActs},
      {"core.v1.HTTPHeader", "name value", FieldEffect::kActs},
      {"core.v1.SleepAction", "seconds", FieldEffect::kActs},
      {"core.v1.TCPSocketAction", "host port", FieldEffect::kActs},
      {"core.v1.Probe",
       "exec failureThreshold grpc httpGet initialDelaySeconds periodSeconds successThreshold tcpSocket "
       "terminationGracePeriodSeconds timeoutSeconds",
       FieldEffect::kActs},
      {"core.v1.GRPCAction", "port service", FieldEffect::kActs},
      {"core.v1.ContainerResizePolicy", "resourceName restartPolicy", FieldEffect::kActs},
      {"core.v1.ResourceRequirements", "claims limits requests", FieldEffect::kActs},
      {"core.v1.ResourceClaim", "name request", FieldEffect::kActs},
      {"core.v1.ContainerRestartRuleOnExitCodes", "operator values", FieldEffect::kActs},
      {"core.v1.AppArmorProfile", "localhostProfile type", FieldEffect::kActs},
      {"core.v1.Capabilities", "add drop", FieldEffect::kActs},
      {"core.v1.SeccompProfile", "localhostProfile type", FieldEffect::kActs},
      {"core.v1.PodDNSConfig", "nameservers options searches", FieldEffect::kActs},
      {"core.v1.PodDNSConfigOption", "name value", FieldEffect::kActs},
      {"core.v1.HostAlias", "hostnames ip", FieldEffect::kActs},
      {"core.v1.LocalObjectReference", "name", FieldEffect::kActs},
      {"core.v1.PodOS", "name", FieldEffect::kActs},
      {"core.v1.PodReadinessGate", "conditionType", FieldEffect::kActs},
      {"core.v1.PodResourceClaim", "name resourceClaimName resourceClaimTemplateName", FieldEffect::kActs},
      {"core.v1.PodSchedulingGate", "name", FieldEffect::kActs},
      {"core.v1.PodSchedulingGroup", "podGroupName", FieldEffect::kActs},
      {"core.v1.Sysctl", "name value", FieldEffect::kActs},
      {"core.v1.Toleration", "effect key operator tolerationSeconds value", FieldEffect::kActs},
      {"core.v1.TopologySpreadConstraint",
       "labelSelector matchLabelKeys maxSkew minDomains nodeAffinityPolicy nodeTaintsPolicy topologyKey "
       "whenUnsatisfiable",
       FieldEffect::kActs},
      {"core.v1.KeyToPath", "key mode path", FieldEffect::kActs},
      {"core.v1.DownwardAPIVolumeFile", "fieldRef mode path resourceFieldRef", FieldEffect::kActs},
      {"core.v1.VolumeResourceRequirements", "requests", FieldEffect::kActs},
      {"core.v1.ConfigMapProjection", "items name optional", FieldEffect::kActs},
      {"core.v1.DownwardAPIProjection", "items", FieldEffect::kActs},
      {"core.v1.SecretProjection", "items name optional", FieldEffect::kActs},
      {"core.v1.ServiceAccountTokenProjection", "audience expirationSeconds path", FieldEffect::kActs},
      {"core.v1.VolumeResourceRequirements", "limits", FieldEffect::kNoEffect,
       "a claim's request says how large its volume is"},
  };
  return rows;
}

namespace {

constexpr std::size_t kWarningsMax = 64;

const FieldRow* row_of(std::string_view type, std::string_view field) {
  for (const FieldRow& row : field_rows()) {
    if (row.type != type) continue;
    const std::vector<std::string_view> fields = base::split_words(row.fields, ' ');
    if (std::ranges::find(fields, field) != fields.end()) return &row;
  }
  return nullptr;
}

class Walk {
 public:
  void type(const api::Schema& schema, const Json& value, const std::string& path) {
    static constexpr std::string_view kPrefix = "io.k8s.api.";
    std::string_view name = schema.name;
    if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
    for (const Json::Member& member : value.members()) {
      const api::SchemaField* field = schema.field(member.name());
      const FieldRow* row = row_of(name, member.name());
      if (field == nullptr || row == nullptr || is_nothing(member.value)) continue;
      const std::string place = base::format("{}.{}", path, member.name());
      if (row->effect != FieldEffect::kActs)
        report(base::format("{}: {}{}", place, row->effect == FieldEffect::kNoEffect ? "has no effect here: " : "",
                            row->why));
      else
        below(*field->schema, member.value, place);
    }
  }
  std::vector<std::string> take() { return std::move(warnings_); }

 private:
  static bool is_nothing(const Json& value) {
    return value.is_null() || ((value.is_array() || value.is_object()) && value.empty());
  }
  void below(const api::Schema& schema, const Json& value, const std::string& path) {
    if (schema.kind == api::Schema::Kind::kObject) return type(schema, value, path);
    if (schema.kind != api::Schema::Kind::kList || schema.element->kind != api::Schema::Kind::kObject) return;
    std::size_t index = 0;
    for (const Json& item : value.items()) {
      if (warnings_.size() >= kWarningsMax) return;
      type(*schema.element, item, base::format("{}[{}]", path, index++));
    }
  }
  void report(std::string text) {
    if (warnings_.size() < kWarningsMax) warnings_.push_back(std::move(text));
  }

  std::vector<std::string> warnings_;
};

using Judge = std::function<std::vector<std::string>(const Json& object)>;

api::AdmissionHook hook(api::ResourceId resource, const char* kind, Judge judge) {
  return {.path = base::format("/{}/fields", resource.plural),
          .mutating = false,
          .resource = std::move(resource),
          .kind = kind,
          .operations = {api::Operation::kCreate},
          .review = [judge = std::move(judge)](const api::AdmissionRequest& request, const api::ObjectReader&) {
            api::AdmissionAnswer answer;
            // The maker of an object that has an owner is a program, which reads no warnings.
            if (request.object["metadata"]["ownerReferences"].empty()) answer.warnings = judge(request.object);
            return answer;
          }};
}

Judge of_pod_at(std::vector<std::string_view> way) {
  return [way = std::move(way)](const Json& object) {
    const Json* at = &object;
    std::string path;
    for (const std::string_view step : way) {
      at = &(*at)[step];
      path += path.empty() ? std::string(step) : base::format(".{}", step);
    }
    return field_warnings("core.v1.PodSpec", *at, path);
  };
}

std::vector<std::string> of_tasks(const Json& job) {
  std::vector<std::string> all;
  std::size_t index = 0;
  for (const Json& task : job["spec"]["tasks"].items()) {
    const std::string path = base::format("spec.tasks[{}].template.spec", index++);
    for (std::string& one : field_warnings("core.v1.PodSpec", task["template"]["spec"], path))
      if (all.size() < kWarningsMax) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

std::vector<std::string> field_warnings(std::string_view type, const Json& object, const std::string& path) {
  Walk walk;
  walk.type(api::core_schema(type), object, path);
  return walk.take();
}

std::vector<api::AdmissionHook> field_hooks(const std::string& no_policies) {
  std::vector<api::AdmissionHook> hooks;
  hooks.push_back(hook(api::resources::kPods, "Pod", of_pod_at({"spec"})));
  const Judge of_template = of_pod_at({"spec", "template", "spec"});
  for (const auto& [plural, kind] :
       std::initializer_list<std::pair<const char*, const char*>>{{"deployments", "Deployment"},
                                                                  {"statefulsets", "StatefulSet"},
                                                                  {"daemonsets", "DaemonSet"},
                                                                  {"replicasets", "ReplicaSet"}})
    hooks.push_back(hook({"apps", "v1", plural}, kind, of_template));
  hooks.push_back(hook({"batch", "v1", "jobs"}, "Job", of_template));
  hooks.push_back(
      hook({"batch", "v1", "cronjobs"}, "CronJob", of_pod_at({"spec", "jobTemplate", "spec", "template", "spec"})));
  hooks.push_back(hook({"batch.volcano.sh", "v1alpha1", "jobs"}, "Job", of_tasks));
  hooks.push_back(hook(api::resources::kPersistentVolumeClaims, "PersistentVolumeClaim", [](const Json& claim) {
    return field_warnings("core.v1.PersistentVolumeClaimSpec", claim["spec"], "spec");
  }));
  hooks.push_back(
      hook({"networking.k8s.io", "v1", "networkpolicies"}, "NetworkPolicy", [no_policies](const Json& policy) {
        return no_policies.empty() ? policy_warnings(policy)
                                   : std::vector<std::string>{"a NetworkPolicy has no effect here: " + no_policies};
      }));
  return hooks;
}

}  // namespace node

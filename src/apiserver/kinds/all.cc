// The list of rows, and the way from a kind to its own.
#include <map>

#include "apiserver/kinds/rows.h"

namespace apiserver {

using api::Json;

namespace {

const std::map<std::string_view, const KindRules*>& rows_by_kind() {
  static const std::map<std::string_view, const KindRules*> table = [] {
    std::map<std::string_view, const KindRules*> out;
    for (const KindRules* row : {&kApiService,
                                 &kCertificateSigningRequest,
                                 &kClusterRole,
                                 &kClusterRoleBinding,
                                 &kConfigMap,
                                 &kControllerRevision,
                                 &kCronJob,
                                 &kCsiDriver,
                                 &kCsiNode,
                                 &kCustomResourceDefinition,
                                 &kDaemonSet,
                                 &kDeployment,
                                 &kDeviceClass,
                                 &kEndpointSlice,
                                 &kEndpoints,
                                 &kEvent,
                                 &kFlowSchema,
                                 &kHorizontalPodAutoscaler,
                                 &kIngress,
                                 &kIngressClass,
                                 &kJob,
                                 &kLease,
                                 &kLimitRange,
                                 &kMutatingAdmissionPolicy,
                                 &kMutatingAdmissionPolicyBinding,
                                 &kMutatingWebhookConfiguration,
                                 &kNamespace,
                                 &kNativePodGroup,
                                 &kNativeWorkload,
                                 &kNetworkPolicy,
                                 &kNode,
                                 &kPersistentVolume,
                                 &kPersistentVolumeClaim,
                                 &kPod,
                                 &kPodDisruptionBudget,
                                 &kPodTemplate,
                                 &kPriorityClass,
                                 &kPriorityLevelConfiguration,
                                 &kReplicaSet,
                                 &kReplicationController,
                                 &kResourceClaim,
                                 &kResourceClaimTemplate,
                                 &kResourceQuota,
                                 &kResourceSlice,
                                 &kRole,
                                 &kRoleBinding,
                                 &kRuntimeClass,
                                 &kSecret,
                                 &kService,
                                 &kServiceAccount,
                                 &kStatefulSet,
                                 &kStorageClass,
                                 &kValidatingAdmissionPolicy,
                                 &kValidatingAdmissionPolicyBinding,
                                 &kValidatingWebhookConfiguration})
      out.emplace(row->kind, row);
    return out;
  }();
  return table;
}

}  // namespace

const KindRules& rules_of(const api::KindInfo& kind) {
  static const KindRules kNone = {};
  if (kind.custom) return kNone;
  const auto found = rows_by_kind().find(kind.kind);
  return found == rows_by_kind().end() ? kNone : *found->second;
}

}  // namespace apiserver

// The rows of all kinds (kind_rules.h), each at the end of its kind's file.
#pragma once

#include "apiserver/kinds/kind_rules.h"

namespace apiserver {

extern const KindRules kApiService;
extern const KindRules kCertificateSigningRequest;
extern const KindRules kClusterRole;
extern const KindRules kClusterRoleBinding;
extern const KindRules kConfigMap;
extern const KindRules kControllerRevision;
extern const KindRules kCronJob;
extern const KindRules kCsiDriver;
extern const KindRules kCsiNode;
extern const KindRules kCustomResourceDefinition;
extern const KindRules kDaemonSet;
extern const KindRules kDeployment;
extern const KindRules kDeviceClass;
extern const KindRules kEndpointSlice;
extern const KindRules kEndpoints;
extern const KindRules kEvent;
extern const KindRules kFlowSchema;
extern const KindRules kHorizontalPodAutoscaler;
extern const KindRules kIngress;
extern const KindRules kIngressClass;
extern const KindRules kJob;
extern const KindRules kLease;
extern const KindRules kLimitRange;
extern const KindRules kMutatingAdmissionPolicy;
extern const KindRules kMutatingAdmissionPolicyBinding;
extern const KindRules kMutatingWebhookConfiguration;
extern const KindRules kNamespace;
extern const KindRules kNativePodGroup;
extern const KindRules kNativeWorkload;
extern const KindRules kNetworkPolicy;
extern const KindRules kNode;
extern const KindRules kPersistentVolume;
extern const KindRules kPersistentVolumeClaim;
extern const KindRules kPod;
extern const KindRules kPodDisruptionBudget;
extern const KindRules kPodTemplate;
extern const KindRules kPriorityClass;
extern const KindRules kPriorityLevelConfiguration;
extern const KindRules kReplicaSet;
extern const KindRules kReplicationController;
extern const KindRules kResourceClaim;
extern const KindRules kResourceClaimTemplate;
extern const KindRules kResourceQuota;
extern const KindRules kResourceSlice;
extern const KindRules kRole;
extern const KindRules kRoleBinding;
extern const KindRules kRuntimeClass;
extern const KindRules kSecret;
extern const KindRules kService;
extern const KindRules kServiceAccount;
extern const KindRules kStatefulSet;
extern const KindRules kStorageClass;
extern const KindRules kValidatingAdmissionPolicy;
extern const KindRules kValidatingAdmissionPolicyBinding;
extern const KindRules kValidatingWebhookConfiguration;

}  // namespace apiserver

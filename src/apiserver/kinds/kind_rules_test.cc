// Objects with one thing wrong, and the field that is named, as Kubernetes documents it (1.36).
#include "apiserver/kinds/kind_rules.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"
#include "api/kinds.h"
#include "api/pods/pod_spec.h"
#include "apiserver/kinds/strategy.h"
#include "base/base64.h"

namespace apiserver {
namespace {

std::string fields_of(const std::vector<base::Cause>& causes) {
  std::string text;
  for (const base::Cause& cause : causes) text += (text.empty() ? "" : " ") + cause.field;
  return text;
}

// The problems of an object as it is, whether it is new or not.
std::vector<base::Cause> problems_of(const api::KindInfo& kind, const api::Json& object) {
  api::FieldErrors errors;
  rules_of(kind).check(api::Json(), object, errors);
  return errors.take();
}

struct Row {
  std::string_view api_version, kind, object, fields;
};
constexpr Row kRows[] = {
    {"networking.k8s.io/v1", "NetworkPolicy",
     "spec: {podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}], ports: [{port: "
     "80, "
     "endPort: 90}, {port: web}]}], egress: [{to: [{namespaceSelector: {}}]}], policyTypes: [Ingress, Egress]}",
     ""},
    {"networking.k8s.io/v1", "NetworkPolicy", "spec: {ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/33}}]}]}",
     "spec.ingress[0].from[0].ipBlock.cidr"},
    {"networking.k8s.io/v1", "NetworkPolicy",
     "spec: {egress: [{to: [{ipBlock: {cidr: 10.1.0.0/16, except: [10.0.0.0/8]}}]}]}",
     "spec.egress[0].to[0].ipBlock.except[0]"},
    {"networking.k8s.io/v1", "NetworkPolicy", "spec: {ingress: [{from: [{}]}]}", "spec.ingress[0].from[0]"},
    {"networking.k8s.io/v1", "NetworkPolicy", "spec: {ingress: [{ports: [{port: 80, endPort: 70}]}]}",
     "spec.ingress[0].ports[0].endPort"},
    {"networking.k8s.io/v1", "NetworkPolicy", "spec: {podSelector: {matchExpressions: [{key: a, operator: Like}]}}",
     "spec.podSelector.matchExpressions[0].operator"},
    {"networking.k8s.io/v1", "Ingress", "spec: {defaultBackend: {service: {name: s, port: {name: A_B}}}}",
     "spec.defaultBackend.service.port.name spec.defaultBackend.service.port.name"},
    {"networking.k8s.io/v1", "Ingress",
     "spec: {defaultBackend: {service: {name: s, port: {number: 80}}}, tls: [{hosts: ['*']}]}", "spec.tls[0].hosts[0]"},
    {"networking.k8s.io/v1", "Ingress",
     "spec: {defaultBackend: {service: {name: s, port: {number: 80}}}, tls: [{hosts: [10.0.0.1]}]}", ""},
    {"networking.k8s.io/v1", "Ingress", "spec: {rules: [{host: 10.0.0.1}]}", "spec.rules[0].host"},
    {"networking.k8s.io/v1", "IngressClass", "spec: {controller: plain}", "spec.controller"},
    {"networking.k8s.io/v1", "IngressClass", "spec: {controller: 'example.com/c d'}", "spec.controller"},
    {"networking.k8s.io/v1", "IngressClass", "spec: {controller: EXAMPLE.COM/c}", "spec.controller"},
    {"v1", "Secret", "{type: kubernetes.io/dockerconfigjson, data: {'.dockerconfigjson': 'dHJ1ZQ=='}}",
     "data[.dockerconfigjson]"},
    {"v1", "Secret", "{type: kubernetes.io/dockerconfigjson, data: {'.dockerconfigjson': 'e30='}}", ""},
    {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding",
     "{roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: a/../b}}", "roleRef.name"},
    {"scheduling.k8s.io/v1beta1", "PodGroup", "spec: {schedulingPolicy: {gang: {minCount: 2}}}", ""},
    {"scheduling.k8s.io/v1beta1", "PodGroup", "spec: {schedulingPolicy: {}}", "spec.schedulingPolicy"},
    {"scheduling.k8s.io/v1beta1", "PodGroup", "spec: {schedulingPolicy: {basic: {}, gang: {minCount: 2}}}",
     "spec.schedulingPolicy"},
    {"scheduling.k8s.io/v1beta1", "PodGroup",
     "spec: {schedulingPolicy: {gang: {minCount: 0}}, disruptionMode: {}, parentCompositePodGroupName: x, "
     "priorityClassName: A_B, resourceClaims: [{name: c}]}",
     "spec.schedulingPolicy.gang.minCount spec.disruptionMode spec.priorityClassName spec.resourceClaims "
     "spec.parentCompositePodGroupName"},
    {"scheduling.k8s.io/v1beta1", "PodGroup",
     "spec: {schedulingPolicy: {basic: {}}, priority: 1000000001, schedulingConstraints: {topology: [{key: A_B/c}]}}",
     "spec.priority spec.schedulingConstraints.topology[0].key"},
    {"scheduling.k8s.io/v1beta1", "PodGroup",
     "spec: {schedulingPolicy: {basic: {}}, schedulingConstraints: {topology: [{key: a}, {key: b}]}}",
     "spec.schedulingConstraints.topology"},
    {"scheduling.k8s.io/v1beta1", "Workload",
     "spec: {podGroupTemplates: [{name: a, schedulingPolicy: {basic: {}}, priority: 1}, {name: b, schedulingPolicy: "
     "{basic: {}}}]}",
     "spec"},
    {"scheduling.k8s.io/v1beta1", "Workload",
     "spec: {podGroupTemplates: [{name: A_B, schedulingPolicy: {basic: {}}}, {name: b}], compositePodGroupTemplates: "
     "[{name: c}]}",
     "spec.compositePodGroupTemplates spec.podGroupTemplates[0].name spec.podGroupTemplates[1].schedulingPolicy"},
    {"apiregistration.k8s.io/v1", "APIService",
     "spec: {group: x.example, version: v1, groupPriorityMinimum: 1, versionPriority: 1}", "metadata.name"},
    {"apiregistration.k8s.io/v1", "APIService",
     "spec: {group: x.example, version: v1, groupPriorityMinimum: 0, versionPriority: 1001, service: {name: s, "
     "namespace: ns}, caBundle: eA==, insecureSkipTLSVerify: true}",
     "metadata.name spec.groupPriorityMinimum spec.versionPriority spec.service spec.caBundle "
     "spec.insecureSkipTLSVerify"},
    {"storage.k8s.io/v1", "StorageClass", "{provisioner: p, allowedTopologies: [{matchLabelExpressions: [{key: a}]}]}",
     "allowedTopologies[0].matchLabelExpressions[0].values"},
    {"v1", "PersistentVolume", "spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], local: {path: /x}}",
     "spec.nodeAffinity"},
    {"v1", "PersistentVolume",
     "spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x}, nfs: {server: s, path: /e}}",
     "spec.nfs"},
    {"v1", "PersistentVolumeClaim",
     "spec: {accessModes: [ReadWriteOnce, ReadWriteOncePod], resources: {requests: {storage: 1Gi}}}",
     "spec.accessModes"},
    {"policy/v1", "PodDisruptionBudget", "spec: {selector: {matchExpressions: [{key: a, operator: In}]}}",
     "spec.selector.matchExpressions[0].values"},
    {"discovery.k8s.io/v1", "EndpointSlice", "{addressType: IPv4, endpoints: [{addresses: [169.254.1.1]}]}",
     "endpoints[0].addresses[0]"},
    {"v1", "Endpoints", "subsets: [{ports: [{port: 80, protocol: TCP}]}]", "subsets[0]"},
    {"v1", "Node", "spec: {taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule}]}",
     "metadata.taints[1]"},
    {"v1", "Node", "spec: {podCIDRs: [10.0.0.0/24, 'fd00::/64']}", ""},
    {"v1", "Node", "spec: {podCIDRs: [10.0.0.0/24, 10.1.0.0/24]}", "spec.podCIDRs"},
    {"v1", "Node", "spec: {podCIDRs: [10.0.0.0/24, 'fd00::/64', 'fd01::/64']}", "spec.podCIDRs"},
    {"v1", "Node", "spec: {podCIDRs: [10.0.0.0/33]}", "spec.podCIDRs[0]"},
    {"v1", "Node", "spec: {podCIDRs: [010.0.0.0/24]}", "spec.podCIDRs[0]"},
    {"v1", "Node", "spec: {podCIDRs: [10.0.0.1/24]}", "spec.podCIDRs[0]"},
    {"v1", "Node", "spec: {podCIDRs: ['::ffff:10.0.0.0/120']}", "spec.podCIDRs[0]"},
    {"networking.k8s.io/v1", "NetworkPolicy",
     "spec: {ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.1/16]}}]}]}",
     "spec.ingress[0].from[0].ipBlock.except[0]"},
    {"v1", "Endpoints", "subsets: [{addresses: [{ip: '::ffff:10.0.0.1'}]}]", "subsets[0].addresses[0].ip"},
    {"storage.k8s.io/v1", "CSINode",
     "spec: {drivers: [{name: a.b, nodeID: x, topologyKeys: [c/d, e]}, {name: c, nodeID: x, allocatable: {count: 0}}]}",
     ""},
    {"storage.k8s.io/v1", "CSINode",
     "spec: {drivers: [{name: a, nodeID: x, topologyKeys: [b, b]}, {name: a, nodeID: '', allocatable: {count: -1}}]}",
     "spec.drivers[0] spec.drivers[1].name spec.drivers[1].nodeID spec.drivers[1].allocatable.count"},
    {"node.k8s.io/v1", "RuntimeClass",
     "{handler: h, scheduling: {tolerations: [{key: a, operator: Exists}, {key: b, operator: Exists}, {key: a, "
     "operator: Exists, tolerationSeconds: 5, effect: NoExecute}]}}",
     ""},
    {"node.k8s.io/v1", "RuntimeClass",
     "{handler: h, scheduling: {tolerations: [{key: a, operator: Exists, effect: NoExecute}, {key: a, operator: "
     "Exists, tolerationSeconds: 5, effect: NoExecute}]}}",
     "scheduling.tolerations[1]"},
    {"resource.k8s.io/v1", "ResourceClaim",
     "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: d, allocationMode: ExactCount, count: 1}}], "
     "constraints: [{requests: [other], matchAttribute: a.example.com/numa}]}}",
     "spec.devices.constraints[0].requests[0]"},
    {"resource.k8s.io/v1", "ResourceClaim", "spec: {devices: {requests: [{name: r}]}}", "spec.devices.requests[0]"},
    {"resource.k8s.io/v1", "DeviceClass", "spec: {selectors: [{cel: {expression: 'device.driver =='}}]}",
     "spec.selectors[0].cel.expression"},
    {"resource.k8s.io/v1", "DeviceClass", "spec: {extendedResourceName: cpu}", "spec.extendedResourceName"},
    {"resource.k8s.io/v1", "ResourceSlice",
     "spec: {driver: d, pool: {name: p, generation: 1, resourceSliceCount: 1}, nodeName: node-1, allNodes: true}",
     "spec"},
    {"rbac.authorization.k8s.io/v1", "RoleBinding",
     "{roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}, subjects: [{kind: User, name: u, apiGroup: "
     "example.com}]}",
     "subjects[0].apiGroup"},
    {"rbac.authorization.k8s.io/v1", "RoleBinding",
     "{roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}, subjects: [{kind: ServiceAccount, name: "
     "a}]}",
     ""},
    {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding",
     "{roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r}, subjects: [{kind: ServiceAccount, "
     "name: a}]}",
     "subjects[0].namespace"},
};

TEST(KindRulesTest, name_the_field_that_is_wrong) {
  for (const Row& row : kRows) {
    api::Json object = *api::parse_yaml(std::string(row.object));
    object.set("kind", row.kind);
    object.edit("metadata").set("name", "x");
    std::vector<base::Cause> causes;
    causes = problems_of(*api::find_kind_named(row.api_version, row.kind), object);
    EXPECT_EQ(fields_of(causes), row.fields) << row.object;
  }
}

constexpr std::string_view kWebhook =
    "webhooks: [{name: a.b.example, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: "
    "'https://h/'}, ";
constexpr std::string_view kTemplate =
    "{selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {restartPolicy: Always, "
    "dnsPolicy: ClusterFirst, containers: [{name: c, image: ' i ', terminationMessagePolicy: File, imagePullPolicy: "
    "Always}]}}}";

// With their defaults, and by the rules of a creation.
TEST(KindRulesTest, new_objects_name_the_field_that_is_wrong) {
  // The thousandfold of a hundred ones does not end in three zeros in 64 bits; that of a hundred nines does.
  const std::string hook(kWebhook), ones(100, '1'), nines(100, '9');
  const struct {
    std::string_view api_version, kind;
    std::string object;
    std::string_view fields;
  } rows[] = {
      {"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration",
       hook + "namespaceSelector: {matchLabels: {a/b: c}, matchExpressions: [{key: d, operator: Exists}]}}]", ""},
      {"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration",
       hook + "namespaceSelector: {matchLabels: {'a b': c}}, objectSelector: {matchLabels: {a: '-'}}}]",
       "webhooks[0].namespaceSelector.matchLabels webhooks[0].objectSelector.matchLabels"},
      {"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration",
       hook + "objectSelector: {matchExpressions: [{key: a, operator: In}]}}]",
       "webhooks[0].objectSelector.matchExpressions[0].values"},
      {"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration",
       hook + "objectSelector: {matchExpressions: [{key: a, operator: Like}]}}]",
       "webhooks[0].objectSelector.matchExpressions[0].operator"},
      {"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding",
       "spec: {policyName: p, validationActions: [Deny], matchResources: {namespaceSelector: {matchLabels: {'a b': "
       "c}}}}",
       "spec.matchResources.namespaceSelector.matchLabels"},
      {"v1", "ResourceQuota", "spec: {hard: {pods: '" + ones + "'}}", "spec.hard[pods]"},
      {"v1", "ResourceQuota", "spec: {hard: {pods: '" + nines + "', services: '9223372036854775807'}}", ""},
      {"v1", "ResourceQuota", "spec: {hard: {cpu: '" + ones + "'}}", ""},
      {"v1", "LimitRange", "spec: {}", ""},
      {"storage.k8s.io/v1", "CSIDriver",
       "spec: {tokenRequests: [{audience: a}, {audience: '', expirationSeconds: 600}]}", ""},
      {"storage.k8s.io/v1", "CSIDriver", "spec: {tokenRequests: [{audience: a}, {audience: a}]}",
       "spec.tokenRequests[1].audience"},
      {"storage.k8s.io/v1", "CSIDriver", "spec: {tokenRequests: [{audience: a, expirationSeconds: 599}]}",
       "spec.tokenRequests[0].expirationSeconds"},
      {"v1", "Service", "spec: {ports: [{port: 1}], ipFamilyPolicy: PreferDualStack, ipFamilies: [IPv4, IPv6]}",
       "spec.ipFamilies[1]"},
      {"v1", "Service", "spec: {ports: [{port: 1}], ipFamilies: [IPv4, IPv4]}", "spec.ipFamilies[1]"},
      {"v1", "Service", "spec: {type: ExternalName, externalName: db.example.com, ipFamilies: [IPv4]}",
       "spec.ipFamilies"},
      {"v1", "Service", "spec: {ports: [{port: 1}], externalIPs: ['::ffff:10.0.0.1']}", "spec.externalIPs[0]"},
      {"v1", "Service", "spec: {type: LoadBalancer, ports: [{port: 1}], loadBalancerSourceRanges: [' 10.0.0.1/8 ']}",
       "spec.LoadBalancerSourceRanges[0]"},
      {"v1", "Node", "spec: {podCIDR: 10.0.0.0/24, podCIDRs: [nonsense]}", ""},
      {"apps/v1", "Deployment", "spec: " + std::string(kTemplate), ""},
      {"apps/v1", "ControllerRevision", "{revision: 1, data: {}}", ""},
      {"apps/v1", "ControllerRevision", "{revision: 1}", "data"},
      {"apps/v1", "ControllerRevision", "{revision: 1, data: text}", "data"},
      {"v1", "Pod", "spec: {containers: [{name: c, image: 'i '}], initContainers: [{name: d, image: ' i'}]}",
       "spec.containers[0].image spec.initContainers[0].image"},
  };
  for (const auto& row : rows) {
    const api::KindInfo& kind = *api::find_kind_named(row.api_version, row.kind);
    api::Json object = *api::parse_yaml(row.object);
    object.set("kind", row.kind);
    object.edit("metadata").set("name", "x");
    apply_core_defaults(kind, object);
    std::vector<base::Cause> causes;
    check_core_create(kind, object, causes);
    EXPECT_EQ(fields_of(causes), row.fields) << row.object << (causes.empty() ? "" : causes.front().message);
  }
}

// The one range of a node and its list say the same; where they do not, the one range is meant.
TEST(KindRulesTest, ranges_of_a_node_agree) {
  const std::pair<const char*, const char*> rows[] = {
      {"{podCIDR: 10.0.0.0/24}", "{podCIDR: 10.0.0.0/24, podCIDRs: [10.0.0.0/24]}"},
      {"{podCIDRs: [10.0.0.0/24, 'fd00::/64']}", "{podCIDRs: [10.0.0.0/24, 'fd00::/64'], podCIDR: 10.0.0.0/24}"},
      {"{podCIDR: 10.1.0.0/24, podCIDRs: [10.0.0.0/24, 'fd00::/64']}",
       "{podCIDR: 10.1.0.0/24, podCIDRs: [10.1.0.0/24]}"},
      {"{podCIDR: 7}", "{podCIDR: 7}"},
      {"{podCIDRs: [7]}", "{podCIDRs: [7]}"},
  };
  for (const auto& [given, wanted] : rows) {
    api::Json object = api::Json::object({{"spec", *api::parse_yaml(given)}});
    apply_core_defaults(*api::find_kind_named("v1", "Node"), object);
    EXPECT_EQ(object["spec"], *api::parse_yaml(wanted)) << object.dump();
  }
}

// Lists and numbers that nobody sent are empty where a stock server asks for none.
TEST(KindRulesTest, what_was_not_sent_is_empty) {
  const struct {
    std::string_view api_version, kind, given, field;
  } rows[] = {{"v1", "LimitRange", "spec: {}", "limits"},
              {"batch/v1", "Job", "spec: {podFailurePolicy: {}}", "rules"},
              {"apps/v1", "ControllerRevision", "data: {}", "revision"}};
  for (const auto& row : rows) {
    api::Json object = *api::parse_yaml(std::string(row.given));
    apply_core_defaults(*api::find_kind_named(row.api_version, row.kind), object);
    EXPECT_NE(object.dump().find(row.field), std::string::npos) << object.dump();
  }
}

// A few bytes of a pattern may take long to read, and a claim has room for thousands of selectors.
TEST(KindRulesTest, patterns_of_a_claim_are_bounded_together) {
  api::Json requests = api::Json::array();
  for (int i = 0; i < 20; ++i) {
    const std::string n = std::to_string(i);
    requests.push_back(*api::parse_yaml(
        "{name: r" + n +
        ", exactly: {deviceClassName: d, allocationMode: ExactCount, count: 1, selectors: [{cel: {expression: "
        "\"device.driver.matches('\\\\\\\\pL{29}" +
        n + "')\"}}]}}"));
  }
  api::Json object = api::Json::object({{"kind", "ResourceClaim"}});
  object.edit("metadata").set("name", "x");
  object.edit("spec").edit("devices").set("requests", requests);
  std::vector<base::Cause> causes;
  causes = problems_of(*api::find_kind_named("resource.k8s.io/v1", "ResourceClaim"), object);
  ASSERT_EQ(fields_of(causes), "spec.devices.requests[5].exactly.selectors[0].cel.expression");
  EXPECT_NE(causes[0].message.find("the regular expressions are too large together"), std::string::npos)
      << causes[0].message;
}

// By the bytes that base64 stands for, and by as many ports as a Service may have.
TEST(KindRulesTest, have_room) {
  const auto problems = [](std::string_view api_version, std::string_view kind, api::Json object) {
    object.set("kind", kind);
    std::vector<base::Cause> causes;
    causes = problems_of(*api::find_kind_named(api_version, kind), object);
    return fields_of(causes);
  };
  const auto holds = [&](std::string_view kind, std::string_view part, std::size_t bytes, bool encoded) {
    const std::string text(bytes, 'a');
    const api::Json held = api::Json::object({{"k", encoded ? base::base64_encode(text) : text}});
    const std::string problem = problems("v1", kind, api::Json::object({{part, held}}));
    return problem.empty() ? "taken" : problem == " " || problem == "data" ? "too long in " + problem : problem;
  };
  constexpr std::size_t kMost = 1024 * 1024;
  EXPECT_EQ(holds("Secret", "data", kMost, true), "taken");
  EXPECT_EQ(holds("Secret", "data", kMost + 3, true), "too long in data");
  EXPECT_EQ(holds("ConfigMap", "binaryData", kMost, true), "taken");
  EXPECT_EQ(holds("ConfigMap", "data", kMost, false), "taken");
  api::Json slice = *api::parse_yaml("{addressType: IPv4}");
  for (int i = 0; i < 150; ++i)
    slice.edit("ports").push_back(
        api::Json::object({{"name", "p" + std::to_string(i)}, {"port", i + 1}, {"protocol", "TCP"}}));
  EXPECT_EQ(problems("discovery.k8s.io/v1", "EndpointSlice", slice), "");
}

TEST(KindRulesTest, what_is_fixed_stays) {
  struct Change {
    std::string_view api_version, kind, before, after, fields;
  };
  constexpr Change kChanges[] = {
      {"v1", "PersistentVolume", "spec: {nfs: {server: a, path: /e}}", "spec: {nfs: {server: b, path: /e}}",
       "spec.persistentvolumesource"},
      {"v1", "PersistentVolume", "spec: {nfs: {server: a, path: /e}}",
       "spec: {nfs: {server: a, path: /e}, mountOptions: [ro]}", ""},
      {"rbac.authorization.k8s.io/v1", "RoleBinding", "roleRef: {name: a}", "roleRef: {name: b}", "roleRef"},
      {"storage.k8s.io/v1", "StorageClass", "{provisioner: a, parameters: {a: b}}", "{provisioner: a}", "parameters"},
      {"resource.k8s.io/v1", "ResourceClaim", "spec: {devices: {}}", "spec: {devices: {config: []}}", ""},
      {"resource.k8s.io/v1", "ResourceClaim", "spec: {devices: {}}", "spec: {devices: {requests: [{name: r}]}}",
       "spec.devices.requests[0] spec"},
      {"v1", "PersistentVolume", "spec: {nfs: {server: a, path: /e, readOnly: false}}",
       "spec: {nfs: {server: a, path: /e}}", ""},
      {"v1", "Node", "spec: {providerID: ''}", "spec: {providerID: x}", ""},
      {"v1", "Node", "spec: {providerID: x}", "spec: {providerID: z}", "spec.providerID"},
  };
  for (const Change& change : kChanges) {
    std::vector<base::Cause> causes;
    check_core_update(*api::find_kind_named(change.api_version, change.kind), "",
                      *api::parse_yaml(std::string(change.before)), *api::parse_yaml(std::string(change.after)),
                      causes);
    EXPECT_EQ(fields_of(causes), change.fields) << change.after;
  }
}

// Stored before the rule was known: it can lose a finalizer, and gets no second mistake.
TEST(KindRulesTest, what_was_wrong_before_holds_up_no_change) {
  const api::KindInfo& kind = *api::find_kind_named("storage.k8s.io/v1", "StorageClass");
  const api::Json before = *api::parse_yaml("{metadata: {finalizers: [a/b]}, provisioner: A b}");
  const auto problems = [&](const char* after) {
    std::vector<base::Cause> causes;
    check_core_update(kind, "", before, *api::parse_yaml(after), causes);
    return fields_of(causes);
  };
  EXPECT_EQ(problems("{metadata: {}, provisioner: A b}"), "");
  EXPECT_EQ(problems("{metadata: {}, provisioner: A b, volumeBindingMode: Never}"),
            "volumeBindingMode volumeBindingMode");
  const api::KindInfo& deployments = *api::find_kind_named("apps/v1", "Deployment");
  api::Json deployment = *api::parse_yaml(
      "{metadata: {name: d, finalizers: [a/b]}, spec: {selector: {matchLabels: {a: b}}, strategy: {type: Recreate}, "
      "template: {metadata: {labels: {a: b}}, spec: {restartPolicy: Always, containers: [{name: c, image: i, "
      "envFrom: [{prefix: '=', configMapRef: {name: m}}]}]}}}}");
  std::vector<base::Cause> made, changed;
  check_core_create(deployments, deployment, made);
  EXPECT_FALSE(made.empty());
  api::Json freed = deployment;
  freed.edit("metadata").erase("finalizers");
  check_core_update(deployments, "", deployment, freed, changed);
  EXPECT_EQ(fields_of(changed), "");
}

TEST(KindRulesTest, pods_name_the_field_that_is_wrong) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"volumes: [{name: v, projected: {sources: [{serviceAccountToken: {path: t, expirationSeconds: 5}}]}}]",
       "spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds"},
      {"volumes: [{name: v, projected: {sources: [{secret: {name: s, items: [{key: a, path: f}]}}, {configMap: {name: "
       "m, "
       "items: [{key: b, path: f}]}}]}}]",
       "spec.volumes[0].projected"},
      {"volumes: [{name: v, downwardAPI: {items: [{path: f, fieldRef: {fieldPath: spec.nodeName}}]}}]",
       "spec.volumes[0].downwardAPI.items[0].fieldRef.fieldPath"},
      {"volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce]}}}}]",
       "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]"},
      {"volumes: [{name: v, csi: {driver: A_b}}]", "spec.volumes[0].csi.driver"},
      {"topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}]",
       "spec.topologySpreadConstraints[0].minDomains"},
      {"topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: "
       "Never}]",
       "spec.topologySpreadConstraints[0].nodeTaintsPolicy"},
      {"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: "
       "[{key: spec.x, operator: In, values: [n]}]}]}}}",
       "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0]."
       "key"},
      {"{os: {name: windows}, hostUsers: false}", "spec.hostUsers"},
      {"{os: {name: linux}, securityContext: {windowsOptions: {}}}", "spec.securityContext.windowsOptions"},
  };
  for (const auto& [part, fields] : rows) {
    api::Json spec = *api::parse_yaml("containers: [{name: c, image: i}]");
    const api::Json more = *api::parse_yaml(std::string(part));
    for (const api::Json::Member& member : more.members()) spec.set(member.name(), member.value);
    EXPECT_EQ(fields_of(api::check_pod_spec(spec, "spec", {})), fields) << part;
  }
}

}  // namespace
}  // namespace apiserver

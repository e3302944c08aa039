// Objects that were once judged otherwise than by a stock server (tests/stock/random_differential.sh), each with the
// fields that it names; none: it takes the object.
#include <gtest/gtest.h>

#include "api/json/yaml.h"
#include "apiserver/http/route.h"
#include "apiserver/pipeline/api_for_tests.h"
#include "base/format.h"

namespace apiserver {
namespace {

using api::Json;

struct Bench : ApiForTests {
  // The fields that are named, or the message where none is.
  std::string fields_of(const std::string& path, Json object) {
    object.edit("metadata").set("name", path.ends_with("definitions") ? "things.example.org" : "x");
    rt::HttpRequest http{.method = "POST", .target = path + "?dryRun=All"};
    http.headers = {{"Content-Type", "application/json"}};
    http.body = object.dump();
    auto routed = route(http, rt::parse_target(http.target));
    if (!routed.ok() || !routed->has_value()) return "no such path";
    if (const base::Status read = decode_body(http, **routed); !read.ok()) return read.error().message;
    (*routed)->default_manager = "test";
    std::optional<base::Result<Answer>> answer;
    api.call(**std::move(routed), [&](base::Result<Answer> a) { answer.emplace(std::move(a)); });
    env.settle();
    if (answer->ok()) return "";
    std::string fields;
    for (const base::Cause& cause : answer->error().causes) fields += (fields.empty() ? "" : " ") + cause.field;
    return fields.empty() ? answer->error().message : fields;
  }
};

struct Row {
  const char* path;
  const char* object;
  const char* fields;
};

void expect_all(std::span<const Row> rows) {
  Bench b;
  for (const Row& row : rows) EXPECT_EQ(b.fields_of(row.path, *api::parse_yaml(row.object)), row.fields) << row.object;
}

constexpr const char* kPods = "/api/v1/namespaces/default/pods";

TEST(Judgements, of_pods_of_windows) {
  const auto pod = [](std::string_view of_pod, std::string_view of_container = "", std::string_view more = "") {
    return base::format(
        "spec: {{os: {{name: windows}}, securityContext: {{windowsOptions: {{{}}}}}, containers: [{{name: c, "
        "image: i, securityContext: {{windowsOptions: {{{}}}}}}}]{}}}",
        of_pod, of_container, more);
  };
  const std::string user = "spec.securityContext.windowsOptions.runAsUserName";
  const std::vector<std::pair<std::string, std::string>> rows = {
      {pod("runAsUserName: ContainerUser"), ""},
      {pod(R"(runAsUserName: 'corp.example.com\Anna Lee')"), ""},
      {pod(R"(runAsUserName: 'CORP\anna')"), ""},
      {pod("runAsUserName: ''"), user},
      {pod(R"(runAsUserName: "a\nb")"), user},
      {pod("runAsUserName: 'a,b'"), user},
      {pod("runAsUserName: '. .'"), user},
      {pod(R"(runAsUserName: 'a\b\c')"), user},
      {pod(R"(runAsUserName: '.corp?\anna')"), user},
      {pod("runAsUserName: " + std::string(105, 'a')), user},
      {pod("", "runAsUserName: 'a=b'"), "spec.containers[0].securityContext.windowsOptions.runAsUserName"},
      {pod("gmsaCredentialSpecName: web.example.com"), ""},
      {pod("gmsaCredentialSpecName: GMSA"), "spec.securityContext.windowsOptions.gmsaCredentialSpecName"},
      {pod("gmsaCredentialSpec: ''"), "spec.securityContext.windowsOptions.gmsaCredentialSpec"},
      {pod("hostProcess: true"), "spec.hostNetwork"},
      {pod("hostProcess: true", "", ", hostNetwork: true"), ""},
      {pod("hostProcess: true", "hostProcess: false", ", hostNetwork: true"),
       "spec.containers[0].securityContext.windowsOptions.hostProcess"},
      {"spec: {os: {name: windows}, securityContext: {seLinuxChangePolicy: Recursive}, containers: [{name: c, image: "
       "i}]}",
       "spec.securityContext.seLinuxChangePolicy"},
  };
  Bench b;
  for (const auto& [object, fields] : rows) EXPECT_EQ(b.fields_of(kPods, *api::parse_yaml(object)), fields) << object;
}

TEST(Judgements, of_pods) {
  const auto container = [](std::string_view more) {
    return base::format("spec: {{containers: [{{name: c, image: i, {}}}]}}", more);
  };
  const auto volume = [](std::string_view source) {
    return base::format("spec: {{containers: [{{name: c, image: i}}], volumes: [{{name: v, {}}}]}}", source);
  };
  const std::string env = "spec.containers[0].env[0].valueFrom";
  const std::vector<std::pair<std::string, std::string>> rows = {
      {container("env: [{name: a, valueFrom: {secretKeyRef: {name: SECRET, key: a}}}]"), env + ".secretKeyRef.name"},
      {container("env: [{name: a, valueFrom: {configMapKeyRef: {name: s, key: a/b}}}]"), env + ".configMapKeyRef.key"},
      {container("env: [{name: a, valueFrom: {fieldRef: {apiVersion: a/b, fieldPath: spec.nodeName}}}]"),
       env + ".fieldRef.fieldPath"},
      {container("restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [42, "
                 "42]}}]"),
       ""},
      {container("lifecycle: {preStop: {sleep: {}}}"), ""},
      {"spec: {resourceClaims: [{name: r, resourceClaimName: r}], containers: [{name: c, image: i, resources: {claims: "
       "[{name: r, request: 'a=b'}]}}]}",
       "spec.containers[0].resources.claims[0].request"},
      {"spec: {resources: {requests: {memory: 1Gi}}, containers: [{name: c, image: i, resources: {limits: {memory: "
       "64Mi, "
       "hugepages-2Mi: 4Mi}}}]}",
       ""},
      {"spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
       "[{matchExpressions: [{key: k, operator: Gt, values: ['a,b']}]}]}}}, containers: [{name: c, image: i}]}",
       "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
       "matchExpressions[0]."
       "values[0]"},
      {"spec: {containers: [{name: c, image: i}], securityContext: {seLinuxChangePolicy: Often}}",
       "spec.securityContext.seLinuxChangePolicy"},
      {"spec: {containers: [{name: c, image: i}], tolerations: [{operator: Exists, effect: NoExecute, "
       "tolerationSeconds: 9223372036854775808}]}",
       "spec.tolerations[0].tolerationSeconds"},
      {volume("projected: {sources: [{configMap: {name: m}, clusterTrustBundle: {signerName: example.com/s, path: p, "
              "labelSelector: {matchLabels: {a: Ünï}}}}]}"),
       ""},
      {volume("azureDisk: {diskName: d, diskURI: /a, kind: Managed}"), "spec.volumes[0].azureDisk.diskURI"},
      {volume("azureDisk: {diskName: d, diskURI: /a, kind: Shared}"), "spec.volumes[0].azureDisk.diskURI"},
      {volume("quobyte: {registry: '..', volume: v}"), "spec.volumes[0].quobyte.registry"},
      {volume("quobyte: {registry: 'a:1,b:2', volume: v}"), ""},
      {volume("storageos: {}"), "spec.volumes[0].storageos.volumeName"},
      {volume("csi: {driver: d, nodePublishSecretRef: {name: A_b}}"), "spec.volumes[0].csi.name"},
      {volume("iscsi: {targetPortal: 10.0.0.1, iqn: 'iqn.2001-04.com.example:storage.x'}"), ""},
  };
  Bench b;
  for (const auto& [object, fields] : rows) EXPECT_EQ(b.fields_of(kPods, *api::parse_yaml(object)), fields) << object;
}

TEST(Judgements, of_workloads) {
  constexpr const char* kJobs = "/apis/batch/v1/namespaces/default/jobs";
  constexpr const char* kScalers = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
  constexpr Row kRows[] = {
      {kJobs, "spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}", ""},
      {kJobs,
       "spec: {manualSelector: true, selector: {matchLabels: {run: x}}, template: {metadata: {labels: {run: x}}, spec: "
       "{restartPolicy: Never, containers: [{name: c, image: i}]}}}",
       ""},
      {kJobs,
       "spec: {manualSelector: true, selector: {}, template: {spec: {restartPolicy: Never, containers: [{name: c, "
       "image: i}]}}}",
       ""},
      {kJobs,
       "spec: {selector: {matchLabels: {run: x}}, template: {metadata: {labels: {run: x}}, spec: {restartPolicy: "
       "Never, "
       "containers: [{name: c, image: i}]}}}",
       "spec.selector"},
      {kJobs,
       "spec: {manualSelector: true, template: {metadata: {labels: {run: x}}, spec: {restartPolicy: Never, containers: "
       "[{name: c, image: i}]}}}",
       "spec.selector spec.template.metadata.labels"},
      {"/apis/batch/v1/namespaces/default/cronjobs", "spec: {schedule: '* * * * *', jobTemplate: {}}",
       "spec.jobTemplate.spec.template"},
      {"/apis/apps/v1/namespaces/default/statefulsets",
       "spec: {revisionHistoryLimit: -1, serviceName: s, selector: {matchLabels: {a: b}}, template: {metadata: "
       "{labels: "
       "{a: b}}, spec: {containers: [{name: c, image: i}]}}}",
       ""},
      {"/apis/policy/v1/namespaces/default/poddisruptionbudgets",
       "spec: {maxUnavailable: 2147483648, selector: {matchLabels: {a: b}}}", "spec.maxUnavailable"},
      {kScalers, "spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}}", ""},
      {kScalers, "spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: v1, kind: ReplicationController, name: d}}", ""},
      {kScalers, "spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: /a, kind: Deployment, name: d}}",
       "spec.scaleTargetRef.apiVersion"},
      {kScalers, "spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: a/b, name: ..}}",
       "spec.scaleTargetRef.kind spec.scaleTargetRef.name"},
      {kScalers,
       "spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: D, name: d}, metrics: [{type: "
       "ContainerResource, containerResource: {name: pods, container: A_b, target: {type: Utilization, "
       "averageUtilization: 5}}}]}",
       "spec.metrics[0].containerResource.name spec.metrics[0].containerResource.container"},
      {kScalers,
       "spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: D, name: d}, metrics: [{type: Object, "
       "object: {metric: {name: m}, describedObject: {kind: a/b, name: m}, target: {type: Value, value: 5}}}]}",
       "spec.metrics[0].object.describedObject.kind"},
  };
  expect_all(kRows);
}

TEST(Judgements, of_devices) {
  constexpr const char* kSlices = "/apis/resource.k8s.io/v1/resourceslices";
  constexpr const char* kClaims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
  constexpr Row kRows[] = {
      {kSlices,
       "spec: {driver: d.example.com, nodeName: node, pool: {name: p, resourceSliceCount: 1}, devices: [{name: a, "
       "attributes: {v: {version: 1.2.3-beta.1+x}}, capacity: {memory: {}}}]}",
       ""},
      {kSlices,
       "spec: {driver: d.example.com, nodeName: node, pool: {name: p, resourceSliceCount: 1}, devices: [{name: a, "
       "attributes: {v: {version: '1.2'}}}]}",
       "spec.devices[0].attributes[v].version"},
      {kSlices,
       "spec: {driver: d.example.com, nodeName: node, pool: {name: p, resourceSliceCount: 1}, devices: [{name: a, "
       "attributes: {v: {version: 01.2.3}}}]}",
       "spec.devices[0].attributes[v].version"},
      {kClaims, "{}", ""},
      {"/apis/resource.k8s.io/v1/deviceclasses", "{}", ""},
      {"/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates", "spec: {spec: null}", ""},
      {kClaims,
       "spec: {devices: {requests: [{name: a, exactly: {deviceClassName: c}}], constraints: [{matchAttribute: "
       "GPU.EXAMPLE.COM/NUMA}]}}",
       ""},
      {kClaims,
       "spec: {devices: {requests: [{name: a, exactly: {deviceClassName: c}}], constraints: [{matchAttribute: "
       "'gpu.example.com/numa '}]}}",
       "spec.devices.constraints[0].matchAttribute"},
      {kClaims,
       "spec: {devices: {requests: [{name: a, firstAvailable: [{name: b, deviceClassName: c, count: "
       "9223372036854775808}]}]}}",
       "spec.devices.requests[0].firstAvailable[0].count"},
  };
  expect_all(kRows);
}

TEST(Judgements, of_networks_and_the_cluster) {
  constexpr const char* kLimits = "/api/v1/namespaces/default/limitranges";
  constexpr const char* kServices = "/api/v1/namespaces/default/services";
  constexpr const char* kClasses = "/apis/networking.k8s.io/v1/ingressclasses";
  constexpr const char* kIngresses = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";
  constexpr const char* kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  constexpr Row kRows[] = {
      {kLimits, "spec: {limits: [{type: Container, max: {cpu: 1, example.com/gpu: 2}}]}", ""},
      {kLimits, "spec: {limits: [{type: Pod, max: {storage: 1}}]}", "spec.limits[0].max[storage]"},
      {kLimits, "spec: {limits: [{type: PersistentVolumeClaim, max: {storage: 1, nothing: 1}}]}",
       "spec.limits[0].max[nothing]"},
      {kLimits, "spec: {limits: [{type: /a}]}", "spec.limits[0].type"},
      {kServices, "spec: {type: ExternalName, externalName: a.b, ipFamilyPolicy: SingleStack}", "spec.ipFamilyPolicy"},
      {kServices, "spec: {type: LoadBalancer, ports: [{port: 80}], externalTrafficPolicy: {a: b}}",
       "spec.externalTrafficPolicy"},
      {kServices, "spec: {ports: [{port: 80}], externalIPs: ['::1']}", "spec.externalIPs[0]"},
      {kClasses, "spec: {controller: a.b/c, parameters: {kind: K, name: m}}", ""},
      {kClasses, "spec: {controller: a.b/c, parameters: {apiGroup: '', kind: a/b, name: .}}",
       "spec.parameters.kind spec.parameters.name spec.parameters.apiGroup"},
      {kIngresses, "spec: {defaultBackend: {service: {name: '1', port: {number: 80}}}}", ""},
      {kIngresses, "spec: {defaultBackend: {resource: {kind: a/b, name: m}}}", "spec.defaultBackend.resource.kind"},
      {"/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
       "{addressType: IPv4, endpoints: [{addresses: [10.0.0.1], hints: {forZones: [{}]}}]}", ""},
      {"/api/v1/nodes", "spec: {podCIDR: 10.0.0.0/24, podCIDRs: [7]}", "spec.podCIDRs[0] spec.podCIDRs[0]"},
      {"/api/v1/namespaces/default/secrets", "{type: kubernetes.io/ssh-auth, stringData: {ssh-privatekey: ''}}",
       "data[ssh-privatekey]"},
      {"/api/v1/namespaces/default/secrets", "metadata: {labels: []}", "metadata.labels"},
      {"/apis/coordination.k8s.io/v1/namespaces/default/leases", "spec: {acquireTime: '2026-01-01T00:00:00.000000Z'}",
       ""},
      {"/apis/coordination.k8s.io/v1/namespaces/default/leases", "spec: {acquireTime: '2026-01-01t00:00:00.000000z'}",
       "spec.acquireTime"},
      {"/apis/storage.k8s.io/v1/storageclasses", "{provisioner: p, volumeBindingMode: ''}", "volumeBindingMode"},
      {kDefinitions,
       "spec: {group: example.org, scope: Namespaced, names: {plural: things, kind: Thing}, versions: [{name: v1, "
       "served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}, {name: v2, storage: false, schema: "
       "{openAPIV3Schema: {type: object}}}]}",
       ""},
      {kDefinitions,
       "spec: {group: example.org, scope: Namespaced, names: {plural: things, kind: Thing, listKind: [null]}, "
       "versions: "
       "[{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}",
       "spec.names.listKind"},
      {kDefinitions,
       "spec: {group: example.org, scope: Namespaced, names: {plural: things, kind: Thing}, versions: [{name: v1, "
       "served: true, storage: true, subresources: {status: true}, schema: {openAPIV3Schema: {type: object}}}]}",
       "spec.subresources.status"},
  };
  expect_all(kRows);
}

}  // namespace
}  // namespace apiserver

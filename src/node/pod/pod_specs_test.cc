// Environment, volumes, names: what a pod's text means for its processes.
#include "node/pod/pod_specs.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"
#include "base/format.h"
#include "node/machine/image_store.h"
#include "node/pod/environment.h"
#include "node/pod/names.h"
#include "node/pod/pod_plan.h"
#include "node/pod/volumes.h"

namespace node {
namespace {

using api::Json;

Json yaml(const std::string& text) {
  const auto json = api::parse_yaml(text);
  CHECK(json.ok());
  return *json;
}

struct Fixture {
  std::map<std::string, Json> objects;
  Lookups lookups;
  Fixture() {
    lookups.find = [this](std::string_view kind, std::string_view ns, std::string_view name) -> const Json* {
      const auto found = objects.find(std::string(kind) + "/" + std::string(ns) + "/" + std::string(name));
      return found == objects.end() ? nullptr : &found->second;
    };
    lookups.host_ip = "10.0.0.1";
    lookups.pod_ip = "10.1.0.5";
    lookups.allocatable["cpu"] = api::Quantity::from_int(4);
    objects["ConfigMap/ns/cm"] = yaml("data: {a: '1', b: two}");
    objects["Secret/ns/sec"] = yaml("data: {pw: aHVzaA==}");
  }
};

const char* kPod = R"yaml(
metadata: {name: p, namespace: ns, uid: u, labels: {app: x, tier: y}, annotations: {note: hi}}
spec:
  nodeName: n1
  containers:
  - name: c
    command: [run, "$(GREETING)", "$$(GREETING)", "$(NOPE)"]
    resources: {limits: {cpu: 1500m, memory: 64Mi}, requests: {cpu: 250m}}
    envFrom:
    - {configMapRef: {name: cm}, prefix: P_}
    - {secretRef: {name: gone, optional: true}}
    env:
    - {name: GREETING, value: hello}
    - {name: TWICE, value: "$(GREETING) $(P_a)"}
    - {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: APP, valueFrom: {fieldRef: {fieldPath: "metadata.labels['app']"}}}
    - {name: NOTE, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['note']"}}}
    - {name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
    - {name: HOST, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}
    - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
    - {name: CPU, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}
    - {name: CPU_MILLI, valueFrom: {resourceFieldRef: {resource: requests.cpu, divisor: 1m}}}
    - {name: MEMORY, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}}
    - {name: KEY, valueFrom: {configMapKeyRef: {name: cm, key: b}}}
    - {name: PASSWORD, valueFrom: {secretKeyRef: {name: sec, key: pw}}}
    - {name: MAYBE, valueFrom: {secretKeyRef: {name: sec, key: no, optional: true}}}
)yaml";

TEST(Environment, ResolvesEveryKindOfValue) {
  Fixture fixture;
  const Json pod = yaml(kPod);
  const auto environment = environment_of(pod, pod["spec"]["containers"].items().front(), fixture.lookups);
  ASSERT_TRUE(environment.ok()) << environment.error().message;
  std::map<std::string, std::string> values(environment->begin(), environment->end());
  const std::map<std::string, std::string> expected{
      {"P_a", "1"}, {"P_b", "two"},       {"GREETING", "hello"}, {"TWICE", "hello 1"}, {"POD", "p"},
      {"APP", "x"}, {"NOTE", "hi"},       {"IP", "10.1.0.5"},    {"HOST", "10.0.0.1"}, {"NODE", "n1"},
      {"CPU", "2"}, {"CPU_MILLI", "250"}, {"MEMORY", "64"},      {"KEY", "two"},       {"PASSWORD", "hush"}};
  EXPECT_EQ(values, expected);
}

TEST(Environment, ExpandsReferencesInCommands) {
  Fixture fixture;
  const Json pod = yaml(kPod);
  const PodState state = initial_state(pod);
  const auto spec = container_spec_for(pod, state.containers[0], fixture.lookups);
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->command, (std::vector<std::string>{"run", "hello", "$(GREETING)", "$(NOPE)"}));
  EXPECT_EQ(spec->cpu_limit_milli, 1500);
  EXPECT_EQ(spec->cpu_request_milli, 250);
  EXPECT_EQ(spec->memory_limit_bytes, 64 << 20);
}

struct MissingCase {
  const char* variable;
  const char* message;
};
TEST(Environment, NamesWhatIsMissing) {
  Fixture fixture;
  for (const MissingCase& test :
       {MissingCase{"configMapKeyRef: {name: missing, key: k}", "configmap \"missing\" not found"},
        MissingCase{"configMapKeyRef: {name: cm, key: k}", "couldn't find key k in ConfigMap ns/cm"},
        MissingCase{"secretKeyRef: {name: sec, key: k}", "couldn't find key k in Secret ns/sec"}}) {
    const Json pod =
        yaml("{metadata: {name: p, namespace: ns}, spec: {containers: [{name: c, env: [{name: X, valueFrom: {" +
             std::string(test.variable) + "}}]}]}}");
    const auto environment = environment_of(pod, pod["spec"]["containers"].items().front(), fixture.lookups);
    ASSERT_FALSE(environment.ok());
    EXPECT_EQ(environment.error().message, test.message);
  }
}

TEST(Environment, IsBoundedAndText) {
  Fixture fixture;
  fixture.objects["Secret/ns/bytes"] = yaml("data: {k: '/w=='}");
  for (const char* env : {"[{name: A, valueFrom: {secretKeyRef: {name: bytes, key: k}}}]", "[{name: 'A=B', value: x}]",
                          "[{name: '', value: x}]", "[{name: A, value: \"a\\0b\"}]"})
    EXPECT_FALSE(
        environment_of(yaml("metadata: {namespace: ns}"), yaml(std::string("{env: ") + env + "}"), fixture.lookups)
            .ok())
        << env;
  std::string doubling = "{env: [{name: V0, value: xxxxxxxx}";
  for (int i = 1; i < 60; ++i) doubling += base::format(", {{name: V{0}, value: $(V{1})$(V{1})}}", i, i - 1);
  EXPECT_FALSE(environment_of(Json(), yaml(doubling + "]}"), fixture.lookups).ok());
}

TEST(Volumes, LaysOutFilesWithTheirModes) {
  Fixture fixture;
  const Json pod = yaml(R"(
metadata: {name: p, namespace: ns, labels: {b: "2", a: "1"}}
spec:
  volumes:
  - {name: v1, configMap: {name: cm, defaultMode: 288}}
  - {name: v2, secret: {secretName: sec, defaultMode: 384, items: [{key: pw, path: .ssh/id_rsa, mode: 256}]}}
  - {name: v3, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}}
  - {name: v4, projected: {sources: [{configMap: {name: cm}}, {secret: {name: sec}}]}}
  - {name: v5, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
)");
  const auto volumes = volumes_of(pod, fixture.lookups);
  ASSERT_TRUE(volumes.ok()) << volumes.error().message;
  EXPECT_EQ((*volumes)[0].files.size(), 2u);
  EXPECT_EQ((*volumes)[0].files[0].mode, 0440);
  ASSERT_EQ((*volumes)[1].files.size(), 1u);
  EXPECT_EQ((*volumes)[1].files[0].path, ".ssh/id_rsa");
  EXPECT_EQ((*volumes)[1].files[0].content, "hush");
  EXPECT_EQ((*volumes)[1].files[0].mode, 0400);
  EXPECT_EQ((*volumes)[2].files[0].content, "a=\"1\"\nb=\"2\"");
  EXPECT_EQ((*volumes)[3].files.size(), 3u);
  EXPECT_TRUE((*volumes)[4].memory);
  EXPECT_EQ((*volumes)[4].bytes_max, 1 << 20);
}

TEST(Volumes, OfApiObjectsAreReadOnlyForContainers) {
  Fixture fixture;
  const Json pod = yaml(R"({metadata: {name: p, namespace: ns, uid: u}, spec: {
    volumes: [{name: m, configMap: {name: cm}}, {name: s, secret: {secretName: sec}}, {name: e, emptyDir: {}}],
    containers: [{name: c, image: i, volumeMounts: [{name: m, mountPath: /m}, {name: s, mountPath: /s},
      {name: e, mountPath: /e}, {name: e, mountPath: /r, readOnly: true}]}]}})");
  ContainerState state;
  state.name = "c";
  const auto spec = container_spec_for(pod, state, fixture.lookups);
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  std::string found;
  for (const MountSpec& mount : spec->mounts) found += mount.target + (mount.read_only ? " ro;" : " rw;");
  EXPECT_EQ(found, "/m ro;/s ro;/e rw;/r ro;");
}

// A thousand times a megabyte is more than a node has memory for.
TEST(Volumes, HoldNoMoreThanANodeKeepsInMemory) {
  Fixture fixture;
  Json large = yaml("{data: {}}");
  large.edit("data").set("k", std::string(1 << 20, 'x'));
  fixture.objects["ConfigMap/ns/large"] = large;
  Json items = Json::array();
  for (int i = 0; i < 1'000; ++i) items.push_back(Json::object({{"key", "k"}, {"path", base::format("f{}", i)}}));
  Json pod = yaml("{metadata: {name: p, namespace: ns}, spec: {volumes: [{name: v, configMap: {name: large}}]}}");
  EXPECT_TRUE(volumes_of(pod, fixture.lookups).ok());
  pod.edit("spec").edit("volumes").edit(std::size_t{0}).edit("configMap").set("items", items);
  const auto volumes = volumes_of(pod, fixture.lookups);
  ASSERT_FALSE(volumes.ok());
  EXPECT_EQ(volumes.error().message,
            "MountVolume.SetUp failed for volume \"v\" : path \"f31\": the files of all volumes together are more than "
            "33554432 bytes");
}

// A hundred thousand variables, and a text that begins as many references and ends none.
TEST(Environments, CostWhatTheyAreLong) {
  Fixture fixture;
  Json container = yaml("{name: c}");
  Json env = Json::array();
  for (int i = 0; i < 100'000; ++i) env.push_back(Json::object({{"name", base::format("V{}", i)}, {"value", "$(V1)"}}));
  std::string open;
  for (int i = 0; i < 60'000; ++i) open += "$(";
  env.push_back(Json::object({{"name", "OPEN"}, {"value", open}}));
  container.set("env", env);
  const auto made = environment_of(yaml("metadata: {namespace: ns}"), container, fixture.lookups);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->size(), 100'001u);
  EXPECT_EQ(made->back().second, open);
}

TEST(Volumes, TokensOfServiceAccountsAreLaidOutWhenTheyHaveCome) {
  Fixture fixture;
  const Json pod = yaml(R"(
metadata: {name: p, namespace: ns}
spec: {volumes: [{name: v, projected: {sources: [{serviceAccountToken: {path: token, audience: a}}]}}]}
)");
  EXPECT_EQ(volumes_of(pod, fixture.lookups).error().code, base::Code::kUnavailable);
  const std::string token = "t.o.k";
  fixture.lookups.token = [&token](const Json& source) {
    return source["audience"].as_string() == "a" ? &token : nullptr;
  };
  const auto volumes = volumes_of(pod, fixture.lookups);
  ASSERT_TRUE(volumes.ok()) << volumes.error().message;
  EXPECT_EQ((*volumes)[0].files[0].path, "token");
  EXPECT_EQ((*volumes)[0].files[0].content, token);
  EXPECT_TRUE((*volumes)[0].memory);  // as secrets are kept
}

TEST(Environments, SayWhereTheServerIs) {
  Fixture fixture;
  fixture.lookups.api_host = "10.200.0.1";
  fixture.lookups.api_port = 6443;
  const auto reported = environment_of(yaml("metadata: {namespace: ns}"),
                                       yaml("{env: [{name: A, value: $(KUBERNETES_SERVICE_HOST)}]}"), fixture.lookups);
  ASSERT_TRUE(reported.ok());
  EXPECT_EQ(reported->front(), (std::pair<std::string, std::string>{"KUBERNETES_SERVICE_HOST", "10.200.0.1"}));
  EXPECT_EQ(reported->back(), (std::pair<std::string, std::string>{"A", "10.200.0.1"}));
}

struct VolumeCase {
  const char* volume;
  const char* message;
};
TEST(Volumes, RefusesWhatCannotBeHad) {
  Fixture fixture;
  for (const VolumeCase& test :
       {VolumeCase{"configMap: {name: missing}",
                   "MountVolume.SetUp failed for volume \"v\" : configmap \"missing\" not found"},
        VolumeCase{"configMap: {name: cm, items: [{key: a, path: ../x}]}",
                   "MountVolume.SetUp failed for volume \"v\" : path \"../x\" leaves the volume"},
        VolumeCase{"projected: {sources: [{configMap: {name: cm, items: [{key: a, path: x/y/z}]}}, "
                   "{secret: {name: sec, items: [{key: pw, path: x/y}]}}]}",
                   "MountVolume.SetUp failed for volume \"v\" : path \"x/y/z\" lies below \"x/y\", which is a file of "
                   "the volume, too"},
        VolumeCase{"hostPath: {path: \"/tmp/a\\0b\"}",
                   "MountVolume.SetUp failed for volume \"v\" : path \"/tmp/a\\x00b\" contains a NUL character"},
        VolumeCase{"nfs: {server: s, path: /}", nullptr},
        VolumeCase{"persistentVolumeClaim: {claimName: c}",
                   "MountVolume.SetUp failed for volume \"v\" : persistentvolumeclaim \"c\" not found"}}) {
    const auto volumes = volumes_of(
        yaml("{metadata: {name: p, namespace: ns}, spec: {volumes: [{name: v, " + std::string(test.volume) + "}]}}"),
        fixture.lookups);
    ASSERT_FALSE(volumes.ok()) << test.volume;
    if (test.message != nullptr) {
      EXPECT_EQ(volumes.error().message, test.message);
    }
  }
}

TEST(Volumes, AClaimLeadsToItsVolumesFolder) {
  Fixture fixture;
  fixture.objects["PersistentVolumeClaim/ns/c"] =
      yaml("{metadata: {uid: u1}, spec: {volumeName: pv}, status: {phase: Bound}}");
  fixture.objects["PersistentVolume//pv"] = yaml("{spec: {claimRef: {uid: u1}, local: {path: /data/pv}}}");
  const auto volumes = [&fixture] {
    return volumes_of(yaml("{metadata: {name: p, namespace: ns}, spec: {volumes: [{name: v, persistentVolumeClaim: "
                           "{claimName: c}}]}}"),
                      fixture.lookups);
  };
  ASSERT_TRUE(volumes().ok());
  EXPECT_EQ(volumes()->front().host_path, "/data/pv");
  // The claim's own word is not enough.
  fixture.objects["PersistentVolume//pv"].edit("spec").edit("claimRef").set("uid", "u2");
  ASSERT_FALSE(volumes().ok());
  EXPECT_EQ(volumes().error().message,
            "MountVolume.SetUp failed for volume \"v\" : persistentvolume \"pv\" is not bound to PVC ns/c");
}

struct NamesOf {
  Json headless = yaml(
      "{metadata: {name: job, namespace: ns}, spec: {clusterIP: None, selector: {j: x}, publishNotReadyAddresses: "
      "true, ports: [{name: http, port: 80}]}}");
  Json web = yaml(
      "{metadata: {name: web, namespace: ns}, spec: {clusterIP: 10.96.0.9, selector: {j: x}, ports: [{name: http, "
      "port: "
      "80}, {name: dns, port: 53, protocol: UDP}]}}");
  Json slice_of(std::string_view service) {
    return yaml("{metadata: {name: s, namespace: ns, labels: {kubernetes.io/service-name: " + std::string(service) +
                "}}, addressType: IPv4, ports: [{name: http, port: 8080, protocol: TCP}], endpoints: [{addresses: "
                "[10.0.0.2], hostname: job-w-0}, {addresses: [10.0.0.3]}, {addresses: [10.0.0.5], conditions: {ready: "
                "false}}]}");
  }
  Json of_job = slice_of("job"), of_web = slice_of("web");
  Json pod =
      yaml("{metadata: {name: job-w-1, namespace: ns, labels: {j: x}}, spec: {hostname: job-w-1, subdomain: job}}");
  NameTable table(bool addresses_answer) {
    return name_table({{&headless, &web}, {&of_job, &of_web}, {{&pod, "10.0.0.4"}}, addresses_answer});
  }
};

TEST(Names, ServicesAndTheirPodsHaveNames) {
  const NameTable names = NamesOf().table(true);
  const auto addresses = [&](const char* name) { return names.addresses.at(std::string(name) + ".svc.cluster.local"); };
  EXPECT_EQ(addresses("job.ns"), (std::vector<std::string>{"10.0.0.2", "10.0.0.3", "10.0.0.4"}));
  EXPECT_EQ(addresses("job-w-0.job.ns"), (std::vector<std::string>{"10.0.0.2"}));
  EXPECT_EQ(addresses("10-0-0-3.job.ns"), (std::vector<std::string>{"10.0.0.3"}));
  EXPECT_EQ(addresses("job-w-1.job.ns"), (std::vector<std::string>{"10.0.0.4"}));
  EXPECT_EQ(addresses("web.ns"), (std::vector<std::string>{"10.96.0.9"}));
}

TEST(Names, LeadToPodsWhereNothingAnswersAtTheAddressesOfServices) {
  EXPECT_EQ(NamesOf().table(false).addresses.at("web.ns.svc.cluster.local"),
            (std::vector<std::string>{"10.0.0.2", "10.0.0.3"}));
}

TEST(Names, NamedPortsHavePlaces) {
  const NameTable names = NamesOf().table(true);
  EXPECT_EQ(names.places.at("_http._tcp.web.ns.svc.cluster.local"),
            (std::vector<ServicePlace>{{"web.ns.svc.cluster.local", 80}}));
  EXPECT_EQ(names.places.at("_dns._udp.web.ns.svc.cluster.local"),
            (std::vector<ServicePlace>{{"web.ns.svc.cluster.local", 53}}));
  EXPECT_EQ(names.places.at("_http._tcp.job.ns.svc.cluster.local"),
            (std::vector<ServicePlace>{{"job-w-0.job.ns.svc.cluster.local", 8080},
                                       {"10-0-0-3.job.ns.svc.cluster.local", 8080}}));
}

TEST(Environments, HaveTheVariablesOfServices) {
  Fixture fixture;
  fixture.lookups.api_host = "10.200.0.1";
  fixture.lookups.api_port = 6443;
  const Json own = yaml(
      "{metadata: {name: kubernetes, namespace: default}, spec: {clusterIP: 10.96.0.1, ports: [{name: https, port: "
      "443}]}}");
  const Json web = yaml(
      "{metadata: {name: my-web, namespace: ns}, spec: {clusterIP: 10.96.0.9, ports: [{name: a-b, port: 80}, {name: d, "
      "port: 53, protocol: UDP}]}}");
  fixture.lookups.services = {&own, &web};
  const auto reported = environment_of(yaml("metadata: {namespace: ns}"), yaml("{env: []}"), fixture.lookups);
  ASSERT_TRUE(reported.ok());
  std::string text;
  for (const auto& [name, value] : *reported) text += name + "=" + value + "\n";
  EXPECT_EQ(text,
            "KUBERNETES_SERVICE_HOST=10.96.0.1\nKUBERNETES_SERVICE_PORT=443\nKUBERNETES_SERVICE_PORT_HTTPS=443\n"
            "KUBERNETES_PORT=tcp://10.96.0.1:443\nKUBERNETES_PORT_443_TCP=tcp://10.96.0.1:443\n"
            "KUBERNETES_PORT_443_TCP_PROTO=tcp\nKUBERNETES_PORT_443_TCP_PORT=443\n"
            "KUBERNETES_PORT_443_TCP_ADDR=10.96.0.1\n"
            "MY_WEB_SERVICE_HOST=10.96.0.9\nMY_WEB_SERVICE_PORT=80\nMY_WEB_SERVICE_PORT_A_B=80\n"
            "MY_WEB_SERVICE_PORT_D=53\nMY_WEB_PORT=tcp://10.96.0.9:80\nMY_WEB_PORT_80_TCP=tcp://10.96.0.9:80\n"
            "MY_WEB_PORT_80_TCP_PROTO=tcp\nMY_WEB_PORT_80_TCP_PORT=80\nMY_WEB_PORT_80_TCP_ADDR=10.96.0.9\n"
            "MY_WEB_PORT_53_UDP=udp://10.96.0.9:53\nMY_WEB_PORT_53_UDP_PROTO=udp\nMY_WEB_PORT_53_UDP_PORT=53\n"
            "MY_WEB_PORT_53_UDP_ADDR=10.96.0.9\n");
  const auto on_host = environment_of(yaml("{metadata: {namespace: ns}, spec: {hostNetwork: true}}"), yaml("{env: []}"),
                                      fixture.lookups);
  EXPECT_EQ(on_host->front().second, "10.200.0.1");
}

TEST(ImageNames, HaveOneNormalForm) {
  const std::pair<const char*, const char*> cases[] = {{"nginx", "docker.io/library/nginx:latest"},
                                                       {"nginx:1.2", "docker.io/library/nginx:1.2"},
                                                       {"team/app", "docker.io/team/app:latest"},
                                                       {"docker.io/nginx", "docker.io/library/nginx:latest"},
                                                       {"localhost/app", "localhost/app:latest"},
                                                       {"127.0.0.1:5000/app", "127.0.0.1:5000/app:latest"},
                                                       {"registry.example/a/b:0.0.1", "registry.example/a/b:0.0.1"},
                                                       {"nginx@sha256:ab", "docker.io/library/nginx@sha256:ab"}};
  for (const auto& [name, normal] : cases) EXPECT_EQ(normal_image_name(name), normal);
}

TEST(PodSpecs, a_pod_may_take_what_it_takes_at_its_most_demanding_moment) {
  struct Case {
    std::string_view containers, init_containers, overhead;
    std::int64_t cpu_request, cpu_limit, memory_mi;
  };
  const auto one = [](std::string_view cpu, std::string_view memory, bool sidecar) {
    return base::format(R"({{"name":"c","resources":{{"limits":{{"cpu":"{}","memory":"{}"}}}}{}}})", cpu, memory,
                        sidecar ? R"(,"restartPolicy":"Always")" : "");
  };
  const std::string small = one("1", "512Mi", false), large = one("4", "2Gi", false), side = one("1", "512Mi", true);
  const std::string free = R"({"name":"c","resources":{"requests":{"cpu":"2"}}})";
  const Case kCases[] = {
      {small, "", "", 1000, 1000, 512},
      {small, side, "", 2000, 2000, 1024},          // both run at once
      {small, large, "", 4000, 4000, 2048},         // one after the other
      {small, "SIDE,LARGE", "", 5000, 5000, 2560},  // the step runs beside the sidecar
      {small, "LARGE,SIDE", "", 4000, 4000, 2048},  // and here before it
      {free, side, "", 3000, 0, 0},                 // who has no limit may take all
      {small, side, R"("cpu":"500m","memory":"128Mi")", 2500, 2500, 1152},
  };
  for (const Case& row : kCases) {
    std::string init(row.init_containers);
    if (init == "SIDE,LARGE") init = side + "," + large;
    if (init == "LARGE,SIDE") init = large + "," + side;
    const auto pod = api::parse_json(base::format(
        R"({{"metadata":{{"name":"p","namespace":"n","uid":"u"}},"spec":{{"containers":[{}],"initContainers":[{}],"overhead":{{{}}}}}}})",
        row.containers, init, row.overhead));
    ASSERT_TRUE(pod.ok());
    const SandboxSpec spec = sandbox_spec(*pod);
    EXPECT_EQ(spec.cpu_request_milli, row.cpu_request) << init;
    EXPECT_EQ(spec.cpu_limit_milli, row.cpu_limit) << init;
    EXPECT_EQ(spec.memory_limit_bytes, row.memory_mi << 20) << init;
  }
}

TEST(PodSpecs, what_a_pod_asks_for_as_a_whole_holds_it_and_its_containers) {
  const auto pod = api::parse_json(
      R"({"metadata":{"name":"p","namespace":"n","uid":"u"},"spec":{"overhead":{"cpu":"100m"},
          "resources":{"requests":{"cpu":"1","memory":"2Gi"},"limits":{"cpu":"2","memory":"4Gi"}},
          "containers":[{"name":"own","resources":{"requests":{"memory":"1Gi"},"limits":{"memory":"1Gi"}}},{"name":"none"}]}})");
  ASSERT_TRUE(pod.ok());
  const SandboxSpec spec = sandbox_spec(*pod);
  EXPECT_EQ(spec.cpu_request_milli, 1100);
  EXPECT_EQ(spec.cpu_limit_milli, 2100);
  EXPECT_EQ(spec.memory_limit_bytes, std::int64_t{4} << 30);
  const api::Json &own = (*pod)["spec"]["containers"][std::size_t{0}],
                  &none = (*pod)["spec"]["containers"][std::size_t{1}];
  EXPECT_EQ(effective_resources(*pod, own)["limits"].dump(), R"({"memory":"1Gi","cpu":"2"})");
  EXPECT_EQ(effective_resources(*pod, none)["limits"].dump(), R"({"cpu":"2","memory":"4Gi"})");
  // The gibibyte that no container asks for is shared.
  const api::ResourceList node = api::resource_list_from(*api::parse_json(R"({"memory":"8Gi"})"));
  EXPECT_EQ(oom_score_adjustment(*pod, own, node), 812);
  EXPECT_EQ(oom_score_adjustment(*pod, none, node), 937);
}

}  // namespace
}  // namespace node

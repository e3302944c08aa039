// Notebooks against the specification (kubeflow.md 2.2), line by line.
#include "controllers/notebooks/notebook.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "api/kubeflow/v1/notebook.h"
#include "base/format.h"
#include "controllers/framework/trial_for_tests.h"
#include "controllers/notebooks/notebook_events.h"
#include "controllers/notebooks/notebook_objects.h"

namespace controllers::notebooks {
namespace {

using api::Json;
namespace resources = api::resources;

const std::string kKey = "ns/nb";
const api::ResourceId kVirtualServices{"networking.istio.io", "v1", "virtualservices"};

Json notebook_of(std::string_view patch = "{}") {
  Json notebook = *api::parse_json(R"({"apiVersion": "kubeflow.org/v1", "kind": "Notebook",
      "metadata": {"name": "nb", "namespace": "ns", "uid": "n"},
      "spec": {"template": {"spec": {"containers": [{"name": "nb", "image": "i"}]}}}})");
  merge_patch(notebook, *api::parse_json(patch));
  return notebook;
}

struct Bench {
  explicit Bench(std::string_view patch = "{}", Options options = {})
      : controller(make_notebook_controller(std::move(options))) {
    world.use_indexes_of(*controller);
    world.put(resources::kNotebooks, notebook_of(patch));
  }
  std::string turn() { return world.turn(*controller, kKey); }
  void settle() {
    for (int i = 0; i < 6; ++i) turn();
  }
  const Json& set() const { return *world.find(resources::kStatefulSets, kKey); }
  const Json& status() const { return (*world.find(resources::kNotebooks, kKey))["status"]; }
  const Json& server() const { return set()["spec"]["template"]["spec"]["containers"][std::size_t{0}]; }
  void put_pod(std::string_view status) {
    world.put_text(resources::kPods,
                   base::format(R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "nb-0", "namespace": "ns",
        "uid": "p", "labels": {{"notebook-name": "nb"}}, "ownerReferences": [{{"apiVersion": "apps/v1", "kind":
        "StatefulSet", "name": "nb", "uid": "{}", "controller": true}}]}}, "spec": {{"nodeName": "n1"}}, "status": {}}})",
                                api::uid_of(set()), status));
  }

  TestWorld world;
  std::unique_ptr<Controller> controller;
};

TEST(Notebook, a_stateful_set_and_a_service_are_its_own) {
  Bench bench;
  bench.settle();
  EXPECT_EQ(bench.set()["spec"]["replicas"].as_int(), 1);
  EXPECT_EQ(bench.set()["spec"]["selector"].dump(), R"({"matchLabels":{"statefulset":"nb"}})");
  EXPECT_EQ(bench.set()["spec"]["template"]["metadata"]["labels"].dump(),
            R"({"statefulset":"nb","notebook-name":"nb"})");
  EXPECT_EQ(api::controller_of(bench.set())["uid"].as_string(), "n");
  const Json& service = *bench.world.find(resources::kServices, kKey);
  EXPECT_EQ(
      service["spec"].dump(),
      R"({"type":"ClusterIP","selector":{"statefulset":"nb"},"ports":[{"name":"http-nb","port":80,"protocol":"TCP","targetPort":8888}]})");
  EXPECT_EQ(api::controller_of(service)["uid"].as_string(), "n");
  EXPECT_EQ(bench.turn(), "") << "nothing is written twice";
}

TEST(Notebook, the_first_container_is_completed) {
  struct Row {
    const char* patch;
    const char* server;  // what its container says
    const char* pod;     // its security context
  };
  const Row rows[] = {
      {"{}",
       R"({"name":"nb","image":"i","workingDir":"/home/jovyan","ports":[{"containerPort":8888,"name":"notebook-port","protocol":"TCP"}],"env":[{"name":"NB_PREFIX","value":"/notebook/ns/nb"}]})",
       R"({"fsGroup":100})"},
      {R"({"spec":{"template":{"spec":{"securityContext":{"runAsUser":7},"containers":[{"name":"nb","image":"i","workingDir":"/w","ports":[{"containerPort":9}],"env":[{"name":"NB_PREFIX","value":"/x"}]}]}}}})",
       R"({"name":"nb","image":"i","workingDir":"/w","ports":[{"containerPort":9}],"env":[{"name":"NB_PREFIX","value":"/x"}]})",
       R"({"runAsUser":7})"},
      {R"({"spec":{"template":{"spec":{"containers":[{"name":"nb","image":"i","env":[{"name":"A","value":"b"}]},{"name":"side","image":"s"}]}}}})",
       R"({"name":"nb","image":"i","env":[{"name":"A","value":"b"},{"name":"NB_PREFIX","value":"/notebook/ns/nb"}],"workingDir":"/home/jovyan","ports":[{"containerPort":8888,"name":"notebook-port","protocol":"TCP"}]})",
       R"({"fsGroup":100})"}};
  for (const Row& row : rows) {
    Bench bench(row.patch);
    bench.settle();
    EXPECT_EQ(bench.server().sorted().dump(), api::parse_json(row.server)->sorted().dump());
    EXPECT_EQ(bench.set()["spec"]["template"]["spec"]["securityContext"].dump(), row.pod);
  }
  Bench without("{}", {.adds_fs_group = false});
  without.settle();
  EXPECT_TRUE(without.set()["spec"]["template"]["spec"]["securityContext"].is_null());
}

TEST(Notebook, pods_of_its_namespace_reach_it_where_it_is_to_be_isolated) {
  Bench bench("{}", {.isolates = true});
  bench.settle();
  const Json* policy = bench.world.find(resources::kNetworkPolicies, "ns/notebook-nb");
  ASSERT_NE(policy, nullptr);
  EXPECT_EQ(
      (*policy)["spec"].dump(),
      R"({"podSelector":{"matchLabels":{"notebook-name":"nb"}},"policyTypes":["Ingress"],"ingress":[{"from":[{"podSelector":{}}]}]})");
  EXPECT_EQ(api::controller_of(*policy)["uid"].as_string(), "n");
  EXPECT_EQ(bench.turn(), "") << "nothing is written twice";
  bench.world.edit(resources::kNetworkPolicies, "ns/notebook-nb")
      ->edit("spec")
      .set("ingress", Json::array({Json::object()}));
  bench.settle();
  EXPECT_EQ((*bench.world.find(resources::kNetworkPolicies, "ns/notebook-nb"))["spec"]["ingress"].dump(),
            R"([{"from":[{"podSelector":{}}]}])");
  Bench open;
  open.settle();
  EXPECT_EQ(open.world.find(resources::kNetworkPolicies, "ns/notebook-nb"), nullptr);
}

TEST(Notebook, its_service_leads_to_the_first_port) {
  Bench bench(
      R"({"spec":{"template":{"spec":{"containers":[{"name":"nb","image":"i","ports":[{"containerPort":9},{"containerPort":8}]}]}}}})");
  bench.settle();
  EXPECT_EQ((*bench.world.find(resources::kServices, kKey))["spec"]["ports"][std::size_t{0}]["targetPort"].as_int(), 9);
}

TEST(Notebook, labels_and_annotations_reach_the_pod) {
  Bench bench(R"({"metadata":{"labels":{"app":"nb","statefulset":"other"},"annotations":{
      "kubectl.kubernetes.io/last-applied-configuration":"{}","notebooks.kubeflow.org/server-type":"jupyter",
      "scheduling.volcano.sh/queue-name":"q"}}})");
  bench.settle();
  const Json& metadata = bench.set()["spec"]["template"]["metadata"];
  EXPECT_EQ(metadata["labels"].dump(), R"({"app":"nb","statefulset":"nb","notebook-name":"nb"})");
  EXPECT_EQ(metadata["annotations"].dump(), R"({"scheduling.volcano.sh/queue-name":"q"})");
}

TEST(Notebook, a_stopped_one_has_no_pod_and_starts_again) {
  Bench bench;
  bench.settle();
  Json* notebook = bench.world.edit(resources::kNotebooks, kKey);
  notebook->edit("metadata").edit("annotations").set(kStopped, "");
  bench.settle();
  EXPECT_EQ(bench.set()["spec"]["replicas"].as_int(7), 0);
  EXPECT_TRUE(bench.set()["spec"]["template"]["metadata"]["annotations"].empty());
  bench.world.edit(resources::kNotebooks, kKey)->edit("metadata").edit("annotations").erase(kStopped);
  bench.settle();
  EXPECT_EQ(bench.set()["spec"]["replicas"].as_int(), 1);
}

TEST(Notebook, its_status_is_the_pods) {
  Bench bench;
  bench.settle();
  EXPECT_EQ(bench.status().dump(), R"({"conditions":[],"readyReplicas":0,"containerState":{}})");
  bench.put_pod(R"({"phase": "Running", "conditions": [{"type": "Ready", "status": "True",
      "lastTransitionTime": "2026-01-01T00:00:00Z"}, {"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
      "message": "no room"}], "containerStatuses": [{"name": "side", "state": {"waiting": {}}},
      {"name": "nb", "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}]})");
  bench.world.edit(resources::kStatefulSets, kKey)->set("status", Json::object({{"readyReplicas", 1}}));
  bench.settle();
  const std::string now = base::format_rfc3339(bench.world.now);
  EXPECT_EQ(bench.status()["readyReplicas"].as_int(), 1);
  EXPECT_EQ(bench.status()["containerState"].dump(), R"({"running":{"startedAt":"2026-01-01T00:00:00Z"}})");
  EXPECT_EQ(
      bench.status()["conditions"].dump(),
      base::format(
          R"([{{"type":"Ready","status":"True","lastProbeTime":"{0}","lastTransitionTime":"2026-01-01T00:00:00Z"}},)"
          R"({{"type":"PodScheduled","status":"False","lastProbeTime":"{0}","lastTransitionTime":"{0}",)"
          R"("reason":"Unschedulable","message":"no room"}}])",
          now));
  bench.world.now = bench.world.now + base::minutes(5);
  EXPECT_EQ(bench.turn(), "") << "a time that nobody said stays";
  bench.world.erase(resources::kPods, "ns/nb-0");
  bench.settle();
  EXPECT_EQ(bench.status()["containerState"].dump(), "{}");
}

TEST(Notebook, the_pod_of_somebody_else_is_not_its_own) {
  Bench bench;
  bench.settle();
  bench.world.put_text(resources::kPods, R"({"kind": "Pod", "metadata": {"name": "nb-0", "namespace": "ns", "uid": "x",
      "labels": {"notebook-name": "nb"}}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}})");
  bench.settle();
  EXPECT_EQ(bench.status()["conditions"].dump(), "[]");
}

TEST(Notebook, a_restart_removes_the_pod_once) {
  Bench bench;
  bench.settle();
  bench.put_pod("{}");
  bench.world.edit(resources::kNotebooks, kKey)
      ->edit("metadata")
      .edit("annotations")
      .set("notebooks.volcano.sh/restart", "true");
  const std::string plan = bench.turn();
  EXPECT_NE(plan.find("delete"), std::string::npos) << plan;
  bench.settle();
  EXPECT_EQ(api::annotation_of(*bench.world.find(resources::kNotebooks, kKey), "notebooks.volcano.sh/restart"), "");
}

TEST(Notebook, changes_reach_the_stateful_set_and_defaults_of_a_server_do_not_count) {
  Bench bench(R"({"spec":{"template":{"spec":{"nodeSelector":{"a":"b"},"containers":[{"name":"nb","image":"i",
      "resources":{"limits":{"cpu":"1000m"}}}]}}}})");
  bench.settle();
  Json& spec = bench.world.edit(resources::kStatefulSets, kKey)->edit_path({"spec", "template", "spec"});
  spec.set("schedulerName", "default-scheduler");
  spec.edit("containers").edit(std::size_t{0}).set("imagePullPolicy", "Always");
  spec.edit("containers").edit(std::size_t{0}).edit_path({"resources", "limits"}).set("cpu", "1");
  EXPECT_EQ(bench.turn(), "") << "these were filled in";
  bench.world.edit(resources::kStatefulSets, kKey)->edit("spec").set("replicas", 5);
  bench.settle();
  EXPECT_EQ(bench.set()["spec"]["replicas"].as_int(), 1) << "somebody else scaled it";
  bench.world.edit(resources::kNotebooks, kKey)->edit_path({"spec", "template", "spec"}).erase("nodeSelector");
  bench.settle();
  EXPECT_TRUE(bench.set()["spec"]["template"]["spec"]["nodeSelector"].is_null());
}

TEST(Notebook, names_and_strangers_in_the_way_are_said_once) {
  Bench bench;
  bench.world.put_text(resources::kStatefulSets,
                       R"({"kind": "StatefulSet", "metadata": {"name": "nb", "namespace": "ns"},
      "spec": {"replicas": 3}})");
  bench.settle();
  EXPECT_EQ(bench.set()["spec"]["replicas"].as_int(), 3);
  EXPECT_EQ(bench.status()["conditions"][std::size_t{0}]["type"].as_string(), "Refused");
  EXPECT_EQ(std::ranges::count_if(bench.world.events, [](const auto& e) { return e.starts_with("NameTaken"); }), 1);

  TestWorld world;
  auto controller = make_notebook_controller({});
  world.use_indexes_of(*controller);
  Json notebook = notebook_of();
  const std::string name(53, 'a');
  notebook.edit("metadata").set("name", name);
  world.put(resources::kNotebooks, std::move(notebook));
  for (int i = 0; i < 4; ++i) world.turn(*controller, "ns/" + name);
  EXPECT_TRUE(world.all(resources::kStatefulSets).empty());
  ASSERT_EQ(world.events.size(), 1U);
  EXPECT_NE(world.events.front().find("has 53 letters"), std::string::npos) << world.events.front();
}

TEST(Notebook, a_virtual_service_where_that_is_a_kind) {
  Bench bench(R"({"metadata":{"annotations":{"notebooks.kubeflow.org/http-rewrite-uri":"/",
      "notebooks.kubeflow.org/http-headers-request-set":"{\"X-RStudio-Root-Path\": \"/x\"}"}}})");
  bench.settle();
  EXPECT_TRUE(bench.world.all(kVirtualServices).empty());
  api::KindInfo kind;
  kind.resource = kVirtualServices;
  kind.kind = "VirtualService";
  bench.controller->kind_comes(kind);
  bench.settle();
  const Json* found = bench.world.find(kVirtualServices, "ns/notebook-ns-nb");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(
      (*found)["spec"].dump(),
      R"({"hosts":["*"],"gateways":["kubeflow/kubeflow-gateway"],"http":[{"headers":{"request":{"set":{"X-RStudio-Root-Path":"/x"}}},)"
      R"("match":[{"uri":{"prefix":"/notebook/ns/nb/"}}],"rewrite":{"uri":"/"},"route":[{"destination":{"host":)"
      R"("nb.ns.svc.cluster.local","port":{"number":80}}}],"timeout":"300s"}]})");
  bench.world.edit(resources::kNotebooks, kKey)
      ->edit_path({"metadata", "annotations"})
      .set("notebooks.kubeflow.org/http-headers-request-set", "no JSON");
  bench.settle();
  EXPECT_EQ(
      (*bench.world.find(kVirtualServices, "ns/notebook-ns-nb"))["spec"]["http"][std::size_t{0}]["headers"].dump(),
      R"({"request":{"set":{}}})");
  EXPECT_EQ(bench.turn(), "");
}

TEST(Notebook, nothing_is_done_for_one_that_goes) {
  Bench bench(R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}})");
  EXPECT_EQ(bench.turn(), "");
  EXPECT_TRUE(bench.world.all(resources::kStatefulSets).empty());
}

TEST(Notebook, events_of_its_set_and_pod_are_told_again) {
  Bench bench;
  bench.settle();
  bench.put_pod("{}");
  auto events = make_notebook_event_controller();
  const auto notified = [&](std::string_view name, std::string_view about, base::Time at) {
    bench.world.events.clear();
    bench.world.put_text(resources::kEvents,
                         base::format(R"({{"apiVersion": "v1", "kind": "Event", "metadata": {{"name": "{}", "namespace":
        "ns"}}, "type": "Warning", "reason": "FailedScheduling", "message": "no room", "involvedObject": {},
        "lastTimestamp": "{}"}})",
                                      name, about, base::format_rfc3339(at)));
    const Json& event = *bench.world.find(resources::kEvents, base::format("ns/{}", name));
    if (notebook_of_event(bench.world, event).empty()) return std::string("not its own");
    for (int i = 0; i < 3; ++i) bench.world.turn(*events, base::format("ns/{}", name));
    return bench.world.events.empty() ? std::string("silent") : bench.world.events.front();
  };
  EXPECT_EQ(notified("a", R"({"kind": "Pod", "name": "nb-0"})", bench.world.now),
            "FailedScheduling: Reissued from pod/nb-0: no room");
  EXPECT_EQ(notified("b", R"({"kind": "StatefulSet", "name": "nb"})", bench.world.now),
            "FailedScheduling: Reissued from statefulset/nb: no room");
  EXPECT_EQ(notified("c", R"({"kind": "StatefulSet", "name": "other"})", bench.world.now), "not its own");
  EXPECT_EQ(notified("d", R"({"kind": "Notebook", "name": "nb"})", bench.world.now), "not its own");
  EXPECT_EQ(notified("e", R"({"kind": "Pod", "name": "nb-0"})", bench.world.now - base::hours(1)), "silent");
}

TEST(Notebook, comes_to_rest_whatever_fails) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Trial trial(seed, [] { return make_notebook_controller({}); });
    trial.world.put(resources::kNotebooks, notebook_of());
    for (int round = 0; round < 20; ++round) trial.look(kKey);
    EXPECT_TRUE(trial.comes_to_rest(kKey)) << seed;
    EXPECT_NE(trial.world.find(resources::kStatefulSets, kKey), nullptr) << seed;
    EXPECT_NE(trial.world.find(resources::kServices, kKey), nullptr) << seed;
  }
}

}  // namespace
}  // namespace controllers::notebooks

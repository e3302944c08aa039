// The objects that may be changed, deleted and asked for: namespaces, subresources, options in the address, fields that
// are fixed.
#include <gtest/gtest.h>

#include "api/schema/patch.h"
#include "api/schema/unwritten.h"
#include "apiserver/http/route.h"
#include "apiserver/kinds/strategy.h"
#include "apiserver/pipeline/api_for_tests.h"
#include "base/format.h"

namespace apiserver {
namespace {

using api::Json;
using base::Code;
namespace resources = api::resources;

constexpr std::optional<Code> kOk = {};

Json parse(std::string_view text) { return *api::parse_json(text); }

struct Bench : ApiForTests {
  // A request as HTTP would make it; the error's code and message, or the object.
  base::Result<Json> ask(std::string method, std::string target, std::string_view body = "",
                         std::string type = "application/json") {
    rt::HttpRequest http;
    http.method = std::move(method);
    http.target = std::move(target);
    http.headers = {{"Content-Type", std::move(type)}};
    http.body = body;
    TRY(auto routed, route(http, rt::parse_target(http.target)));
    CHECK(routed.has_value());
    TRY_VOID(decode_body(http, *routed));
    routed->default_manager = "test";
    std::optional<base::Result<Answer>> answer;
    api.call(*std::move(routed), [&](base::Result<Answer> a) { answer.emplace(std::move(a)); });
    env.settle();
    TRY(Answer got, *std::move(answer));
    return object_of(std::move(got));
  }
  std::optional<Code> code(std::string method, std::string target, std::string_view body = "",
                           std::string type = "application/json") {
    const auto answer = ask(std::move(method), std::move(target), body, std::move(type));
    return answer.ok() ? kOk : std::optional(answer.error().code);
  }
};

constexpr const char* kMerge = "application/merge-patch+json";
constexpr const char* kPods = "/api/v1/namespaces/default/pods";
constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
constexpr std::string_view kPod = R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"x"}]}})";

// kubectl shows the message of an invalid request only where no object is named, and what was wrong is in it.
TEST(Patches, that_cannot_be_applied_say_why_to_who_uses_kubectl) {
  Bench b;
  ASSERT_EQ(b.code("POST", kMaps, R"({"metadata":{"name":"m"},"data":{"k":"v"}})"), kOk);
  const auto answer = b.ask("PATCH", std::string(kMaps) + "/m", R"([{"op":"remove","path":"/data/nope"}])",
                            "application/json-patch+json");
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kInvalid);
  EXPECT_EQ(answer.error().kind + answer.error().name, "");
  EXPECT_NE(answer.error().message.find("operation 0, remove of /data/nope"), std::string::npos);
}

TEST(EphemeralContainers, are_added_to_a_pod_and_stay) {
  Bench b;
  constexpr const char* kStrategic = "application/strategic-merge-patch+json";
  const std::string pod = std::string(kPods) + "/p", sub = pod + "/ephemeralcontainers";
  const auto container_patch = [](std::string_view container) {
    return base::format(R"({{"spec":{{"containers":[{{"name":"c","image":"changed"}}],"ephemeralContainers":[{}]}}}})",
                        container);
  };
  EXPECT_EQ(
      b.code(
          "POST", kPods,
          R"({"metadata":{"name":"q"},"spec":{"containers":[{"name":"c","image":"x"}],"ephemeralContainers":[{"name":"d","image":"y"}]}})"),
      Code::kInvalid);
  ASSERT_EQ(b.code("POST", kPods, kPod), kOk);
  EXPECT_EQ(b.code("PATCH", pod, container_patch(R"({"name":"d","image":"y"})"), kStrategic), Code::kInvalid)
      << "of the pod";
  auto got = b.ask("PATCH", sub,
                   container_patch(R"({"name":"d","image":"y","stdin":true,"tty":true,"targetContainerName":"c"})"),
                   kStrategic);
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ((*got)["spec"]["containers"][std::size_t{0}]["image"].as_string(), "x")
      << "the rest of the pod is not of this subresource";
  EXPECT_EQ((*got)["spec"]["ephemeralContainers"][std::size_t{0}]["terminationMessagePolicy"].as_string(), "File");
  const std::pair<std::string_view, std::string_view> bad[] = {
      {R"({"name":"c","image":"y"})", "Duplicate value: \"c\""},
      {R"({"name":"D","image":"y"})", "a lowercase RFC 1123 label"},
      {R"({"name":"e"})", "image: Required value"},
      {R"({"name":"e","image":"y","targetContainerName":"none"})", "targetContainerName: Not found: \"none\""},
      {R"({"name":"e","image":"y","ports":[{"containerPort":80}]})",
       "ports: Forbidden: cannot be set for an Ephemeral Container"},
      {R"({"name":"e","image":"y","livenessProbe":{"exec":{"command":["true"]}}})", "livenessProbe: Forbidden"},
      {R"({"name":"e","image":"y","resources":{"limits":{"cpu":"1"}}})", "resources: Forbidden"},
      {R"({"name":"e","image":"y","restartPolicy":"Always"})", "restartPolicy: Forbidden"},
      {R"({"name":"e","image":"y","volumeMounts":[{"name":"v","mountPath":"/v"}]})", "Not found: \"v\""},
      {R"({"name":"d","image":"z"})", "existing ephemeral containers \"d\" may not be changed"},
  };
  for (const auto& [container, message] : bad) {
    const auto refused = b.ask("PATCH", sub, container_patch(container), kStrategic);
    ASSERT_FALSE(refused.ok()) << container;
    EXPECT_NE(refused.error().message.find(message), std::string::npos) << refused.error().message;
  }
  const auto gone = b.ask("PATCH", sub, R"({"spec":{"ephemeralContainers":null}})", kMerge);
  ASSERT_FALSE(gone.ok());
  EXPECT_NE(gone.error().message.find("may not be removed"), std::string::npos) << gone.error().message;
  got = b.ask("GET", sub);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ((*got)["kind"].as_string(), "Pod");
  Json whole = *got;
  whole.edit("spec").edit("ephemeralContainers").push_back(parse(R"({"name":"e","image":"y"})"));
  whole.edit("spec").set("priority", 7);
  got = b.ask("PUT", sub, whole.dump());
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ((*got)["spec"]["ephemeralContainers"].size(), 2u);
  EXPECT_EQ((*got)["spec"]["priority"].as_int(), 0);
  EXPECT_EQ(b.code("PUT", sub, whole.dump()), Code::kConflict) << "the version is old";
}

TEST(Scale, is_read_and_written_in_its_object) {
  Bench b;
  const std::string jobs = "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs";
  const std::string scale = jobs + "/j/scale";
  ASSERT_EQ(
      b.code("POST", jobs, R"({"metadata":{"name":"j"},"spec":{"pytorchReplicaSpecs":{"Worker":{"replicas":2}}}})"),
      kOk);
  ASSERT_EQ(b.code("PATCH", jobs + "/j/status",
                   R"({"status":{"replicaStatuses":{"Worker":{"active":1,"selector":"a=b"}}}})", kMerge),
            kOk);
  auto got = b.ask("GET", scale);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ((*got)["kind"].as_string(), "Scale");
  EXPECT_EQ((*got)["apiVersion"].as_string(), "autoscaling/v1");
  EXPECT_EQ((*got)["spec"].dump(), R"({"replicas":2})");
  EXPECT_EQ((*got)["status"].dump(), R"({"replicas":1,"selector":"a=b"})");
  const auto patched = b.ask("PATCH", scale, R"({"spec":{"replicas":3}})", kMerge);
  ASSERT_TRUE(patched.ok()) << patched.error().message;
  EXPECT_EQ((*patched)["spec"]["replicas"].as_int(), 3);
  EXPECT_EQ(b.code("PUT", scale, got->dump()), Code::kConflict);  // it is of the time before
  got->edit("metadata").erase("resourceVersion");
  got->edit("spec").set("replicas", 0);
  EXPECT_EQ(b.code("PUT", scale, got->dump()), kOk);
  const auto job = b.ask("GET", jobs + "/j");
  EXPECT_EQ((*job)["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"].dump(), "0");
  EXPECT_EQ((*job)["metadata"]["generation"].as_int(), 3);
  for (const char* wrong : {R"({"spec":{"replicas":-1}})", R"({"spec":{"replicas":"two"}})", R"({"spec":7})"})
    EXPECT_NE(b.code("PATCH", scale, wrong, kMerge), kOk) << wrong;
  EXPECT_EQ(b.code("PATCH", jobs + "/none/scale", "{}", kMerge), Code::kNotFound);
  ASSERT_EQ(b.code("POST", jobs, R"({"metadata":{"name":"m"},"spec":{"pytorchReplicaSpecs":{}}})"), kOk);
  EXPECT_EQ(b.code("PATCH", jobs + "/m/scale", R"({"spec":{"replicas":1}})", kMerge), Code::kInvalid);
  EXPECT_EQ(b.code("GET", "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/j/scale"), Code::kNotFound);
}

TEST(Namespaces, that_end_stay_until_their_finalizers_are_gone) {
  Bench b;
  const std::string space = "/api/v1/namespaces/n";
  ASSERT_EQ(b.code("POST", "/api/v1/namespaces", R"({"metadata":{"name":"n"}})"), kOk);
  ASSERT_EQ(b.code("DELETE", space), kOk);
  ASSERT_EQ(b.code("PATCH", space, R"({"metadata":{"labels":{"a":"b"}}})", kMerge), kOk);
  ASSERT_EQ(b.code("PATCH", space, R"({"spec":{"finalizers":null}})", kMerge), kOk);
  auto ending = b.ask("GET", space);
  ASSERT_TRUE(ending.ok());
  EXPECT_EQ((*ending)["metadata"]["labels"]["a"].as_string(), "b");
  ending->edit("spec").erase("finalizers");
  ASSERT_EQ(b.code("PUT", space + "/finalize", ending->dump()), kOk);
  EXPECT_EQ(b.code("GET", space), Code::kNotFound);
}

TEST(Namespaces, have_the_finalizers_that_were_asked_for_and_the_phase_that_is_true) {
  Bench b;
  constexpr const char* kAll = "/api/v1/namespaces";
  const auto made = b.ask("POST", kAll, R"({"metadata":{"name":"n"},"spec":{"finalizers":["example.com/a"]}})");
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ((*made)["spec"]["finalizers"].dump(), R"(["example.com/a","kubernetes"])");
  EXPECT_EQ(b.code("POST", kAll, R"({"metadata":{"name":"m"},"spec":{"finalizers":["bad name"]}})"), Code::kInvalid);
  EXPECT_EQ(b.code("POST", kAll, R"({"metadata":{"name":"m"},"spec":{"finalizers":["mine"]}})"), Code::kInvalid);
  EXPECT_EQ(b.code("POST", kAll, R"({"metadata":{"name":"m"},"spec":{"finalizers":"kubernetes"}})"), Code::kInvalid);
  const auto set_phase = [&b](std::string_view phase) {
    return b.code("PATCH", std::string(kAll) + "/n/status", base::format(R"({{"status":{{"phase":"{}"}}}})", phase),
                  kMerge);
  };
  EXPECT_EQ(set_phase("Terminating"), Code::kInvalid);
  EXPECT_EQ(set_phase("Active"), kOk);
  const auto going = b.ask("DELETE", std::string(kAll) + "/n");
  ASSERT_TRUE(going.ok()) << going.error().message;
  EXPECT_TRUE((*going)["metadata"].has("deletionTimestamp"));
  EXPECT_FALSE((*going)["metadata"].has("deletionGracePeriodSeconds")) << "it goes when it is empty";
  EXPECT_EQ(set_phase("Active"), Code::kInvalid);
  EXPECT_EQ(set_phase("Terminating"), kOk);
}

TEST(FieldSelectors, count_as_a_stock_server_does) {
  Bench b;
  constexpr const char* kJobs = "/apis/batch/v1/namespaces/default/jobs";
  ASSERT_EQ(b.code("POST", kJobs, R"({"metadata":{"name":"j"},"spec":{"template":{"spec":{"restartPolicy":"Never",
      "containers":[{"name":"c","image":"x"}]}}}})"),
            kOk);
  const auto found = [&](const std::string& list, std::string_view selector) -> int {
    const auto answer = b.ask("GET", list + "?fieldSelector=" + std::string(selector));
    return answer.ok() ? static_cast<int>((*answer)["items"].size()) : -1;
  };
  EXPECT_EQ(found(kJobs, "status.successful%3D0"), 1);
  EXPECT_EQ(found(kJobs, "status.successful!%3D0"), 0);
  EXPECT_EQ(found(kJobs, "status.successful%3D1"), 0);
  EXPECT_EQ(found(kJobs, "status.succeeded%3D0"), -1);
  EXPECT_EQ(found("/api/v1/replicationcontrollers", "status.replicas%3D0"), 0);
  EXPECT_EQ(found("/api/v1/services", "spec.type%3DLoadBalancer,spec.clusterIP!%3DNone"), 0);
  EXPECT_EQ(found(kPods, "status.podIPs%3D1.2.3.4"), 0);
  EXPECT_EQ(found("/apis/certificates.k8s.io/v1/certificatesigningrequests", "spec.signerName%3Dx"), 0);
}

TEST(Namespaces, that_a_cluster_needs_are_not_deleted) {
  Bench b;
  for (const char* name : {"default", "kube-system", "kube-public"})
    EXPECT_EQ(b.code("DELETE", std::string("/api/v1/namespaces/") + name), Code::kForbidden);
  EXPECT_EQ(b.code("DELETE", "/api/v1/namespaces"), Code::kMethodNotAllowed);
  EXPECT_EQ(b.code("DELETE", "/api/v1/pods"), Code::kMethodNotAllowed);
  EXPECT_EQ(b.code("DELETE", kPods), kOk);
}

TEST(Subresources, are_those_of_the_kind) {
  Bench b;
  ASSERT_EQ(b.code("POST", kMaps, R"({"metadata":{"name":"a"}})"), kOk);
  ASSERT_EQ(b.code("POST", kPods, kPod), kOk);
  const std::string map = std::string(kMaps) + "/a/";
  for (const char* name : {"binding", "eviction", "odd"})
    EXPECT_EQ(b.code("POST", map + name, R"({"target":{"name":"n"}})"), Code::kNotFound) << name;
  EXPECT_EQ(b.code("GET", map + "status"), Code::kNotFound);
  EXPECT_EQ(b.code("GET", map + "log"), Code::kNotFound);
  EXPECT_EQ(b.code("GET", std::string(kPods) + "/p/status"), kOk);
  EXPECT_EQ(b.code("POST", std::string(kPods) + "/p/binding", R"({"target":{"name":"n"}})"), kOk);
}

TEST(Deletion, takes_its_options_from_the_address_too) {
  Bench b;
  ASSERT_EQ(b.code("POST", kPods, kPod), kOk);
  ASSERT_EQ(b.code("POST", std::string(kPods) + "/p/binding", R"({"target":{"name":"n"}})"), kOk);
  const std::string pod = std::string(kPods) + "/p";
  EXPECT_EQ(b.code("DELETE", pod + "?propagationPolicy=Never"), Code::kInvalid);
  EXPECT_EQ(b.code("DELETE", pod + "?gracePeriodSeconds=x"), Code::kBadRequest);
  EXPECT_EQ(b.code("DELETE", pod, R"({"gracePeriodSeconds":"0"})"), Code::kBadRequest);
  const auto ending = b.ask("DELETE", pod + "?gracePeriodSeconds=7&propagationPolicy=Foreground");
  ASSERT_TRUE(ending.ok());
  EXPECT_EQ((*ending)["metadata"]["deletionGracePeriodSeconds"].as_int(), 7);
  EXPECT_EQ((*ending)["metadata"]["finalizers"], parse(R"(["foregroundDeletion"])"));
}

TEST(Deletion, orphans_whatever_stands_behind_the_word_but_false_and_0) {
  for (const auto& [value, orphans] : {std::pair{"maybe", true}, {"", true}, {"False", false}, {"0", false}}) {
    Bench b;
    ASSERT_EQ(b.code("POST", kMaps, R"({"metadata":{"name":"m"}})"), kOk);
    ASSERT_EQ(b.code("DELETE", base::format("{}/m?orphanDependents={}", kMaps, value)), kOk);
    EXPECT_EQ(b.code("GET", std::string(kMaps) + "/m"), orphans ? kOk : Code::kNotFound) << value;
  }
}

TEST(Watches, say_how_long) {
  rt::HttpRequest http;
  http.method = "GET";
  const auto asked = route(http, rt::parse_target(std::string(kPods) + "?watch=1&timeoutSeconds=9"));
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ((*asked)->timeout_seconds, 9);
  EXPECT_FALSE(route(http, rt::parse_target(std::string(kPods) + "?watch=1&timeoutSeconds=x")).ok());
}

TEST(Pods, keep_their_tolerations_but_for_the_seconds) {
  Bench b;
  ASSERT_EQ(b.code("POST", kPods, kPod), kOk);
  const std::string path = std::string(kPods) + "/p";
  auto pod = *b.ask("GET", path);
  pod.edit("metadata").erase("resourceVersion");
  const std::size_t filled_in = pod["spec"]["tolerations"].size();
  pod.edit("spec")
      .edit("tolerations")
      .push_back(*api::parse_json(R"({"key":"mine","operator":"Exists","effect":"NoExecute","tolerationSeconds":9})"));
  EXPECT_EQ(b.code("PUT", path, pod.dump()), kOk);
  pod.edit("spec").edit("tolerations").edit(filled_in).set("tolerationSeconds", 5);
  EXPECT_EQ(b.code("PUT", path, pod.dump()), kOk);
  Json other = pod;
  other.edit("spec").edit("tolerations").edit(filled_in).set("key", "other");
  EXPECT_EQ(b.code("PUT", path, other.dump()), Code::kInvalid);
  other.edit("spec").edit("tolerations").push_back(parse(R"({"operator":"Exists","effect":"Perhaps"})"));
  other.edit("spec").edit("tolerations").edit(filled_in).set("key", "mine");
  EXPECT_EQ(b.code("PUT", path, other.dump()), Code::kInvalid) << "an effect that is none";
  // The fields that the server fills in come back.
  pod.edit("spec").edit("tolerations").edit(std::size_t{0}).set("key", "other");
  EXPECT_EQ(b.code("PUT", path, pod.dump()), kOk);
  EXPECT_EQ((*b.ask("GET", path))["spec"]["tolerations"].size(), filled_in + 2);
}

TEST(Pods, keep_an_image_when_it_is_changed) {
  Bench b;
  ASSERT_EQ(b.code("POST", kPods, kPod), kOk);
  const std::string pod = std::string(kPods) + "/p";
  const auto patch = [&](std::string_view image) {
    return b.code("PATCH", pod,
                  base::format(R"([{{"op":"replace","path":"/spec/containers/0/image","value":"{}"}}])", image),
                  "application/json-patch+json");
  };
  EXPECT_EQ(patch("y"), kOk);
  EXPECT_EQ(patch(""), Code::kInvalid);
}

TEST(ConfigMaps, that_are_immutable_keep_all_their_data) {
  Bench b;
  ASSERT_EQ(b.code("POST", kMaps, R"({"metadata":{"name":"a"},"immutable":true,"data":{"k":"v"}})"), kOk);
  const std::string map = std::string(kMaps) + "/a";
  for (const char* patch : {R"({"binaryData":{"b":"dg=="}})", R"({"data":{"k":"w"}})", R"({"immutable":false})"})
    EXPECT_EQ(b.code("PATCH", map, patch, kMerge), Code::kInvalid) << patch;
  EXPECT_EQ(b.code("PATCH", map, R"({"metadata":{"labels":{"a":"b"}}})", kMerge), kOk);
}

const Json kNamed = parse(R"({"metadata":{"name":"x"}})");

// Go's clients leave out what is "", 0, false, [] or {} of what they have read, and send the rest back.
TEST(GoClients, change_labels_of_what_was_sent_with_zeros) {
  const std::pair<std::string, std::string_view> rows[] = {
      {"/apis/batch/v1/namespaces/default/jobs", R"({"spec":{"template":{"spec":{"restartPolicy":"Never",
          "nodeSelector":{},"tolerations":[],"containers":[{"name":"c","image":"i","env":[{"name":"A","value":""}]}],
          "volumes":[{"name":"a","emptyDir":{"medium":""}},
                     {"name":"b","persistentVolumeClaim":{"claimName":"x","readOnly":false}}]}}}})"},
      {kPods, R"({"spec":{"nodeSelector":{},"hostname":"","containers":[{"name":"c","image":"i","args":[],
          "env":[{"name":"A","value":""}]}],"tolerations":[{"key":"k","operator":"Exists","effect":"","value":""}]}})"},
      {"/apis/apps/v1/namespaces/default/statefulsets", R"({"spec":{"serviceName":"s","volumeClaimTemplates":[],
          "selector":{"matchLabels":{"a":"b"},"matchExpressions":[]},"template":{"metadata":{"labels":{"a":"b"}},
          "spec":{"containers":[{"name":"c","image":"i"}]}}}})"},
  };
  for (const auto& [path, object] : rows) {
    Bench b;
    const auto made = b.ask("POST", path, api::apply_merge_patch(parse(object), kNamed).dump());
    ASSERT_TRUE(made.ok()) << path << made.error().message;
    Json back = *b.ask("GET", path + "/x");
    const api::KindInfo& kind = *api::find_kind_named(back["apiVersion"].as_string(), back["kind"].as_string());
    api::drop_unwritten(*kind.schema, back, api::Empties::kDropped);
    back.edit("metadata").set("labels", parse(R"({"new":"label"})"));
    const auto changed = b.ask("PUT", path + "/x", back.dump());
    EXPECT_TRUE(changed.ok()) << path << changed.error().message;
  }
}

TEST(GoClients, get_defaults_where_they_send_zeros) {
  struct Row {
    std::string_view path, object, field, value;
  };
  const Row rows[] = {
      {"/api/v1/namespaces/default/services",
       R"({"spec":{"type":"","sessionAffinity":"","ports":[{"port":80,"protocol":""}]}})", "spec.type", "ClusterIP"},
      {"/api/v1/namespaces/default/secrets", R"({"type":""})", "type", "Opaque"},
      {"/api/v1/namespaces/default/secrets", R"({"type":"kubernetes.io/tls","data":{"tls.crt":null,"tls.key":null}})",
       "type", "kubernetes.io/tls"},
      {"/apis/networking.k8s.io/v1/ingressclasses",
       R"({"spec":{"controller":"a.b/c","parameters":{"kind":"k","name":"n"}}})", "spec.parameters.scope", "Cluster"},
      {"/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
       R"({"roleRef":{"apiGroup":"","kind":"Role","name":"none"},"subjects":[{"kind":"User","name":"u","apiGroup":""},
           {"kind":"ServiceAccount","name":"a"}]})",
       "roleRef.apiGroup", "rbac.authorization.k8s.io"},
  };
  for (const Row& row : rows) {
    Bench b;
    ASSERT_EQ(b.code("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
                     R"({"metadata":{"name":"none"},"rules":[]})"),
              kOk);
    const Json sent = api::apply_merge_patch(parse(row.object), kNamed);
    const auto made = b.ask("POST", std::string(row.path), sent.dump());
    ASSERT_TRUE(made.ok()) << row.object << made.error().message;
    const Json* at = &*made;
    for (std::string_view path = row.field; !path.empty();) {
      const std::size_t dot = std::min(path.find('.'), path.size());
      at = &(*at)[path.substr(0, dot)];
      path.remove_prefix(std::min(dot + 1, path.size()));
    }
    EXPECT_EQ(at->as_string(), row.value) << row.object;
  }
}

TEST(GoClients, write_bindings_anew_with_an_empty_group) {
  Bench b;
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/", one = rbac + "rolebindings/x";
  ASSERT_EQ(b.code("POST", rbac + "roles", R"({"metadata":{"name":"r"},"rules":[]})"), kOk);
  constexpr std::string_view kBinding =
      R"({"metadata":{"name":"x"},"roleRef":{"apiGroup":"","kind":"Role","name":"r"}})";
  ASSERT_EQ(b.code("POST", rbac + "rolebindings", kBinding), kOk);
  EXPECT_EQ(b.code("PUT", one, kBinding), kOk);
  EXPECT_EQ(b.code("PATCH", one, R"({"roleRef":{"name":"s"}})", kMerge), Code::kInvalid);
}

TEST(Secrets, keep_keys_that_are_null) {
  Bench b;
  const std::string secrets = "/api/v1/namespaces/default/secrets", secret = secrets + "/x";
  ASSERT_EQ(b.code("POST", secrets, R"({"metadata":{"name":"x"},"data":{"a":null,"b":"dg=="}})"), kOk);
  EXPECT_EQ((*b.ask("GET", secret))["data"].dump(), R"({"a":"","b":"dg=="})");
  ASSERT_EQ(b.code("PATCH", secret, R"({"data":{"b":null}})", kMerge), kOk);
  EXPECT_EQ((*b.ask("GET", secret))["data"].dump(), R"({"a":""})") << "a null of a patch takes the key away";
}

// Go's clients write "creationTimestamp":null into templates, and their controllers compare bytes.
TEST(ControllerRevisions, keep_their_data_as_it_was_written) {
  Bench b;
  const std::string revisions = "/apis/apps/v1/namespaces/default/controllerrevisions", one = revisions + "/x";
  constexpr std::string_view kData =
      R"({"list":[null,{"a":null}],"metadata":{"creationTimestamp":null},"x":"1 \u0026"})";
  const auto made = base::format(R"({{"metadata":{{"name":"x","labels":null}},"revision":1,"data":{}}})", kData);
  ASSERT_EQ(b.code("POST", revisions, made), kOk);
  EXPECT_EQ((*b.ask("GET", one))["data"].dump(), kData);
  EXPECT_FALSE((*b.ask("GET", one))["metadata"].has("labels"));
  EXPECT_EQ(b.code("PATCH", one, R"({"revision":2,"metadata":{"labels":{"a":"b"}}})", kMerge), kOk);
  EXPECT_EQ((*b.ask("GET", one))["data"].dump(), kData);
}

// Parameters of a pipeline may be null; the fields of the run around them may not.
TEST(PipelineRuns, keep_the_nulls_of_their_parameters) {
  Bench b;
  const std::string runs = "/apis/pipelines.kubeflow.org/v2beta1/namespaces/default/pipelineruns";
  constexpr std::string_view kParameters = R"({"a":null,"d":{"k":null},"l":[null,1]})";
  const auto made = base::format(
      R"({{"metadata":{{"name":"x","labels":null}},"spec":{{"displayName":null,"runtimeConfig":{{"parameters":{}}}}}}})",
      kParameters);
  ASSERT_EQ(b.code("POST", runs, made), kOk);
  const api::Json run = *b.ask("GET", runs + "/x");
  EXPECT_EQ(run["spec"]["runtimeConfig"]["parameters"].dump(), kParameters);
  EXPECT_FALSE(run["spec"].has("displayName"));
  EXPECT_FALSE(run["metadata"].has("labels"));
}

TEST(Claims, change_their_attributes_class_but_keep_one) {
  const api::KindInfo& kind = *api::find_kind_named("v1", "PersistentVolumeClaim");
  const auto refused = [&kind](std::string_view before, std::string_view after) {
    const auto claim = [](std::string_view name) {
      Json one = parse(R"({"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})");
      if (name != "-") one.edit("spec").set("volumeAttributesClassName", name);
      return one;
    };
    std::vector<base::Cause> causes;
    check_core_update(kind, "", claim(before), claim(after), causes);
    return causes.empty() ? "" : causes.front().field;
  };
  EXPECT_EQ(refused("-", "gold"), "");
  EXPECT_EQ(refused("gold", "silver"), "");
  EXPECT_EQ(refused("gold", "-"), "spec.volumeAttributesClassName");
  EXPECT_EQ(refused("gold", ""), "spec.volumeAttributesClassName");
}

// Another volume may be somebody else's.
TEST(Claims, keep_the_volume_and_the_class_that_they_have) {
  const api::KindInfo& kind = *api::find_kind_named("v1", "PersistentVolumeClaim");
  const auto is_refused = [&kind](std::string_view before, std::string_view after) {
    std::vector<base::Cause> causes;
    check_core_update(kind, "", Json::object({{"spec", parse(before)}}), Json::object({{"spec", parse(after)}}),
                      causes);
    return !causes.empty();
  };
  EXPECT_FALSE(is_refused("{}", R"({"volumeName":"a","storageClassName":"c"})"));
  EXPECT_FALSE(is_refused(R"({"volumeName":""})", R"({"volumeName":"a"})"));
  EXPECT_FALSE(is_refused(R"({"volumeName":"a"})", R"({"volumeName":"a","resources":{"requests":{"storage":"2Gi"}}})"));
  EXPECT_TRUE(is_refused(R"({"volumeName":"a"})", R"({"volumeName":"b"})"));
  EXPECT_TRUE(is_refused(R"({"volumeName":"a"})", "{}"));
  EXPECT_TRUE(is_refused(R"({"storageClassName":""})", R"({"storageClassName":"c"})"));
}

TEST(Claims, of_devices_begin_without_what_others_say_of_them) {
  Bench b;
  const std::string claims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
  const auto claim = [](const char* name, const char* more) {
    return base::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"devices":{{"requests":[{{"name":"r","exactly":
        {{"deviceClassName":"gpu"{}}}}}]}}}},"status":{{"reservedFor":[{{"resource":"pods","name":"p","uid":"u"}}]}}}})",
                        name, more);
  };
  ASSERT_EQ(b.code("POST", claims, claim("a", "")), kOk);
  EXPECT_TRUE((*b.ask("GET", claims + "/a"))["status"]["reservedFor"].is_null());
  // Only administrators may ask for a part of devices that others have.
  EXPECT_NE(b.code("POST", claims, claim("b", R"(,"adminAccess":true)")), kOk);
  ASSERT_EQ(b.code("PATCH", "/api/v1/namespaces/default",
                   R"({"metadata":{"labels":{"resource.kubernetes.io/admin-access":"true"}}})", kMerge),
            kOk);
  EXPECT_EQ(b.code("POST", claims, claim("b", R"(,"adminAccess":true)")), kOk);
}

TEST(Metadata, has_types) {
  Bench b;
  ASSERT_EQ(b.code("POST", kMaps, R"({"metadata":{"name":"a"}})"), kOk);
  for (const char* metadata :
       {R"({"labels":["x"]})", R"({"annotations":"x"})", R"({"finalizers":[5]})", R"({"ownerReferences":"x"})",
        R"({"ownerReferences":[{"kind":"Pod"}]})", R"({"name":5})", R"({"resourceVersion":5})"}) {
    Json body = Json::object({{"metadata", parse(metadata)}});
    EXPECT_NE(b.code("PATCH", std::string(kMaps) + "/a", body.dump(), kMerge), kOk) << metadata;
    if (!body["metadata"].has("name")) body.edit("metadata").set("name", "b");
    EXPECT_NE(b.code("POST", kMaps, body.dump()), kOk) << metadata;
  }
}

}  // namespace
}  // namespace apiserver

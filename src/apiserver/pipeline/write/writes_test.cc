// The rules of HTTP clients' writes, and their effects: versions, identities, graces, generations.
#include <gtest/gtest.h>

#include "apiserver/http/route.h"
#include "apiserver/pipeline/api_for_tests.h"
#include "base/format.h"

namespace apiserver {
namespace {

using api::Json;
using base::Code;
namespace resources = api::resources;

struct Bench : ApiForTests {
  std::string patch_type = "application/merge-patch+json";

  base::Result<Json> ask(std::string method, std::string target, std::string_view body = "") {
    rt::HttpRequest http;
    http.headers = {{"Content-Type", method == "PATCH" ? patch_type : "application/json"}};
    http.method = std::move(method);
    http.target = std::move(target);
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
  Json ok(std::string method, std::string target, std::string_view body = "") {
    auto answer = ask(std::move(method), std::move(target), body);
    EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : answer.error().message);
    return answer.ok() ? *std::move(answer) : Json();
  }
  // "409 ..."; empty: it was done.
  std::string refused(std::string method, std::string target, std::string_view body = "") {
    const auto answer = ask(std::move(method), std::move(target), body);
    if (answer.ok()) return {};
    return base::format("{} {}", base::http_status(answer.error().code), answer.error().message);
  }
  // As it is, past all that the server does with objects.
  void store_as_it_is(const api::ResourceId& id, std::string_view text) {
    const auto resource = static_cast<std::uint32_t>(api::find_kind(id) - api::all_kinds().data());
    store->put(resource, *api::parse_json(text),
               [](const base::Result<store::ObjectPtr>& put) { EXPECT_TRUE(put.ok()); });
    env.settle();
  }
};

const std::string kMaps = "/api/v1/namespaces/default/configmaps";
const std::string kPods = "/api/v1/namespaces/default/pods";
const std::string kDeployments = "/apis/apps/v1/namespaces/default/deployments";
constexpr std::string_view kDeployment =
    R"({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "default", "uid": "u", "generation": 1},
        "spec": {"paused": false, "replicas": 1, "selector": {"matchLabels": {"a": "b"}},
                 "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}})";

// Earlier versions stored what Go leaves out.
TEST(Writes, an_object_stored_with_zeros_keeps_its_generation) {
  Bench b;
  b.store_as_it_is({"apps", "v1", "deployments"}, kDeployment);
  const std::string one = kDeployments + "/d";
  b.ok("PATCH", one, R"({"spec": {"strategy": {"type": "Recreate"}}})");  // the defaults are there now
  const std::int64_t before = b.ok("GET", one)["metadata"]["generation"].as_int();
  b.store_as_it_is({"apps", "v1", "deployments"}, [&] {
    Json old = b.ok("GET", one);
    old.edit("spec").set("paused", false);
    return old.dump();
  }());
  b.ok("PATCH", one + "/status", R"({"status": {"replicas": 1}})");
  EXPECT_EQ(b.ok("PATCH", one, R"({"metadata": {"labels": {"x": "y"}}})")["metadata"]["generation"].as_int(), before);
  EXPECT_EQ(b.ok("PATCH", one, R"({"spec": {"paused": true}})")["metadata"]["generation"].as_int(), before + 1);
}

TEST(Writes, a_scale_is_of_the_object_that_it_names) {
  Bench b;
  b.store_as_it_is({"apps", "v1", "deployments"}, kDeployment);
  const std::string scale = kDeployments + "/d/scale";
  const std::string conflict = "409 Operation cannot be fulfilled on deployments.apps \"d\": Precondition failed: ";
  const std::pair<const char*, std::string> rows[] = {
      {R"({"metadata": {"name": "e"}, "spec": {"replicas": 2}})",
       "400 the name of the object (e) does not match the name on the URL (d)"},
      {R"({"metadata": {"name": "d", "namespace": "kube-system"}, "spec": {"replicas": 2}})",
       "400 the namespace of the object (kube-system) does not match the namespace on the request (default)"},
      {R"({"metadata": {"name": "d", "uid": "v"}, "spec": {"replicas": 2}})",
       conflict + "UID in precondition: v, UID in object meta: u"},
      {R"({"metadata": {"name": "d", "uid": "u"}, "spec": {"replicas": 2}})", ""},
      {R"({"spec": {"replicas": 3}})", ""}};
  for (const char* method : {"PUT", "PATCH"})
    for (const auto& [body, message] : rows) EXPECT_EQ(b.refused(method, scale, body), message) << method << body;
  EXPECT_EQ(b.refused("PUT", scale, R"(["x"])"), "400 the request body is not an object");
}

TEST(Writes, a_scale_takes_the_patch_that_kubectl_sends) {
  Bench b;
  b.store_as_it_is({"apps", "v1", "deployments"}, kDeployment);
  b.patch_type = "application/strategic-merge-patch+json";
  EXPECT_EQ(b.ok("PATCH", kDeployments + "/d/scale", R"({"spec": {"replicas": 7}})")["spec"]["replicas"].as_int(), 7);
}

// As in manifests that a chart makes: who made it once can write it again.
TEST(Writes, of_cluster_objects_pass_over_a_namespace) {
  Bench b;
  const std::string roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
  const std::string role = R"({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                              "metadata": {"name": "r", "namespace": "x"}, "rules": []})";
  b.ok("POST", roles, role);
  EXPECT_FALSE(b.ok("PUT", roles + "/r", role)["metadata"].has("namespace"));
  for (const char* type :
       {"application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml"}) {
    b.patch_type = type;
    const bool apply = std::string_view(type).find("apply") != std::string_view::npos;
    const Json got = b.ok("PATCH", roles + (apply ? "/r?fieldManager=m" : "/r"), role);
    EXPECT_EQ(got["metadata"]["namespace"], Json()) << type;
    EXPECT_EQ(got["metadata"]["managedFields"].dump().find("f:namespace"), std::string::npos) << type;
  }
  EXPECT_EQ(b.ok("PATCH", roles + "/new?fieldManager=m", R"({"apiVersion": "rbac.authorization.k8s.io/v1",
      "kind": "ClusterRole", "metadata": {"name": "new", "namespace": "x"}})")["metadata"]["namespace"],
            Json());
}

TEST(Writes, an_applied_uid_is_of_something_that_is_there) {
  Bench b;
  b.patch_type = "application/apply-patch+yaml";
  EXPECT_EQ(b.refused("PATCH", kMaps + "/m?fieldManager=m",
                      R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "uid": "u"}})"),
            "409 Operation cannot be fulfilled on configmaps \"m\": uid mismatch: the provided object specified uid u, "
            "and no existing object was found");
}

TEST(Writes, a_key_twice_in_a_patch_is_refused_where_fields_are_checked) {
  Bench b;
  b.ok("POST", kMaps, R"({"metadata": {"name": "m"}})");
  EXPECT_EQ(b.refused("PATCH", kMaps + "/m?fieldValidation=Strict", R"({"data": {"a": "1", "a": "2"}})").substr(0, 3),
            "400");
  EXPECT_EQ(b.refused("PATCH", kMaps + "/m", R"({"data": {"a": "1", "a": "2"}})"), "");
}

TEST(Writes, a_scale_is_answered_with_its_new_version) {
  Bench b;
  b.store_as_it_is({"apps", "v1", "deployments"}, kDeployment);
  const std::string scale = kDeployments + "/d/scale";
  for (const char* method : {"PUT", "PATCH"}) {
    const Json before = b.ok("GET", scale);
    const std::string wanted =
        base::format(R"({{"spec": {{"replicas": {}}}}})", before["spec"]["replicas"].as_int() + 1);
    const Json answer = b.ok(method, scale, wanted);
    EXPECT_EQ(answer["kind"].as_string(), "Scale");
    EXPECT_NE(answer["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"]) << method;
    EXPECT_EQ(answer["metadata"]["resourceVersion"], b.ok("GET", scale)["metadata"]["resourceVersion"]) << method;
    // One that changes nothing keeps it.
    EXPECT_EQ(b.ok(method, scale, wanted)["metadata"]["resourceVersion"], answer["metadata"]["resourceVersion"]);
  }
}

TEST(Writes, a_binding_is_of_the_version_that_it_names) {
  Bench b;
  const Json pod =
      b.ok("POST", kPods, R"({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})");
  const std::string_view version = api::resource_version_of(pod);
  const auto bind = [&](std::string_view of) {
    return b.refused("POST", kPods + "/p/binding",
                     base::format(R"({{"metadata": {{"name": "p", "resourceVersion": "{}"}},
                                       "target": {{"kind": "Node", "name": "n"}}}})",
                                  of));
  };
  EXPECT_EQ(bind("1"), base::format("409 Operation cannot be fulfilled on pods \"p\": Precondition failed: "
                                    "ResourceVersion in precondition: 1, ResourceVersion in object meta: {}",
                                    version));
  EXPECT_EQ(bind(version), "");
}

TEST(Writes, some_kinds_name_their_version) {
  struct Row {
    std::string of;
    const char* name;
    const char* body;
  };
  const Row rows[] = {
      {"/apis/coordination.k8s.io/v1/namespaces/default/leases", "l", R"({"metadata": {"name": "l"}})"},
      {"/apis/storage.k8s.io/v1/csinodes", "n", R"({"metadata": {"name": "n"}, "spec": {"drivers": []}})"},
      {"/apis/storage.k8s.io/v1/volumeattachments", "v",
       R"({"metadata": {"name": "v"},
           "spec": {"attacher": "a.b", "nodeName": "n", "source": {"persistentVolumeName": "p"}}})"},
      {"/apis/storage.k8s.io/v1/namespaces/default/csistoragecapacities", "c",
       R"({"metadata": {"name": "c"}, "storageClassName": "s"})"},
      {"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "as.x.io",
       R"({"metadata": {"name": "as.x.io"},
           "spec": {"group": "x.io", "scope": "Namespaced",
                    "names": {"plural": "as", "singular": "a", "kind": "A", "listKind": "AList"},
                    "versions": [{"name": "v1", "served": true, "storage": true,
                                  "schema": {"openAPIV3Schema": {"type": "object"}}}]}})"}};
  for (const Row& row : rows) {
    Bench b;
    b.ok("POST", row.of, row.body);
    Json none = *api::parse_json(row.body), zero = none;
    zero.edit("metadata").set("resourceVersion", "0");
    for (const Json& body : {none, zero})
      EXPECT_TRUE(b.refused("PUT", row.of + "/" + row.name, body.dump())
                      .ends_with("metadata.resourceVersion: Invalid value: 0: must be specified for an update"))
          << row.of << b.refused("PUT", row.of + "/" + row.name, body.dump());
  }
  Bench b;
  b.ok("POST", kMaps, R"({"metadata": {"name": "m"}})");
  EXPECT_EQ(b.refused("PUT", kMaps + "/m", R"({"metadata": {"name": "m", "resourceVersion": "0"}})"), "");
}

// A second deletion cut what the first one had given.
TEST(Writes, what_is_going_goes_sooner_only_if_that_is_asked_for) {
  Bench b;
  b.ok("POST", kPods,
       R"({"metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}})");
  const std::string one = kPods + "/p";
  struct Row {
    int after;  // seconds since the row above
    const char* asked;
    const char* end;
    int grace;
  };
  const Row rows[] = {{0, "?gracePeriodSeconds=100", "2026-01-01T00:01:40Z", 100},
                      {10, "", "2026-01-01T00:01:40Z", 100},
                      {0, "?gracePeriodSeconds=100", "2026-01-01T00:01:40Z", 100},
                      {0, "?gracePeriodSeconds=200", "2026-01-01T00:01:40Z", 100},
                      {0, "?gracePeriodSeconds=40", "2026-01-01T00:00:40Z", 40},
                      {0, "", "2026-01-01T00:00:40Z", 40},
                      {20, "?gracePeriodSeconds=20", "2026-01-01T00:00:30Z", 1},
                      {0, "?gracePeriodSeconds=-7", "2026-01-01T00:00:30Z", 1}};
  for (const Row& row : rows) {
    b.env.run_for(base::seconds(row.after));
    const std::string version(row.after == 0 && row.asked[0] == 0 ? api::resource_version_of(b.ok("GET", one)) : "");
    const Json meta = b.ok("DELETE", one + row.asked)["metadata"];
    EXPECT_EQ(meta["deletionTimestamp"].as_string(), row.end) << row.after << row.asked;
    EXPECT_EQ(meta["deletionGracePeriodSeconds"].as_int(), row.grace) << row.after << row.asked;
    if (!version.empty()) {
      EXPECT_EQ(meta["resourceVersion"].as_string(), version);
    }
  }
  // Its node says when it is done.
  b.ok("PATCH", one + "/status", R"({"status": {"phase": "Succeeded"}})");
  b.ok("DELETE", one);
  EXPECT_EQ(b.refused("GET", one), "");
  b.ok("DELETE", one + "?gracePeriodSeconds=0");
  EXPECT_EQ(b.refused("GET", one), "404 pods \"p\" not found");
}

TEST(Writes, what_is_being_deleted_gets_no_new_finalizers) {
  Bench b;
  b.ok("POST", kMaps, R"({"metadata": {"name": "m", "finalizers": ["x.io/a", "x.io/b"]}})");
  b.ok("DELETE", kMaps + "/m");
  const std::pair<const char*, const char*> rows[] = {
      {R"(["x.io/a", "x.io/d", "x.io/b", "x.io/c"])", R"([]string{"x.io/c", "x.io/d"})"},
      {R"(["orphan"])", R"([]string{"orphan"})"},
      {R"(["x.io/b", "x.io/a"])", ""},
      {R"(["x.io/b"])", ""}};
  for (const auto& [finalizers, found] : rows)
    EXPECT_EQ(b.refused("PATCH", kMaps + "/m", base::format(R"({{"metadata": {{"finalizers": {}}}}})", finalizers)),
              found[0] == 0 ? ""
                            : base::format("422 ConfigMap \"m\" is invalid: metadata.finalizers: Forbidden: no new "
                                           "finalizers can be added if the object is being deleted, found new "
                                           "finalizers {}",
                                           found))
        << finalizers;
  b.ok("PATCH", kMaps + "/m", R"({"metadata": {"finalizers": null}})");
  EXPECT_EQ(b.refused("GET", kMaps + "/m"), "404 configmaps \"m\" not found");
}

TEST(Writes, a_generated_name_that_is_taken_is_thrown_anew) {
  constexpr std::string_view kWeb = R"({"metadata": {"generateName": "web-"}})";
  Bench first, second;  // whose chance is the same
  const std::string name(api::name_of(first.ok("POST", kMaps, kWeb)));
  second.store_as_it_is(resources::kConfigMaps,
                        base::format(R"({{"metadata": {{"name": "{}", "namespace": "default"}}}})", name));
  const Json made = second.ok("POST", kMaps, kWeb);
  EXPECT_TRUE(api::name_of(made).starts_with("web-"));
  EXPECT_NE(api::name_of(made), name);
}

}  // namespace
}  // namespace apiserver

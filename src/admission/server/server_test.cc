// The HTTP contract of the webhook server, and admission of whole manifests.
#include "admission/server/server.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "admission/rules/fake_objects_for_tests.h"
#include "admission/server/review.h"
#include "base/base64.h"
#include "base/format.h"
#include "client/fake_client_for_tests.h"
#include "client/fake_env_for_tests.h"

namespace admission {
namespace {

using api::Json;

constexpr std::string_view kReview = R"({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
  "uid": "7", "kind": {"kind": "Queue"}, "resource": {"group": "scheduling.volcano.sh", "version": "v1beta1",
  "resource": "queues"}, "operation": "CREATE", "name": "q", "object": {"metadata": {"name": "q"}, "spec": {}}}})";

rt::HttpResponse post(std::string path, std::string body, std::string type = "application/json") {
  rt::HttpRequest request{.method = "POST",
                          .target = std::move(path),
                          .headers = {{"Content-Type", type}},
                          .body = std::move(body),
                          .peer_common_name = {},
                          .peer_organizations = {}};
  return answer_http(request, hooks({}), FakeObjects());
}

TEST(WebhookServer, answers_reviews) {
  const auto response = post("/queues/mutate?timeout=10s", std::string(kReview));
  EXPECT_EQ(response.status, 200);
  const Json answer = json(response.body);
  EXPECT_EQ(answer["response"]["uid"].as_string(), "7");
  EXPECT_TRUE(answer["response"]["allowed"].as_bool());
  EXPECT_EQ(answer["response"]["patchType"].as_string(), "JSONPatch");
  const Json refused = json(post("/jobs/validate", std::string(kReview)).body);
  EXPECT_EQ(refused["response"].dump(),
            R"({"uid":"7","allowed":false,"status":{"metadata":{},"message":"expect resource to be )"
            R"({batch.volcano.sh v1alpha1 jobs}"}})");
}

TEST(WebhookServer, refuses_what_it_cannot_read) {
  EXPECT_EQ(post("/nowhere", "").status, 404);
  EXPECT_EQ(post("/healthz", "").body, "ok");
  EXPECT_EQ(post("/queues/mutate", std::string(kReview), "text/plain").body, "");
  EXPECT_EQ(post("/queues/mutate", std::string(kReview), "text/plain").status, 200);
  EXPECT_EQ(post("/queues/mutate", "{").status, 400);
  EXPECT_EQ(post("/queues/mutate", "{}").status, 400);
}

// An API server cannot read an answer whose uid is a number, and what has no shape has no meaning to guess.
TEST(WebhookServer, refuses_fields_of_other_types) {
  const auto answer_with = [](std::string_view field, std::string_view value) {
    Json review = json(kReview);
    review.edit("request").set(field, json(value));
    return post("/queues/mutate", review.dump());
  };
  struct Row {
    std::string_view field, value, message;
  };
  constexpr Row kRows[] = {{"uid", "7", "request.uid must be a text, not 7"},
                           {"uid", "null", "request.uid must be a text, not null"},
                           {"name", "[1]", "request.name must be a text, not [1]"},
                           {"namespace", "{}", "request.namespace must be a text, not {}"},
                           {"subResource", "true", "request.subResource must be a text, not true"},
                           {"operation", "5", "request.operation must be a text, not 5"},
                           {"kind", "[]", "request.kind must be a map, not []"},
                           {"resource", "\"queues\"", "request.resource must be a map, not \"queues\""},
                           {"object", "\"x\"", "request.object must be a map, not \"x\""},
                           {"oldObject", "[]", "request.oldObject must be a map, not []"},
                           {"userInfo", "5", "request.userInfo must be a map, not 5"},
                           {"dryRun", "1", "request.dryRun must be true or false, not 1"}};
  for (const Row& row : kRows) {
    const auto response = answer_with(row.field, row.value);
    EXPECT_EQ(response.status, 400) << row.field;
    EXPECT_EQ(response.body, row.message);
  }
  for (const std::string_view field : {"oldObject", "userInfo", "dryRun", "subResource"})
    EXPECT_EQ(answer_with(field, "null").status, 200) << field;
  EXPECT_LT(answer_with("object", "\"" + std::string(100000, 'x') + "\"").body.size(), 300u);
}

TEST(WebhookServer, names_its_configurations) {
  EXPECT_EQ(configuration_name("/jobs/mutate"), "volcano-admission-service-jobs-mutate");
}

TEST(WebhookServer, answers_although_it_may_not_list_namespaces) {
  client::testing::FakeEnv env;
  client::testing::FakeClient client(env);
  client.forbids = [](const client::Request& request) { return request.resource == api::resources::kNamespaces; };
  ServerOptions options;
  options.rules.enabled = {"/podgroups/mutate"};
  client.put({"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations"},
             json(base::format(R"({{"metadata": {{"name": "{}"}}, "webhooks": []}})",
                               configuration_name("/podgroups/mutate"))));
  Server server(env, client, std::move(options));
  std::uint16_t port = 0;
  server.start([&](base::Result<std::uint16_t> started) { port = started.ok() ? *started : 0; });
  env.settle();
  EXPECT_NE(port, 0);
  EXPECT_EQ(server.readiness(), "ok\n[-]namespaces cannot be listed: forbidden\n");
}

// Load balancers go by this, and have a moment to hear of it.
TEST(WebhookServer, that_ends_is_not_ready_and_takes_connections_for_a_moment) {
  client::testing::FakeEnv env;
  client::testing::FakeClient client(env);
  ServerOptions options;
  options.rules.enabled.emplace();
  Server server(env, client, std::move(options));
  std::uint16_t port = 0;
  server.start([&](base::Result<std::uint16_t> started) { port = started.ok() ? *started : 0; });
  env.settle();
  ASSERT_NE(port, 0);
  EXPECT_EQ(server.why_not_ready() + server.readiness(), "ok\n");
  bool drained = false;
  server.drain(base::seconds(30), [&] { drained = true; });
  EXPECT_EQ(server.why_not_ready() + server.readiness(), "it endsit ends\n");
  env.run_for(base::milliseconds(1999));
  EXPECT_FALSE(rt::listen_http({.port = port}, {}).ok());
  EXPECT_FALSE(drained);
}

TEST(WebhookServer, trusts_the_old_ca_beside_a_new_one) {
  client::testing::FakeEnv env;
  client::testing::FakeClient client(env);
  const api::ResourceId kind{"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations"};
  const std::string name = configuration_name("/queues/validate");
  client.put(kind, json(base::format(R"({{"metadata": {{"name": "{}"}}, "webhooks": [{{"name": "w"}}]}})", name)));
  const auto bundle = [&] {
    return certificates_of(*base::base64_decode(
        (*client.find(kind, name))["webhooks"][std::size_t{0}]["clientConfig"]["caBundle"].as_string()));
  };
  std::vector<rt::KeyPair> authorities;
  for (int i = 0; i < 4; ++i) authorities.push_back(*rt::make_ca("ca", env.now(), base::hours(24)));
  ServerOptions options;
  options.rules.enabled = {"/queues/validate"};
  options.ca_pem = authorities[0].certificate_pem;
  Server server(env, client, std::move(options));
  server.start([](const base::Result<std::uint16_t>&) {});
  env.settle();
  EXPECT_EQ(bundle(), std::vector{authorities[0].certificate_pem});
  server.set_keys({authorities[1].certificate_pem, {}});
  env.settle();
  EXPECT_EQ(bundle(), (std::vector{authorities[1].certificate_pem, authorities[0].certificate_pem}));
  for (const std::size_t i : {1, 2, 3}) server.set_keys({authorities[i].certificate_pem, {}});
  env.run_for(base::seconds(20));
  EXPECT_EQ(bundle(), (std::vector{authorities[3].certificate_pem, authorities[2].certificate_pem,
                                   authorities[1].certificate_pem}));
}

TEST(WebhookServer, puts_its_ca_back) {
  client::testing::FakeEnv env;
  client::testing::FakeClient client(env);
  const api::ResourceId kind{"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations"};
  const std::string name = configuration_name("/queues/mutate");
  const Json applied = json(base::format(R"({{"metadata": {{"name": "{}"}}, "webhooks": [{{"name": "w"}}]}})", name));
  client.put(kind, applied);
  const auto bundle = [&] {
    return *base::base64_decode(
        (*client.find(kind, name))["webhooks"][std::size_t{0}]["clientConfig"]["caBundle"].as_string());
  };
  const rt::KeyPair ours = *rt::make_ca("ca", env.now(), base::hours(24));
  const rt::KeyPair other = *rt::make_ca("ca", env.now(), base::hours(24));
  ServerOptions options;
  options.rules.enabled = {"/queues/mutate"};
  options.ca_pem = ours.certificate_pem;
  Server server(env, client, std::move(options));
  server.start([](const base::Result<std::uint16_t>&) {});
  env.settle();
  client.put(kind, applied);
  env.run_for(base::seconds(5));
  EXPECT_EQ(bundle(), ours.certificate_pem);

  // The CA of another server stays.
  Json both = applied;
  both.edit("webhooks")
      .edit(std::size_t{0})
      .edit("clientConfig")
      .set("caBundle", base::base64_encode(other.certificate_pem + ours.certificate_pem));
  client.put(kind, both);
  env.run_for(base::seconds(5));
  EXPECT_EQ(bundle(), other.certificate_pem + ours.certificate_pem);
}

TEST(JsonPatch, turns_one_document_into_another) {
  EXPECT_EQ(make_json_patch(json(R"({"a": {"b/c": 1, "d": [1], "gone": 2}})"),
                            json(R"({"a": {"b/c": 2, "d": [1, 2], "new": {}}})"))
                .dump(),
            R"([{"op":"remove","path":"/a/gone"},{"op":"replace","path":"/a/b~1c","value":2},)"
            R"({"op":"replace","path":"/a/d","value":[1,2]},{"op":"add","path":"/a/new","value":{}}])");
  EXPECT_EQ(make_json_patch(json("{}"), json("{}")).dump(), "[]");
}

TEST(Manifests, pass_schema_mutation_and_validation) {
  ObjectSet objects;
  const auto all = hooks({});
  const auto queue =
      admit_manifest(json(R"({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q"},
               "spec": {"odd": 1}, "status": {"state": "Closed"}})"),
                     all, objects);
  ASSERT_TRUE(queue.answer.allowed);
  EXPECT_EQ(queue.answer.warnings, std::vector<std::string>{"unknown field \"spec.odd\""});
  EXPECT_EQ((*queue.answer.object)["spec"].sorted().dump(),
            R"({"dequeueStrategy":"traverse","reclaimable":true,"weight":1})");
  EXPECT_FALSE(queue.answer.object->has("status"));
  objects.put(*queue.answer.object);
  const auto heavy = admit_manifest(json(R"({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
                                             "metadata": {"name": "heavy"}, "spec": {"weight": 70000}})"),
                                    all, objects);
  EXPECT_FALSE(heavy.answer.allowed);
  EXPECT_EQ(heavy.refused_by, "");
  const auto job = [&](std::string_view name) {
    return admit_manifest(json(base::format(R"({{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
        "metadata": {{"name": "j"}}, "spec": {{"queue": "{}", "tasks": [{{"replicas": 1, "template": {{"spec":
        {{"containers": [{{"name": "c", "image": "i"}}]}}}}}}]}}}})",
                                            name)),
                          all, objects);
  };
  EXPECT_TRUE(job("q").answer.allowed);
  EXPECT_EQ(job("p").refused_by, "validatejob.volcano.sh");
  EXPECT_EQ(job("p").answer.message, "unable to find job queue: queue.scheduling.volcano.sh \"p\" not found;");
}

TEST(Manifests, have_or_get_a_name) {
  ObjectSet objects;
  objects.put(json(R"({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q"}})"));
  const auto admit = [&objects](std::string_view metadata) {
    return admit_manifest(
               json(base::format(R"({{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {},
        "spec": {{"queue": "q", "tasks": [{{"replicas": 1, "template": {{"spec": {{"containers": [{{"name": "c",
        "image": "i"}}]}}}}}}]}}}})",
                                 metadata)),
               hooks({}), objects)
        .answer;
  };
  const auto first = admit(R"({"generateName": "train-"})");
  ASSERT_TRUE(first.allowed) << first.message;
  const std::string name((*first.object)["metadata"]["name"].as_string());
  EXPECT_EQ(name.size(), std::string_view("train-").size() + 5);
  EXPECT_EQ(name.substr(0, 6), "train-");
  EXPECT_EQ(*admit(R"({"generateName": "train-"})").object, *first.object);
  objects.put(*first.object);  // taken: the next one of this kind is called otherwise
  EXPECT_NE((*admit(R"({"generateName": "train-"})").object)["metadata"]["name"].as_string(), name);
  EXPECT_EQ(admit("{}").message,
            "Job.batch.volcano.sh \"\" is invalid: metadata.name: Required value: name or generateName is required");
  EXPECT_EQ(admit(R"({"name": "A_"})").message.substr(0, 77),
            "Job.batch.volcano.sh \"A_\" is invalid: metadata.name: Invalid value: \"A_\": a l");
}

TEST(Manifests, of_kinds_that_are_not_served_meet_their_rules) {
  const auto admit = [](std::string_view text) { return admit_manifest(json(text), hooks({}), FakeObjects()); };
  const auto flow = admit(R"({"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": {"name": "f"},
                              "spec": {"flows": [{"name": "a", "dependsOn": {"targets": ["a"]}}]}})");
  EXPECT_EQ(flow.answer.message, "jobflow Flow is not DAG");
  EXPECT_EQ(flow.refused_by, "validatejobflow.volcano.sh");
  EXPECT_EQ(admit(R"({"apiVersion": "v7", "kind": "Odd", "metadata": {"name": "f"}})").answer.warnings,
            std::vector<std::string>{"no rule concerns v7 Odd"});
}

TEST(Hooks, have_the_names_of_their_webhooks) {
  std::map<std::string, std::string> names;
  for (const api::AdmissionHook& hook : hooks({})) names[hook.path] = hook.name;
  for (const auto& [path, name] : names) EXPECT_NE(name, "") << path;
  EXPECT_EQ(names["/hypernodes/validate"], "validatehypernodes.volcano.sh");
  EXPECT_EQ(names["/jobs/validate"], "validatejob.volcano.sh");
}

}  // namespace
}  // namespace admission

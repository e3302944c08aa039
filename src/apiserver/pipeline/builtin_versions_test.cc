// Kinds in their other forms, certificates that are asked for, and lists of older revisions, as HTTP asks for them.
#include "apiserver/pipeline/builtin_versions.h"

#include <gtest/gtest.h>

#include "apiserver/http/route.h"
#include "apiserver/pipeline/api_for_tests.h"
#include "base/base64.h"
#include "base/format.h"

namespace apiserver {
namespace {

using api::Json;
using base::Code;

constexpr const char* kJson = "application/json";
constexpr const char* kMerge = "application/merge-patch+json";
constexpr const char* kApply = "application/apply-patch+yaml";

struct Bench : ApiForTests {
  Request routed(std::string method, std::string target, std::string_view body = "", std::string type = kJson) {
    rt::HttpRequest http;
    http.method = std::move(method);
    http.target = std::move(target);
    http.headers = {{"Content-Type", std::move(type)}};
    http.body = body;
    auto made = route(http, rt::parse_target(http.target), *api.kinds());
    CHECK(made.ok() && made->has_value());
    CHECK(decode_body(http, **made).ok());
    (*made)->default_manager = "test";
    (*made)->user = {"jane", {"people", "system:masters"}, "uid-1"};
    return **made;
  }
  base::Result<Json> ask(std::string method, std::string target, std::string_view body = "", std::string type = kJson) {
    std::optional<base::Result<Answer>> answer;
    api.call(routed(std::move(method), std::move(target), body, std::move(type)),
             [&](base::Result<Answer> a) { answer.emplace(std::move(a)); });
    env.settle();
    TRY(Answer got, *std::move(answer));
    return object_of(std::move(got));
  }
  Json ok(std::string method, std::string target, std::string_view body = "", std::string type = kJson) {
    auto answer = ask(std::move(method), std::move(target), body, std::move(type));
    EXPECT_TRUE(answer.ok()) << answer.error().message;
    return answer.ok() ? *answer : Json();
  }
  std::string refused(std::string method, std::string target, std::string_view body = "", std::string type = kJson) {
    const auto answer = ask(std::move(method), std::move(target), body, std::move(type));
    return answer.ok() ? "nothing was refused" : answer.error().message;
  }
};

const std::string kNewEvents = "/apis/events.k8s.io/v1/namespaces/default/events";
const std::string kOldEvents = "/api/v1/namespaces/default/events";
constexpr std::string_view kEvent = R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"e"},
    "eventTime":"2026-01-02T03:04:05.000000Z","regarding":{"kind":"Pod","name":"p","namespace":"default"},"reason":"Tried",
    "action":"Try","note":"a note","type":"Normal","reportingController":"c","reportingInstance":"i"})";

TEST(OtherForms, an_event_is_one_in_both_groups) {
  Bench b;
  EXPECT_EQ(b.ok("POST", kNewEvents, kEvent)["note"].as_string(), "a note");
  const Json old = b.ok("GET", kOldEvents + "/e");
  EXPECT_EQ(old["apiVersion"].as_string(), "v1");
  EXPECT_EQ(old["message"].as_string(), "a note");
  EXPECT_EQ(old["involvedObject"]["name"].as_string(), "p");
  EXPECT_EQ(old["reportingComponent"].as_string(), "c");
  const Json patched =
      b.ok("PATCH", kNewEvents + "/e",
           R"({"note":"another","series":{"count":2,"lastObservedTime":"2026-01-02T03:04:06.000000Z"}})", kMerge);
  EXPECT_EQ(patched["apiVersion"].as_string(), "events.k8s.io/v1");
  EXPECT_EQ(patched["note"].as_string(), "another");
  EXPECT_EQ(b.ok("GET", kOldEvents + "/e")["series"]["count"].as_int(), 2);
  const Json list = b.ok("GET", kNewEvents + "?fieldSelector=regarding.name%3Dp,reportingController%3Dc");
  EXPECT_EQ(list["apiVersion"].as_string(), "events.k8s.io/v1");
  ASSERT_EQ(list["items"].size(), 1U);
  EXPECT_EQ(list["items"][std::size_t{0}]["note"].as_string(), "another");
  EXPECT_EQ(b.ok("GET", kNewEvents + "?fieldSelector=regarding.name%3Dother")["items"].size(), 0U);
  EXPECT_EQ(b.refused("POST", kNewEvents, R"({"apiVersion":"v1","kind":"Event","metadata":{"name":"x"}})"),
            "the API version in the data (v1, kind Event) does not match the expected API version (events.k8s.io/v1, "
            "kind Event)");
}

TEST(OtherForms, a_watch_tells_events_in_the_form_that_was_asked_for) {
  Bench b;
  std::string seen;
  WatchSink sink;
  sink.on_events = [&](const WatchSlicePtr& slice) {
    for (const store::Event& event : slice->events) {
      const Json object = event.object->json();
      seen += object["apiVersion"].str() + " " + object["note"].str() + "\n";
    }
    return true;
  };
  sink.on_bookmark = [](std::int64_t, bool) {};
  auto watch = b.api.watch(b.routed("GET", kNewEvents + "?watch=true"), std::move(sink));
  ASSERT_TRUE(watch.ok());
  ASSERT_TRUE((*watch)->resume().ok());
  b.ok("POST", kNewEvents, kEvent);
  b.env.settle();
  EXPECT_EQ(seen, "events.k8s.io/v1 a note\n");
}

const std::string kV1 = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
const std::string kV2 = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
constexpr std::string_view kScaler =
    R"({"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","metadata":{"name":"h"},
    "spec":{"maxReplicas":5,"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"},"targetCPUUtilizationPercentage":70}})";

TEST(OtherForms, an_autoscaler_keeps_in_version_1_what_only_version_2_has) {
  Bench b;
  b.ok("POST", kV1, kScaler);
  const std::string all = R"({"spec":{"behavior":{"scaleDown":{"stabilizationWindowSeconds":7}},"metrics":[
      {"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":60}}},
      {"type":"Resource","resource":{"name":"memory","target":{"type":"AverageValue","averageValue":"1Gi"}}}]}})";
  b.ok("PATCH", kV2 + "/h", all, kMerge);
  Json old = b.ok("GET", kV1 + "/h");
  EXPECT_EQ(old["spec"]["targetCPUUtilizationPercentage"].as_int(), 60);
  EXPECT_TRUE(old["spec"]["metrics"].is_null());
  old.edit("spec").set("targetCPUUtilizationPercentage", 50);
  b.ok("PUT", kV1 + "/h", old.dump());
  b.ok("PATCH", kV1 + "/h", R"({"spec":{"maxReplicas":9}})", kMerge);
  const Json now = b.ok("GET", kV2 + "/h");
  EXPECT_EQ(now["spec"]["maxReplicas"].as_int(), 9);
  ASSERT_EQ(now["spec"]["metrics"].size(), 2U);
  EXPECT_EQ(now["spec"]["metrics"][std::size_t{0}]["resource"]["target"]["averageUtilization"].as_int(), 50);
  EXPECT_EQ(now["spec"]["metrics"][std::size_t{1}]["resource"]["target"]["averageValue"].as_string(), "1Gi");
  EXPECT_EQ(now["spec"]["behavior"]["scaleDown"]["stabilizationWindowSeconds"].as_int(), 7);
  EXPECT_TRUE(now["metadata"]["annotations"].is_null());
}

TEST(OtherForms, are_applied_and_refused_as_the_stored_form) {
  Bench b;
  b.ok("PATCH", kV1 + "/h?fieldManager=m", kScaler, kApply);
  EXPECT_EQ(
      b.ok("GET", kV2 + "/h")["spec"]["metrics"][std::size_t{0}]["resource"]["target"]["averageUtilization"].as_int(),
      70);
  EXPECT_EQ(b.refused("PATCH", kV1 + "/h", R"({"spec":{"maxReplicas":0}})", kMerge).find("spec.maxReplicas") !=
                std::string::npos,
            true);
  EXPECT_EQ(b.refused("PATCH", kV1 + "/absent", "{}", kMerge),
            "horizontalpodautoscalers.autoscaling \"absent\" not found");
}

// Made with: openssl req -new -subj /O=flows/CN=jane
constexpr std::string_view kRequestPem = R"(-----BEGIN CERTIFICATE REQUEST-----
MIHaMIGBAgEAMB8xDjAMBgNVBAoMBWZsb3dzMQ0wCwYDVQQDDARqYW5lMFkwEwYH
KoZIzj0CAQYIKoZIzj0DAQcDQgAEsi04o1ZMvnUn2647FIq3KaJzjCoAetMry2iV
VwLMsJAmmf0Daoe1Bd/vcSYhfz163SH8sfcrkbP3tGZCuhqUJqAAMAoGCCqGSM49
BAMCA0gAMEUCIDUzlD2XxGRchZsRCPG99rk7m0fKAhTb6NfsnjacLSQBAiEAkGLJ
EU6YtxGP3s2tgu0q6sqHug+vwB6P5zYqo1HQ9vw=
-----END CERTIFICATE REQUEST-----
)";
const std::string kRequests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
std::string request_for(std::string_view pem, std::string_view signer = "kubernetes.io/kube-apiserver-client",
                        std::string_view more = "") {
  return base::format(
      R"({{"metadata":{{"name":"r"}},"spec":{{"request":"{}","signerName":"{}","usages":["client auth"],"username":"root"{}}}}})",
      base::base64_encode(std::string(pem)), signer, more);
}
constexpr std::string_view kApproved =
    R"({"status":{"conditions":[{"type":"Approved","status":"True","reason":"R"}],"certificate":"eA=="},"spec":{"signerName":"a.b/c"}})";

TEST(SigningRequests, say_who_asked_and_are_approved_by_their_own_subresource) {
  Bench b;
  const Json made = b.ok("POST", kRequests, request_for(kRequestPem));
  EXPECT_EQ(made["spec"]["username"].as_string(), "jane");
  EXPECT_EQ(made["spec"]["groups"].dump(), R"(["people","system:masters"])");
  EXPECT_TRUE(b.ok("PATCH", kRequests + "/r", kApproved, kMerge)["status"].is_null());
  EXPECT_TRUE(b.ok("PATCH", kRequests + "/r/status",
                   R"({"status":{"conditions":[{"type":"Approved","status":"True"}]}})", kMerge)["status"]["conditions"]
                  .is_null());
  const Json approved = b.ok("PATCH", kRequests + "/r/approval", kApproved, kMerge);
  EXPECT_EQ(approved["status"]["conditions"][std::size_t{0}]["type"].as_string(), "Approved");
  EXPECT_TRUE(approved["status"]["certificate"].is_null());
  EXPECT_EQ(approved["spec"]["signerName"].as_string(), "kubernetes.io/kube-apiserver-client");
  const auto denied = b.refused(
      "PATCH", kRequests + "/r/approval",
      R"({"status":{"conditions":[{"type":"Approved","status":"True"},{"type":"Denied","status":"True"}]}})", kMerge);
  EXPECT_NE(denied.find("mutually exclusive"), std::string::npos) << denied;
  const auto taken_back = b.refused("PATCH", kRequests + "/r/approval", R"({"status":{"conditions":null}})", kMerge);
  EXPECT_NE(taken_back.find("may not remove a condition of type \"Approved\""), std::string::npos) << taken_back;
  const auto no_certificate =
      b.refused("PATCH", kRequests + "/r/status", R"({"status":{"certificate":"eA=="}})", kMerge);
  EXPECT_NE(no_certificate.find("status.certificate"), std::string::npos) << no_certificate;
}

TEST(SigningRequests, that_make_no_sense_are_refused) {
  Bench b;
  struct Row {
    std::string body;
    const char* why;
  };
  const Row rows[] = {
      {request_for("nonsense"), "spec.request"},
      {request_for(kRequestPem, "kubernetes.io/legacy-unknown"), "the legacy signerName is not allowed"},
      {request_for(kRequestPem, "signer"), "must be a fully qualified domain and path"},
      {request_for(kRequestPem, "a.b/c", R"(,"expirationSeconds":5)"), "600 seconds"}};
  for (const Row& row : rows) {
    const std::string why = b.refused("POST", kRequests, row.body);
    EXPECT_NE(why.find(row.why), std::string::npos) << why;
  }
}

const std::string kMaps = "/api/v1/namespaces/default/configmaps";

TEST(OldLists, are_those_of_their_revision) {
  Bench b;
  for (const char* name : {"a", "b", "c", "d", "e"})
    b.ok("POST", kMaps, base::format(R"({{"metadata":{{"name":"{}"}},"data":{{"k":"old"}}}})", name));
  const Json first = b.ok("GET", kMaps + "?limit=2");
  const std::string revision = first["metadata"]["resourceVersion"].str();
  b.ok("DELETE", kMaps + "/c");
  b.ok("PATCH", kMaps + "/d", R"({"data":{"k":"new"}})", kMerge);
  b.ok("PATCH", kMaps + "/d", R"({"data":{"k":"newer"}})", kMerge);
  b.ok("POST", kMaps, R"({"metadata":{"name":"bb"}})");
  b.ok("DELETE", kMaps + "/e");
  b.ok("POST", kMaps, R"({"metadata":{"name":"e"},"data":{"k":"another"}})");
  const auto converted = [](const Json& list) {
    std::string text;
    for (const Json& item : list["items"].items())
      text += item["metadata"]["name"].str() + "=" + item["data"]["k"].str() + " ";
    return text;
  };
  std::string rest;
  std::string token = first["metadata"]["continue"].str();
  while (!token.empty()) {
    const Json page = b.ok("GET", kMaps + "?limit=2&continue=" + token);
    EXPECT_EQ(page["metadata"]["resourceVersion"].as_string(), revision);
    rest += converted(page);
    token = page["metadata"]["continue"].str();
  }
  EXPECT_EQ(rest, "c=old d=old e=old ");
  const Json exact = b.ok("GET", kMaps + "?resourceVersionMatch=Exact&resourceVersion=" + revision);
  EXPECT_EQ(converted(exact), "a=old b=old c=old d=old e=old ");
  EXPECT_EQ(exact["metadata"]["resourceVersion"].as_string(), revision);
  EXPECT_EQ(converted(b.ok("GET", kMaps)), "a=old b=old bb= d=newer e=another ");
}

TEST(OldLists, that_history_has_forgotten_offer_to_go_on_with_what_there_is) {
  client::testing::FakeEnv env;
  const auto kv = rt::make_memory_kv();
  const auto store = *store::Store::open(env, *kv, {.history_events_max = 4});
  Api api(env, *store, ApiOptions{});
  const auto kind = api::find_kind(api::resources::kConfigMaps);
  const auto make = [&](Verb verb, const std::string& name) {
    Request request;
    request.verb = verb;
    request.kind = kind;
    request.resource = static_cast<std::uint32_t>(kind - api::all_kinds().data());
    request.ns = "default";
    request.name = verb == Verb::kCreate ? "" : name;
    request.user = {"system:apiserver", {"system:masters"}};
    request.body = Json::object({{"metadata", Json::object({{"name", name}})}});
    return request;
  };
  const auto call = [&](Request request) {
    std::optional<base::Result<Answer>> answer;
    api.call(std::move(request), [&](base::Result<Answer> a) { answer.emplace(std::move(a)); });
    env.settle();
    return *std::move(answer);
  };
  api.bootstrap([](base::Status) {});
  env.settle();
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(call(make(Verb::kCreate, name)).ok());
  Request list = make(Verb::kList, "");
  list.limit = 1;
  list.continue_token = object_of(*call(list))["metadata"]["continue"].str();
  for (const char* name : {"d", "e", "f", "g", "h", "i"}) ASSERT_TRUE(call(make(Verb::kCreate, name)).ok());
  const auto old = call(list);
  ASSERT_TRUE(old.ok());
  EXPECT_EQ(old->status, 410);
  EXPECT_EQ(old->object["reason"].as_string(), "Expired");
  list.continue_token = old->object["metadata"]["continue"].str();
  const Json next = object_of(*call(list));
  EXPECT_EQ(next["items"][std::size_t{0}]["metadata"]["name"].as_string(), "b");
  Request exact = make(Verb::kList, "");
  exact.resource_version = "1";
  exact.resource_version_match = "Exact";
  EXPECT_EQ(call(exact).error().code, Code::kExpired);
}

TEST(Statuses, may_leave_out_what_is_empty) {
  Bench b;
  b.ok("POST", "/api/v1/namespaces/default/pods",
       R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"x"}]}})");
  const Json pod = b.ok("PATCH", "/api/v1/namespaces/default/pods/p/status",
                        R"({"status":{"phase":"Running","containerStatuses":[{"name":"c","ready":true}]}})", kMerge);
  EXPECT_TRUE(pod["status"]["containerStatuses"][std::size_t{0}]["ready"].as_bool());
}

TEST(Metadata, that_a_patch_empties_is_gone) {
  Bench b;
  b.ok("POST", kMaps, R"({"metadata":{"name":"m","labels":{},"ownerReferences":[
      {"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"u"}]}})");
  const Json map = b.ok("PATCH", kMaps + "/m", R"({"metadata":{"ownerReferences":[{"$patch":"delete","uid":"u"}]}})",
                        "application/strategic-merge-patch+json");
  EXPECT_EQ(map["metadata"].find("ownerReferences"), nullptr);
  EXPECT_EQ(map["metadata"].find("labels"), nullptr);
}

}  // namespace
}  // namespace apiserver

// Webhooks of strangers, by a caller that answers as a test says: what they are sent, what they change and refuse.
#include <gtest/gtest.h>

#include <map>

#include "api/policies/webhook.h"
#include "apiserver/custom/custom_for_tests.h"
#include "apiserver/pipeline/api_for_tests.h"
#include "base/base64.h"
#include "base/format.h"

namespace apiserver {
namespace {

using api::Json;
using base::Code;

Json json(std::string_view text) {
  auto parsed = api::parse_json(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : Json();
}

// By the URL that is called.
struct FakeCaller : WebhookCaller {
  using Answer = std::function<base::Result<std::string>(const Json& request)>;

  explicit FakeCaller(rt::Env& e) : env(e) {}
  void call(const api::ObjectReader&, const api::policies::WebhookAddress& address, std::string body, base::Duration,
            OnReply on_reply) override {
    const Json review = json(body);
    asked.push_back(address.url);
    seen[address.url] = review;
    const auto found = answers.find(address.url);
    auto reply = found == answers.end() ? base::Result<std::string>(base::make_error(Code::kUnavailable, "refused"))
                                        : found->second(review["request"]);
    env.loop().after(base::milliseconds(100), [on_reply, reply] { on_reply(reply); });
  }

  rt::Env& env;
  std::map<std::string, Answer> answers;
  std::map<std::string, Json> seen;
  std::vector<std::string> asked;
};

std::string response(const Json& request, std::string_view members) {
  return base::format(
      R"j({{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {{"uid": "{}", {}}}}})j",
      request["uid"].as_string(), members);
}
FakeCaller::Answer answer_with(std::string members) {
  return [members](const Json& request) { return response(request, members); };
}
FakeCaller::Answer patches(std::string_view operations) {
  return answer_with(
      base::format(R"("allowed": true, "patchType": "JSONPatch", "patch": "{}")", base::base64_encode(operations)));
}

struct Bench {
  client::testing::FakeEnv env;
  FakeCaller caller{env};
  std::unique_ptr<rt::KvStore> kv = rt::make_memory_kv();
  std::unique_ptr<store::Store> store = *store::Store::open(env, *kv);
  Api api{env, *store, ApiOptions{.webhook_caller = &caller}};

  Bench() {
    api.bootstrap([](base::Status) {});
    env.settle();
  }

  Request request(Verb verb, const api::ResourceId& id, std::string_view body) {
    Request r;
    r.verb = verb;
    r.kind = api::find_kind(id);
    r.resource = static_cast<std::uint32_t>(r.kind - api::all_kinds().data());
    if (r.kind->namespaced) r.ns = "default";
    r.body = json(body);
    r.default_manager = "test";
    r.user = {"anna", {"system:masters"}, "u-1", {{"scopes", "a"}, {"scopes", "b"}}};
    if (verb != Verb::kCreate) r.name = api::name_of(r.body);
    return r;
  }
  base::Result<Answer> call(Request r) {
    std::optional<base::Result<Answer>> answer;
    api.call(std::move(r), [&](base::Result<Answer> a) { answer.emplace(std::move(a)); });
    env.run_for(base::seconds(5));
    EXPECT_TRUE(answer.has_value());
    return *std::move(answer);
  }
  base::Result<Answer> create(std::string_view body) { return call(request(Verb::kCreate, kMaps, body)); }
  Json made(std::string_view body) {
    auto answer = create(body);
    EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : answer.error().message);
    return answer.ok() ? object_of(*std::move(answer)) : Json();
  }
  // The answer that the client gets; empty: it was done.
  static std::string problem_of(const base::Result<Answer>& answer) {
    if (!answer.ok()) return base::format("{}: {}", base::http_status(answer.error().code), answer.error().message);
    return answer->status < 400 ? ""
                                : base::format("{} {}: {}", answer->status, answer->object["reason"].as_string(),
                                               answer->object["message"].as_string());
  }

  static std::string webhook(std::string_view name, std::string_view more = "") {
    return base::format(
        R"j({{"name": "{0}.example.com", "clientConfig": {{"url": "https://{0}/"}}, "sideEffects": "None",
           "admissionReviewVersions": ["v1"], {1} "rules": [{{"apiGroups": [""], "apiVersions": ["v1"],
           "operations": ["*"], "resources": ["configmaps"]}}]}})j",
        name, more);
  }
  void configure(bool mutating, std::string_view name, std::string_view webhooks) {
    const auto answer =
        call(request(Verb::kCreate, mutating ? api::policies::kMutatingWebhooks : api::policies::kValidatingWebhooks,
                     base::format(R"({{"metadata": {{"name": "{}"}}, "webhooks": [{}]}})", name, webhooks)));
    EXPECT_EQ(problem_of(answer), "") << name;
  }
  void validating(std::string_view name, FakeCaller::Answer answer, std::string_view more = "") {
    configure(false, name, webhook(name, more));
    caller.answers[base::format("https://{}/", name)] = std::move(answer);
  }
  void mutating(std::string_view name, FakeCaller::Answer answer, std::string_view more = "") {
    configure(true, name, webhook(name, more));
    caller.answers[base::format("https://{}/", name)] = std::move(answer);
  }

  const api::ResourceId& kMaps = api::resources::kConfigMaps;
};

TEST(Webhooks, refuse_in_their_own_words) {
  Bench bench;
  bench.validating(
      "v", answer_with(R"("allowed": false, "status": {"code": 418, "message": "no tea"}, "warnings": ["careful"])"));
  const auto answer = bench.create(R"({"metadata": {"name": "a"}})");
  EXPECT_EQ(Bench::problem_of(answer), "418 : admission webhook \"v.example.com\" denied the request: no tea");
  EXPECT_EQ(answer->warnings, std::vector<std::string>{"careful"});
  bench.caller.answers["https://v/"] =
      answer_with(R"("allowed": false, "status": {"reason": "Forbidden", "code": 200})");
  EXPECT_EQ(Bench::problem_of(bench.create(R"({"metadata": {"name": "a"}})")),
            "400 Forbidden: admission webhook \"v.example.com\" denied the request: Forbidden");
  bench.caller.answers["https://v/"] = answer_with(R"("allowed": false)");
  EXPECT_EQ(Bench::problem_of(bench.create(R"({"metadata": {"name": "a"}})")),
            "400 : admission webhook \"v.example.com\" denied the request without explanation");
  bench.caller.answers["https://v/"] = answer_with(R"("allowed": true)");
  EXPECT_EQ(Bench::problem_of(bench.create(R"({"metadata": {"name": "a"}})")), "");
}

TEST(Webhooks, are_told_what_is_asked) {
  Bench bench;
  bench.validating("v", answer_with(R"("allowed": true)"));
  bench.made(R"({"metadata": {"name": "a"}, "data": {"k": "v"}})");
  const Json review = bench.caller.seen["https://v/"];
  EXPECT_EQ(review["apiVersion"].as_string(), "admission.k8s.io/v1");
  Json asked = review["request"];
  EXPECT_EQ(asked["object"]["data"]["k"].as_string(), "v");
  EXPECT_FALSE(asked["object"]["metadata"]["uid"].as_string().empty());
  for (const char* gone : {"uid", "object"}) asked.erase(gone);
  EXPECT_EQ(asked.dump(), json(R"j({"kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
    "resource": {"group": "", "version": "v1", "resource": "configmaps"},
    "requestKind": {"group": "", "version": "v1", "kind": "ConfigMap"},
    "requestResource": {"group": "", "version": "v1", "resource": "configmaps"},
    "name": "a", "namespace": "default", "operation": "CREATE",
    "userInfo": {"username": "anna", "uid": "u-1", "groups": ["system:masters"], "extra": {"scopes": ["a", "b"]}},
    "oldObject": null, "dryRun": false,
    "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "fieldValidation": "Warn"}})j")
                              .dump());
  // One that changes names generates none: it is not stored yet.
  bench.mutating("m", answer_with(R"("allowed": true)"));
  const Json stored = bench.made(R"({"metadata": {"generateName": "gen-"}})");
  asked = bench.caller.seen["https://m/"]["request"];
  EXPECT_FALSE(asked.has("name"));
  EXPECT_EQ(asked["object"]["metadata"].dump(), R"({"generateName":"gen-","namespace":"default"})");
  EXPECT_EQ(bench.caller.seen["https://v/"]["request"]["name"], stored["metadata"]["name"]);
  // The old object is deleted, once for each of a collection.
  Request all = bench.request(Verb::kDeleteCollection, bench.kMaps, "{}");
  bench.caller.asked.clear();
  EXPECT_EQ(Bench::problem_of(bench.call(std::move(all))), "");
  EXPECT_EQ(bench.caller.asked.size(), 4U);
  asked = bench.caller.seen["https://v/"]["request"];
  EXPECT_EQ(asked["operation"].as_string(), "DELETE");
  EXPECT_TRUE(asked["object"].is_null());
  EXPECT_EQ(asked["options"]["kind"].as_string(), "DeleteOptions");
}

// A PUT makes objects of some kinds where there are none.
TEST(Webhooks, are_told_of_what_a_put_creates) {
  Bench bench;
  const api::ResourceId roles{"rbac.authorization.k8s.io", "v1", "roles"};
  bench.configure(false, "v",
                  R"j({"name": "v.example.com", "clientConfig": {"url": "https://v/"}, "sideEffects": "None",
      "admissionReviewVersions": ["v1"], "rules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["CREATE"],
      "resources": ["roles"]}]})j");
  bench.caller.answers["https://v/"] = answer_with(R"("allowed": false, "status": {"code": 418, "message": "no tea"})");
  EXPECT_EQ(Bench::problem_of(bench.call(bench.request(Verb::kUpdate, roles, R"({"metadata": {"name": "r"}})"))),
            "418 : admission webhook \"v.example.com\" denied the request: no tea");
  EXPECT_EQ(bench.caller.seen["https://v/"]["request"]["operation"].as_string(), "CREATE");
}

TEST(Webhooks, change_objects_in_the_order_of_names) {
  Bench bench;
  bench.mutating("b", patches(R"([{"op": "add", "path": "/data", "value": {"by": "b"}}])"));
  bench.mutating("a", patches(R"([{"op": "add", "path": "/data", "value": {"by": "a"}}])"));
  const Json stored = bench.made(R"({"metadata": {"name": "x"}})");
  EXPECT_EQ(stored["data"].dump(), R"({"by":"b"})");
  EXPECT_FALSE(stored["metadata"]["uid"].as_string().empty());
  EXPECT_EQ(bench.caller.asked, (std::vector<std::string>{"https://a/", "https://b/"}));
}

TEST(Webhooks, are_asked_again_when_something_changed_behind_them) {
  Bench bench;
  bench.mutating("a", answer_with(R"("allowed": true)"), R"("reinvocationPolicy": "IfNeeded",)");
  bench.mutating("b", patches(R"([{"op": "add", "path": "/data", "value": {"by": "b"}}])"));
  bench.made(R"({"metadata": {"name": "x"}})");
  EXPECT_EQ(bench.caller.asked, (std::vector<std::string>{"https://a/", "https://b/", "https://a/"}));
  EXPECT_EQ(bench.caller.seen["https://a/"]["request"]["object"]["data"]["by"].as_string(), "b");
}

TEST(Webhooks, that_fail_refuse_or_are_ignored) {
  Bench bench;
  const std::string failed = "500: Internal error occurred: failed calling webhook \"v.example.com\": ";
  bench.validating("v", {});
  bench.caller.answers.clear();
  EXPECT_EQ(Bench::problem_of(bench.create(R"({"metadata": {"name": "a"}})")),
            failed + "failed to call webhook: refused");
  const std::string wrong = failed + "received invalid webhook response: ";
  for (const auto& [text, why] : std::map<std::string, std::string>{
           {"<html>", "failed to call webhook: couldn't get version/kind; json parse error: "},
           {"[]", "failed to call webhook: couldn't get version/kind; json parse error: the answer is not an object"},
           {"{}", "received invalid webhook response: webhook response was absent"},
           {R"({"response": {"uid": "other", "allowed": true}})",
            "received invalid webhook response: expected response.uid="},
           {R"({"response": {"allowed": "yes"}})",
            "failed to call webhook: json: cannot unmarshal \"yes\" into field response.allowed of type bool"}}) {
    bench.caller.answers["https://v/"] = [&text = text](const Json&) { return text; };
    EXPECT_EQ(Bench::problem_of(bench.create(R"({"metadata": {"name": "a"}})")).substr(0, (failed + why).size()),
              failed + why);
  }
  bench.caller.answers["https://v/"] = [](const Json& request) {
    return base::format(R"({{"kind": "Review", "apiVersion": "v1", "response": {{"uid": "{}"}}}})",
                        request["uid"].as_string());
  };
  EXPECT_EQ(Bench::problem_of(bench.create(R"({"metadata": {"name": "a"}})")),
            wrong + "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got v1, Kind=Review");
  bench.caller.answers["https://v/"] = patches("[]");
  EXPECT_EQ(Bench::problem_of(bench.create(R"({"metadata": {"name": "a"}})")),
            wrong + "validating webhook may not return response.patch");
  Request gone = bench.request(Verb::kDelete, api::policies::kValidatingWebhooks, R"({"metadata": {"name": "v"}})");
  gone.body = {};
  EXPECT_EQ(Bench::problem_of(bench.call(std::move(gone))), "");
  bench.validating("w", {}, R"("failurePolicy": "Ignore",)");
  bench.caller.answers.clear();
  bench.caller.asked.clear();
  bench.made(R"({"metadata": {"name": "a"}})");
  EXPECT_EQ(bench.caller.asked.size(), 1U);
}

TEST(Webhooks, cannot_make_another_object_of_one) {
  Bench bench;
  bench.mutating("m", patches(R"([{"op": "replace", "path": "/metadata/namespace", "value": "kube-system"}])"));
  EXPECT_NE(Bench::problem_of(bench.create(R"({"metadata": {"name": "a"}})")).find("does not match the namespace"),
            std::string::npos);
  for (const char* patch : {R"([{"op": "replace", "path": "/kind", "value": "Secret"}])",
                            R"([{"op": "remove", "path": "/x"}])", R"([{"op": "replace", "path": "", "value": []}])",
                            R"([7])", R"([{"op": "replace", "path": "/metadata", "value": "x"}])"}) {
    bench.caller.answers["https://m/"] = patches(patch);
    EXPECT_NE(Bench::problem_of(bench.create(R"({"metadata": {"name": "a"}})")), "") << patch;
  }
  bench.caller.answers["https://m/"] = patches(R"([{"op": "add", "path": "/data", "value": {"k": 7}}])");
  EXPECT_EQ(Bench::problem_of(bench.create(R"({"metadata": {"name": "a"}})")).substr(0, 4), "422:");
  // A name may be given to a new object, and not to one that has its own.
  bench.caller.answers["https://m/"] = patches(R"([{"op": "add", "path": "/metadata/name", "value": "other"}])");
  EXPECT_EQ(api::name_of(bench.made(R"({"metadata": {"generateName": "a-"}})")), "other");
  bench.caller.answers.clear();
  bench.caller.answers["https://m/"] = patches(R"([{"op": "replace", "path": "/metadata/name", "value": "third"}])");
  EXPECT_EQ(
      Bench::problem_of(bench.call(bench.request(Verb::kUpdate, bench.kMaps, R"({"metadata": {"name": "other"}})"))),
      "422: ConfigMap \"other\" is invalid: metadata.name: Invalid value: \"third\": field is immutable");
}

TEST(Webhooks, see_what_selectors_and_conditions_let_through) {
  Bench bench;
  bench.validating("s", answer_with(R"("allowed": false)"),
                   R"("objectSelector": {"matchLabels": {"watched": "yes"}},)");
  bench.validating("n", answer_with(R"("allowed": false)"),
                   R"("namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "other"}},)");
  bench.validating("c", answer_with(R"("allowed": false)"),
                   R"("matchConditions": [{"name": "big", "expression": "object.metadata.name == 'big'"}],)");
  bench.made(R"({"metadata": {"name": "a"}})");
  EXPECT_TRUE(bench.caller.asked.empty());
  EXPECT_NE(Bench::problem_of(bench.create(R"({"metadata": {"name": "b", "labels": {"watched": "yes"}}})")), "");
  EXPECT_NE(Bench::problem_of(bench.create(R"({"metadata": {"name": "big"}})")), "");
  EXPECT_EQ(bench.caller.asked, (std::vector<std::string>{"https://s/", "https://c/"}));
  // One that leaves the selector by the change is seen by it, too.
  bench.caller.answers["https://s/"] = answer_with(R"("allowed": true)");
  bench.made(R"({"metadata": {"name": "b", "labels": {"watched": "yes"}}})");
  bench.caller.asked.clear();
  EXPECT_EQ(Bench::problem_of(bench.call(bench.request(Verb::kUpdate, bench.kMaps, R"({"metadata": {"name": "b"}})"))),
            "");
  EXPECT_EQ(bench.caller.asked, std::vector<std::string>{"https://s/"});
}

TEST(Webhooks, decide_by_what_is_stored_when_they_have_answered) {
  Bench bench;
  bench.made(R"({"metadata": {"name": "a"}, "data": {"n": "0"}})");
  int changes = 0;
  std::vector<std::string> old;
  const auto answer = [&](const Json& request) {
    old.push_back(request["oldObject"]["data"]["n"].str());
    // Somebody else is quicker, and is not asked about.
    if (changes++ == 0)
      bench.api.call(bench.request(Verb::kUpdate, bench.kMaps, R"j({"metadata": {"name": "a",
          "labels": {"quick": "yes"}}, "data": {"n": "1"}})j"),
                     [](const auto&) {});
    return response(request, R"j("allowed": true)j");
  };
  bench.validating("v", answer,
                   R"j("matchConditions": [{"name": "slow", "expression": "!has(object.metadata.labels)"}],)j");
  Request slow =
      bench.request(Verb::kPatch, bench.kMaps, R"j({"metadata": {"name": "a", "labels": null}, "data": {"m": "2"}})j");
  const auto done = bench.call(std::move(slow));
  EXPECT_EQ(Bench::problem_of(done), "");
  EXPECT_EQ(old, (std::vector<std::string>{"0", "1"}));
  const Json data = object_of(*done)["data"];
  EXPECT_EQ(data["n"].as_string(), "1");
  EXPECT_EQ(data["m"].as_string(), "2");
}

// The definition may change while the webhook thinks.
TEST(Webhooks, that_answer_late_make_no_object_of_a_kind_that_went) {
  Bench bench;
  const auto define = [&] {
    bench.api.call(bench.request(Verb::kCreate, kDefinitions, yaml(kWidgets).dump()), [](const auto&) {});
    bench.env.settle();
  };
  const auto undefine = [&] {
    Request gone = bench.request(Verb::kDelete, kDefinitions, yaml(kWidgets).dump());
    gone.body = {};
    bench.api.call(std::move(gone), [](const auto&) {});
  };
  define();
  const ServedKind widgets = bench.api.kinds()->find(kWidgetsV1);
  const auto make = [&](const std::string& metadata, const std::function<void()>& meanwhile, bool apply = false) {
    Request one = bench.request(Verb::kCreate, bench.kMaps,
                                base::format(R"({{"apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {}, "spec": {{"size": "small"}}}})",
                                             metadata));
    const ServedKind served = bench.api.kinds()->find(kWidgetsV1);
    one.kind = served.kind;
    one.resource = served.resource;
    one.holds_kind = served.custom;
    if (apply) {
      one.verb = Verb::kPatch;
      one.patch_type = PatchType::kApply;
      one.name = api::name_of(one.body);
      one.field_manager = "test";
    }
    bench.caller.answers["https://v/"] = [&meanwhile](const Json& request) {
      meanwhile();
      return response(request, R"("allowed": true)");
    };
    return Bench::problem_of(bench.call(std::move(one)));
  };
  bench.configure(false, "v", R"j({"name": "v.example.com", "clientConfig": {"url": "https://v/"},
      "sideEffects": "None", "admissionReviewVersions": ["v1"], "rules": [{"apiGroups": ["example.com"],
      "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["widgets"]}]})j");
  EXPECT_EQ(make(R"({"name": "a"})", undefine), "404: the server could not find the requested resource");
  EXPECT_EQ(bench.store->count(widgets.resource), 0U);
  define();
  // It may be another one by then, with another schema.
  EXPECT_EQ(make(R"({"name": "a"})",
                 [&] {
                   undefine();
                   bench.env.loop().after(base::milliseconds(50), define);
                 }),
            "404: the server could not find the requested resource");
  EXPECT_EQ(bench.store->count(widgets.resource), 0U);
  EXPECT_EQ(make(R"({"name": "held", "finalizers": ["example.com/hold"]})", [] {}), "");
  for (const bool apply : {false, true})
    EXPECT_EQ(make(R"({"name": "b"})", undefine, apply),
              "405: create not allowed while custom resource definition is terminating");
  EXPECT_EQ(bench.store->count(widgets.resource), 1U);
}

TEST(Webhooks, configurations_are_checked_in_the_words_of_Kubernetes) {
  Bench bench;
  const auto refused = [&](std::string_view webhooks) {
    return Bench::problem_of(
        bench.call(bench.request(Verb::kCreate, api::policies::kMutatingWebhooks,
                                 base::format(R"({{"metadata": {{"name": "x"}}, "webhooks": [{}]}})", webhooks))));
  };
  const std::string begin = "422: MutatingWebhookConfiguration.admissionregistration.k8s.io \"x\" is invalid: ";
  for (
      const auto& [one, why] : std::vector<std::pair<std::string, std::string>>{
          {Bench::webhook("a") + "," + Bench::webhook("a"), "webhooks[1].name: Duplicate value: \"a.example.com\""},
          {R"({"name": "a.b", "clientConfig": {"url": "https://a"}, "sideEffects": "None", "admissionReviewVersions": ["v1"]})",
           "webhooks[0].name: Invalid value: \"a.b\": should be a domain with at least three segments separated by "
           "dots"},
          {R"({"name": "a.b.c", "clientConfig": {"url": "http://a"}, "sideEffects": "None", "admissionReviewVersions": ["v1"]})",
           "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired "
           "format: "
           "https://host[/path]"},
          {R"({"name": "a.b.c", "clientConfig": {"url": "https://u@a?q#f"}, "sideEffects": "None", "admissionReviewVersions": ["v1"]})",
           "[webhooks[0].clientConfig.url: Invalid value: \"u\": user information is not permitted in the URL, "
           "webhooks[0].clientConfig.url: Invalid value: \"f\": fragments are not permitted in the URL, "
           "webhooks[0].clientConfig.url: Invalid value: \"q\": query parameters are not permitted in the URL]"},
          {R"({"name": "a.b.c", "clientConfig": {"url": "https://@a"}, "sideEffects": "None", "admissionReviewVersions": ["v1"]})",
           "webhooks[0].clientConfig.url: Invalid value: \"\": user information is not permitted in the URL"},
          {R"({"name": "a.b.c", "clientConfig": {"url": "https://a/%zz"}, "sideEffects": "None", "admissionReviewVersions": ["v1"]})",
           "webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse \"https://a/%zz\": invalid "
           "URL "
           "escape \"%zz\"; desired format: https://host[/path]"},
          {R"({"name": "a.b.c", "clientConfig": {"url": "https://a:99999"}, "sideEffects": "None", "admissionReviewVersions": ["v1"]})",
           "webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse \"https://a:99999\": invalid "
           "host; desired format: https://host[/path]"},
          {R"({"name": "a.b.c", "clientConfig": {}, "sideEffects": "None", "admissionReviewVersions": ["v1"]})",
           "webhooks[0].clientConfig: Required value: exactly one of url or service is required"},
          {R"({"name": "a.b.c", "clientConfig": {"service": {"name": "s", "namespace": "n", "port": 70000}}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"]})",
           "webhooks[0].clientConfig.service.port: Invalid value: 70000: port is not valid: must be between 1 and "
           "65535, inclusive"},
          {R"({"name": "a.b.c", "clientConfig": {"url": "https://a"}, "sideEffects": "Some", "admissionReviewVersions": ["v1"]})",
           "webhooks[0].sideEffects: Unsupported value: \"Some\": supported values: \"None\", \"NoneOnDryRun\""},
          {R"({"name": "a.b.c", "clientConfig": {"url": "https://a"}, "sideEffects": "None", "admissionReviewVersions": ["v2"]})",
           "webhooks[0].admissionReviewVersions: Invalid value: [\"v2\"]: must include at least one of v1, v1beta1"},
          {R"({"name": "a.b.c", "clientConfig": {"url": "https://a"}, "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 31})",
           "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"},
          {R"({"name": "a.b.c", "clientConfig": {"url": "https://a"}, "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "rules": [{"apiGroups": ["*", "apps"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["*"]}]})",
           "webhooks[0].rules[0].apiGroups: Invalid value: [\"*\",\"apps\"]: if '*' is present, must not specify other "
           "API groups"},
          {R"({"name": "a.b.c", "clientConfig": {"url": "https://a"}, "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "matchConditions": [{"name": "c", "expression": "1"}]})",
           "webhooks[0].matchConditions[0].expression: Invalid value: \"1\": must evaluate to bool but got int"}})
    EXPECT_EQ(refused(one), begin + why);
  bench.configure(true, "good", Bench::webhook("good"));
  Request get = bench.request(Verb::kGet, api::policies::kMutatingWebhooks, R"({"metadata": {"name": "good"}})");
  const Json stored = object_of(*bench.call(std::move(get)))["webhooks"][std::size_t{0}];
  for (const auto& [field, value] : std::map<std::string, std::string>{{"failurePolicy", "\"Fail\""},
                                                                       {"matchPolicy", "\"Equivalent\""},
                                                                       {"namespaceSelector", "{}"},
                                                                       {"objectSelector", "{}"},
                                                                       {"timeoutSeconds", "10"},
                                                                       {"reinvocationPolicy", "\"Never\""}})
    EXPECT_EQ(stored[field].dump(), value) << field;
}

// Each bad step of a path is told with all of it.
TEST(Webhooks, paths_of_services_are_short) {
  Json config = json(R"({"service": {"namespace": "n", "name": "s"}})");
  config.edit("service").set("path", "/" + std::string(4096, 'a'));
  std::vector<base::Cause> causes;
  api::policies::check_webhook_address(config, "clientConfig", causes);
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].field, "clientConfig.service.path");
  EXPECT_TRUE(causes[0].message.ends_with("must have at most 4096 bytes")) << causes[0].message;
}

TEST(Webhooks, are_not_asked_about_themselves) {
  Bench bench;
  bench.configure(false, "all", R"j({"name": "all.example.com", "clientConfig": {"url": "https://all/"},
    "sideEffects": "None", "admissionReviewVersions": ["v1"], "rules": [{"apiGroups": ["*"], "apiVersions": ["*"],
    "operations": ["*"], "resources": ["*/*"]}]})j");
  EXPECT_NE(Bench::problem_of(bench.create(R"({"metadata": {"name": "a"}})")), "");
  Request gone = bench.request(Verb::kDelete, api::policies::kValidatingWebhooks, R"({"metadata": {"name": "all"}})");
  gone.body = {};
  EXPECT_EQ(Bench::problem_of(bench.call(std::move(gone))), "");
  EXPECT_EQ(Bench::problem_of(bench.create(R"({"metadata": {"name": "a"}})")), "");
}

}  // namespace
}  // namespace apiserver

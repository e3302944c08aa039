// The request pipeline without HTTP: writes, preconditions, finalizers, status, lists and watches.
#include "apiserver/pipeline/api.h"

#include <gtest/gtest.h>

#include "client/fake_env_for_tests.h"

namespace apiserver {
namespace {

using api::Json;
using base::Code;

struct Bench {
  client::testing::FakeEnv env;
  std::unique_ptr<rt::KvStore> kv = rt::make_memory_kv();
  std::unique_ptr<store::Store> store = *store::Store::open(env, *kv);
  std::unique_ptr<Api> api;

  explicit Bench(std::vector<api::AdmissionHook> hooks = {}) {
    api = std::make_unique<Api>(env, *store, ApiOptions{std::move(hooks), nullptr});
    api->bootstrap([](base::Status status) { EXPECT_TRUE(status.ok()); });
    env.settle();
  }

  Request request(Verb verb, const api::ResourceId& id, const std::string& name, Json body = {}) const {
    Request r;
    r.verb = verb;
    r.kind = api::find_kind(id);
    r.resource = static_cast<std::uint32_t>(r.kind - api::all_kinds().data());
    if (r.kind->namespaced) r.ns = "default";
    r.name = name;
    r.body = std::move(body);
    r.default_manager = "test";
    return r;
  }
  base::Result<Answer> call(Request r) {
    std::optional<base::Result<Answer>> answer;
    api->call(std::move(r), [&](base::Result<Answer> a) { answer.emplace(std::move(a)); });
    env.settle();
    EXPECT_TRUE(answer.has_value());
    return *std::move(answer);
  }
  Json ok(Request r) {
    auto answer = call(std::move(r));
    EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : answer.error().message);
    if (!answer.ok()) return {};
    return object_of(*std::move(answer));
  }
  base::Error refused(Request r) {
    auto answer = call(std::move(r));
    EXPECT_FALSE(answer.ok());
    return answer.ok() ? base::Error{} : answer.take_error();
  }
  Json get(const api::ResourceId& id, const std::string& name) { return ok(request(Verb::kGet, id, name)); }
};

const api::ResourceId& kMaps = api::resources::kConfigMaps;
const api::ResourceId& kQueues = api::resources::kQueues;
const api::ResourceId& kPods = api::resources::kPods;

Json named(const char* name, std::initializer_list<std::pair<std::string_view, Json>> more = {}) {
  Json object = Json::object(more);
  object.edit("metadata").set("name", name);
  return object;
}
Json parse(std::string_view text) { return *api::parse_json(text); }
Json pod(const char* name) {
  Json object = named(name);
  object.set("spec", parse(R"({"containers":[{"name":"c","image":"x","resources":{"limits":{"cpu":1}}}]})"));
  return object;
}

TEST(Api, a_created_object_has_what_the_server_adds) {
  Bench b;
  const Json made = b.ok(b.request(Verb::kCreate, kPods, "", pod("p")));
  EXPECT_EQ(made["metadata"]["uid"].as_string().size(), 36u);
  EXPECT_EQ(made["status"]["phase"].as_string(), "Pending");
  EXPECT_EQ(made["status"]["qosClass"].as_string(), "Burstable");
  EXPECT_EQ(made["spec"]["containers"][std::size_t{0}]["resources"],
            parse(R"({"limits":{"cpu":"1"},"requests":{"cpu":"1"}})"));
  EXPECT_EQ(made["spec"]["restartPolicy"].as_string(), "Always");
  EXPECT_EQ(made["metadata"]["managedFields"].size(), 1u);
  EXPECT_EQ(b.refused(b.request(Verb::kCreate, kPods, "", pod("p"))).code, Code::kAlreadyExists);
}

// Told in the turn of the first write, a crash could take back what the second was told.
TEST(Api, a_write_that_changes_nothing_is_answered_when_what_it_saw_is_durable) {
  Bench b;
  const Json made = b.ok(b.request(Verb::kCreate, kMaps, "", named("a", {{"data", parse(R"({"k":"1"})")}})));
  Json changed = made;
  changed.edit("data").set("k", "2");
  std::vector<std::string> answers;
  const auto send = [&](const char* who, Request request) {
    b.api->call(std::move(request), [&answers, who](const base::Result<Answer>& answer) {
      answers.push_back(who + std::string(answer.ok() ? " ok" : " refused"));
    });
  };
  Json same = changed;
  same.edit("metadata").erase("resourceVersion");
  send("first", b.request(Verb::kUpdate, kMaps, "a", changed));
  send("second", b.request(Verb::kUpdate, kMaps, "a", same));
  send("third", b.request(Verb::kCreate, kMaps, "", named("a")));
  EXPECT_TRUE(answers.empty());
  b.env.settle();
  EXPECT_EQ(answers, (std::vector<std::string>{"first ok", "second ok", "third refused"}));
}

TEST(Api, generated_names_have_the_prefix) {
  Bench b;
  Json object = Json::object({{"metadata", Json::object({{"generateName", "web-"}})}});
  const Json made = b.ok(b.request(Verb::kCreate, kMaps, "", object));
  EXPECT_TRUE(made["metadata"]["name"].as_string().starts_with("web-"));
  EXPECT_EQ(made["metadata"]["name"].as_string().size(), 9u);
  // For kinds whose names are free it is cut between characters.
  const api::ResourceId roles{"rbac.authorization.k8s.io", "v1", "roles"};
  object.edit("metadata").set("generateName", std::string(57, 'a') + "\u00e9\u00e9");
  const Json role = b.ok(b.request(Verb::kCreate, roles, "", object));
  EXPECT_EQ(role["metadata"]["name"].as_string().substr(0, 57), std::string(57, 'a'));
  EXPECT_EQ(role["metadata"]["name"].as_string().size(), 62u);
}

TEST(Api, bad_objects_are_refused_with_every_cause) {
  Bench b;
  Json bad =
      named("Bad_Name",
            {{"spec", parse(R"({"containers":[{"name":"c"},{"name":"c","image":"x"}],"restartPolicy":"Sometimes"})")}});
  const base::Error error = b.refused(b.request(Verb::kCreate, kPods, "", bad));
  EXPECT_EQ(error.code, Code::kInvalid);
  std::vector<std::string> fields;
  for (const base::Cause& cause : error.causes) fields.push_back(cause.field);
  EXPECT_EQ(fields, (std::vector<std::string>{"metadata.name", "spec.containers[0].image", "spec.containers[1].name",
                                              "spec.restartPolicy"}));
  Request elsewhere = b.request(Verb::kCreate, kMaps, "", named("a"));
  elsewhere.ns = "nowhere";
  EXPECT_EQ(b.refused(elsewhere).code, Code::kNotFound);
}

TEST(Api, strict_validation_refuses_and_warn_prunes) {
  Bench b;
  Request strict = b.request(Verb::kCreate, kMaps, "", named("a", {{"foo", 1}}));
  strict.field_validation = FieldValidation::kStrict;
  EXPECT_NE(b.refused(strict).message.find("strict decoding error: unknown field \"foo\""), std::string::npos);
  const auto answer = b.call(b.request(Verb::kCreate, kMaps, "", named("a", {{"foo", 1}})));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->warnings, std::vector<std::string>{"unknown field \"foo\""});
  EXPECT_FALSE(b.get(kMaps, "a").has("foo"));
}

TEST(Api, an_old_version_conflicts_and_an_equal_write_changes_nothing) {
  Bench b;
  const Json made = b.ok(b.request(Verb::kCreate, kMaps, "", named("a", {{"data", parse(R"({"k":"1"})")}})));
  Json changed = made;
  changed.edit("data").set("k", "2");
  const Json second = b.ok(b.request(Verb::kUpdate, kMaps, "a", changed));
  EXPECT_NE(second["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]);
  const base::Error error = b.refused(b.request(Verb::kUpdate, kMaps, "a", changed));
  EXPECT_EQ(error.code, Code::kConflict);
  EXPECT_EQ(error.message,
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your "
            "changes to the latest version and try again");
  EXPECT_EQ(b.ok(b.request(Verb::kUpdate, kMaps, "a", second))["metadata"]["resourceVersion"],
            second["metadata"]["resourceVersion"]);
}

TEST(Api, status_and_spec_have_their_own_endpoints) {
  Bench b;
  b.ok(b.request(Verb::kCreate, kQueues, "",
                 named("q", {{"spec", parse(R"({"weight":2})")}, {"status", parse(R"({"state":"Closed"})")}})));
  EXPECT_TRUE(b.get(kQueues, "q")["status"].is_null());
  Request status = b.request(Verb::kPatch, kQueues, "q", parse(R"({"spec":{"weight":9},"status":{"state":"Open"}})"));
  status.subresource = "status";
  const Json after = b.ok(status);
  EXPECT_EQ(after["status"]["state"].as_string(), "Open");
  EXPECT_EQ(after["spec"]["weight"].as_int(), 2);
  EXPECT_EQ(after["metadata"]["generation"].as_int(), 1);
  const Json main =
      b.ok(b.request(Verb::kPatch, kQueues, "q", parse(R"({"spec":{"weight":3},"status":{"state":"Closed"}})")));
  EXPECT_EQ(main["status"]["state"].as_string(), "Open");
  EXPECT_EQ(main["metadata"]["generation"].as_int(), 2);
}

TEST(Api, finalizers_hold_an_object_until_they_are_gone) {
  Bench b;
  Json object = named("a");
  object.edit("metadata").set("finalizers", parse(R"(["example.com/x"])"));
  b.ok(b.request(Verb::kCreate, kMaps, "", object));
  b.ok(b.request(Verb::kDelete, kMaps, "a"));
  EXPECT_TRUE(api::is_deleting(b.get(kMaps, "a")));
  b.ok(b.request(Verb::kPatch, kMaps, "a", parse(R"({"metadata":{"finalizers":null}})")));
  EXPECT_EQ(b.refused(b.request(Verb::kGet, kMaps, "a")).code, Code::kNotFound);
}

TEST(Api, a_bound_pod_is_given_grace_and_an_unbound_one_goes) {
  Bench b;
  b.ok(b.request(Verb::kCreate, kPods, "", pod("free")));
  b.ok(b.request(Verb::kDelete, kPods, "free"));
  EXPECT_EQ(b.refused(b.request(Verb::kGet, kPods, "free")).code, Code::kNotFound);
  b.ok(b.request(Verb::kCreate, kPods, "", pod("bound")));
  Request bind = b.request(Verb::kCreate, kPods, "bound", parse(R"({"target":{"kind":"Node","name":"n"}})"));
  bind.subresource = "binding";
  b.ok(bind);
  EXPECT_EQ(b.get(kPods, "bound")["spec"]["nodeName"].as_string(), "n");
  EXPECT_EQ(b.refused(bind).code, Code::kConflict);
  const Json deleting = b.ok(b.request(Verb::kDelete, kPods, "bound"));
  EXPECT_EQ(deleting["metadata"]["deletionGracePeriodSeconds"].as_int(), 30);
  const base::Error wrong =
      b.refused(b.request(Verb::kDelete, kPods, "bound", parse(R"({"preconditions":{"uid":"other"}})")));
  EXPECT_EQ(wrong.code, Code::kConflict);
  b.ok(b.request(Verb::kDelete, kPods, "bound", parse(R"({"gracePeriodSeconds":0})")));
  EXPECT_EQ(b.refused(b.request(Verb::kGet, kPods, "bound")).code, Code::kNotFound);
}

TEST(Api, a_deletion_whose_conditions_cannot_be_read_deletes_nothing) {
  Bench b;
  b.ok(b.request(Verb::kCreate, kMaps, "", named("a")));
  const std::pair<const char*, const char*> rows[] = {
      {R"({"kind":"Pod"})", "DeleteOptions: kind: must be DeleteOptions, not \"Pod\""},
      {R"({"dryRun":"All"})", "DeleteOptions: dryRun: must be an array, not \"All\""},
      {R"({"dryRun":["Some"]})",
       "DeleteOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"Some\"]: supported values: \"All\""},
      {R"({"preconditions":"x"})", "DeleteOptions: preconditions: must be an object, not \"x\""},
      {R"({"preconditions":{"uid":7}})", "DeleteOptions: preconditions.uid: must be a string, not 7"},
      {R"({"preconditions":{"resourceVersion":7}})",
       "DeleteOptions: preconditions.resourceVersion: must be a string, not 7"}};
  for (const auto& [options, message] : rows) {
    EXPECT_EQ(b.refused(b.request(Verb::kDelete, kMaps, "a", parse(options))).message, message);
    EXPECT_EQ(api::name_of(b.get(kMaps, "a")), "a");
  }
  b.ok(b.request(Verb::kDelete, kMaps, "a", parse(R"({"kind":"DeleteOptions","apiVersion":"apps/v1","dryRun":[]})")));
  EXPECT_EQ(b.refused(b.request(Verb::kGet, kMaps, "a")).code, Code::kNotFound);
}

// It was taken as it was, and could not be shortened to zero any more: the pod stayed for ever.
TEST(Api, a_grace_below_zero_is_a_second) {
  Bench b;
  Json below = pod("below");
  below.edit("spec").set("terminationGracePeriodSeconds", -5);
  below.edit("spec").set("nodeName", "n");
  b.ok(b.request(Verb::kCreate, kPods, "", below));
  EXPECT_EQ(b.ok(b.request(Verb::kDelete, kPods, "below"))["metadata"]["deletionGracePeriodSeconds"].as_int(), 1);
  b.ok(b.request(Verb::kDelete, kPods, "below", parse(R"({"gracePeriodSeconds":0})")));
  EXPECT_EQ(b.refused(b.request(Verb::kGet, kPods, "below")).code, Code::kNotFound);
  below.edit("spec").set("terminationGracePeriodSeconds", 30);
  b.ok(b.request(Verb::kCreate, kPods, "", below));
  const Request asked = b.request(Verb::kDelete, kPods, "below", parse(R"({"gracePeriodSeconds":-5})"));
  EXPECT_EQ(b.ok(asked)["metadata"]["deletionGracePeriodSeconds"].as_int(), 1);
}

TEST(Api, dry_run_answers_and_stores_nothing) {
  Bench b;
  Request dry = b.request(Verb::kCreate, kMaps, "", named("a"));
  dry.dry_run = true;
  EXPECT_EQ(b.ok(dry)["metadata"]["name"].as_string(), "a");
  EXPECT_EQ(b.refused(b.request(Verb::kGet, kMaps, "a")).code, Code::kNotFound);
}

TEST(Api, hooks_default_and_refuse) {
  api::AdmissionHook mutate{"/queues/mutate",
                            "mutatequeue.volcano.sh",
                            true,
                            kQueues,
                            "Queue",
                            {api::Operation::kCreate},
                            [](const api::AdmissionRequest& r, const api::ObjectReader&) {
                              api::AdmissionAnswer answer;
                              Json object = r.object;
                              object.edit("spec").set("reclaimable", true);
                              answer.object = object;
                              return answer;
                            }};
  api::AdmissionHook check{"/queues/validate",
                           "validatequeue.volcano.sh",
                           false,
                           kQueues,
                           "Queue",
                           {api::Operation::kCreate},
                           [](const api::AdmissionRequest& r, const api::ObjectReader& objects) {
                             api::AdmissionAnswer answer;
                             answer.allowed = r.name != "bad" &&
                                              objects.find(api::resources::kNamespaces, "", "default").has_value();
                             answer.message = "no";
                             return answer;
                           }};
  Bench b({mutate, check});
  EXPECT_TRUE(b.ok(b.request(Verb::kCreate, kQueues, "", named("q")))["spec"]["reclaimable"].as_bool());
  EXPECT_EQ(b.refused(b.request(Verb::kCreate, kQueues, "", named("bad"))).message,
            "admission webhook \"validatequeue.volcano.sh\" denied the request: no");
}

TEST(Api, lists_page_and_select) {
  Bench b;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    Json object = named(name);
    object.edit("metadata").set("labels", Json::object({{"odd", (name[0] - 'a') % 2 == 0 ? "yes" : "no"}}));
    b.ok(b.request(Verb::kCreate, kMaps, "", object));
  }
  Request list = b.request(Verb::kList, kMaps, "");
  list.limit = 2;
  std::string names;
  for (int page = 0; page < 3; ++page) {
    const Json answer = b.ok(list);
    for (const Json& item : answer["items"].items()) names += item["metadata"]["name"].as_string();
    if (page == 0) {
      EXPECT_EQ(answer["metadata"]["remainingItemCount"].as_int(), 3);
    }
    list.continue_token = answer["metadata"]["continue"].str();
  }
  EXPECT_EQ(names, "abcde");
  EXPECT_EQ(list.continue_token, "");
  Request odd = b.request(Verb::kList, kMaps, "");
  odd.label_selector = "odd=yes";
  EXPECT_EQ(b.ok(odd)["items"].size(), 3u);
  odd.label_selector = "";
  odd.field_selector = "metadata.name=b";
  EXPECT_EQ(b.ok(odd)["items"].size(), 1u);
  odd.field_selector = "data.k=b";
  EXPECT_EQ(b.refused(odd).code, Code::kBadRequest);
}

// Notes events as "+a~a-a"; every `pause`th call asks to wait.
WatchSink sink_into(std::string& seen, int pause) {
  WatchSink sink;
  sink.on_events = [&seen, pause, calls = 0](const WatchSlicePtr& slice) mutable {
    for (const store::Event& e : slice->events)
      seen += (e.type == store::EventType::kAdded      ? "+"
               : e.type == store::EventType::kModified ? "~"
                                                       : "-") +
              e.object->name;
    return ++calls % pause != 0;
  };
  sink.on_bookmark = [](std::int64_t, bool) {};
  return sink;
}

TEST(Api, a_watch_with_a_selector_sees_objects_enter_and_leave) {
  Bench b;
  Request r = b.request(Verb::kWatch, kMaps, "");
  r.label_selector = "in=yes";
  r.resource_version = std::to_string(b.store->revision());
  std::string seen;
  auto watch = b.api->watch(r, sink_into(seen, 100));
  ASSERT_TRUE(watch.ok());
  ASSERT_TRUE((*watch)->resume().ok());
  b.ok(b.request(Verb::kCreate, kMaps, "", named("a")));
  b.ok(b.request(Verb::kPatch, kMaps, "a", parse(R"({"metadata":{"labels":{"in":"yes"}}})")));
  b.ok(b.request(Verb::kPatch, kMaps, "a", parse(R"({"data":{"k":"v"}})")));
  b.ok(b.request(Verb::kPatch, kMaps, "a", parse(R"({"metadata":{"labels":null}})")));
  EXPECT_EQ(seen, "+a~a-a");
}

// Objects that a selector has to look into are read off the loop, and the watch goes on by itself.
TEST(Api, a_watch_with_a_selector_reads_much_in_pieces) {
  Bench b;
  for (int i = 0; i < 8; ++i) {
    Json large = named(("a" + std::to_string(i)).c_str());
    large.set("data", Json::object({{"k", std::string(50'000, 'x')}}));
    if (i % 2 == 0) large.edit("metadata").set("labels", Json::object({{"in", "yes"}}));
    b.ok(b.request(Verb::kCreate, kMaps, "", std::move(large)));
  }
  Request r = b.request(Verb::kWatch, kMaps, "");
  r.label_selector = "in=yes";
  std::string seen;
  auto watch = b.api->watch(r, sink_into(seen, 100));
  ASSERT_TRUE((*watch)->resume().ok());
  EXPECT_EQ(seen, "") << "the loop has other things to do";
  EXPECT_TRUE((*watch)->resume().ok()) << "it is under way";
  b.env.settle();
  EXPECT_EQ(seen, "+a0+a2+a4+a6");
  b.ok(b.request(Verb::kPatch, kMaps, "a1", parse(R"({"metadata":{"labels":{"in":"yes"}}})")));
  EXPECT_EQ(seen, "+a0+a2+a4+a6+a1");
  // From history.
  r.resource_version = "1";
  std::string again;
  auto late = b.api->watch(r, sink_into(again, 1));
  ASSERT_TRUE((*late)->resume().ok());
  b.env.settle();
  EXPECT_EQ(again, "+a0+a2");
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE((*late)->resume().ok());
    b.env.settle();
  }
  EXPECT_EQ(again, "+a0+a2+a4+a6+a1");
  // The rest has no reader.
  auto gone = b.api->watch(r, sink_into(again, 1));
  ASSERT_TRUE((*gone)->resume().ok());
  gone->reset();
  b.env.settle();
  EXPECT_EQ(again, "+a0+a2+a4+a6+a1");
}

TEST(Api, selectors_are_bounded) {
  Bench b;
  Request r = b.request(Verb::kList, kMaps, "");
  r.label_selector = "a";
  for (int i = 0; i < 999; ++i) r.label_selector += ",a";
  b.ok(r);
  r.label_selector += ",a";
  EXPECT_EQ(b.refused(r).message, "labelSelector has 1001 terms and values, where 1000 may be");
}

TEST(Api, a_watch_that_waits_goes_on_from_history) {
  Bench b;
  for (const char* name : {"a", "b"}) b.ok(b.request(Verb::kCreate, kMaps, "", named(name)));
  std::string seen;
  auto watch = b.api->watch(b.request(Verb::kWatch, kMaps, ""), sink_into(seen, 1));
  ASSERT_TRUE(watch.ok());
  EXPECT_EQ(seen, "");
  ASSERT_TRUE((*watch)->resume().ok());
  EXPECT_EQ(seen, "+a+b");
  for (const char* name : {"c", "d", "e"}) b.ok(b.request(Verb::kCreate, kMaps, "", named(name)));
  EXPECT_EQ(seen, "+a+b");
  ASSERT_TRUE((*watch)->resume().ok());
  EXPECT_EQ(seen, "+a+b+c+d+e");
  b.ok(b.request(Verb::kDelete, kMaps, "c"));
  ASSERT_TRUE((*watch)->resume().ok());
  EXPECT_EQ(seen, "+a+b+c+d+e-c");
}

TEST(Api, watches_that_select_the_same_are_told_the_same_slices) {
  Bench b;
  std::vector<WatchSlicePtr> slices;
  const auto open = [&](const std::string& labels) {
    Request r = b.request(Verb::kWatch, kMaps, "");
    r.label_selector = labels;
    r.resource_version = std::to_string(b.store->revision());
    WatchSink sink;
    sink.on_events = [&slices](const WatchSlicePtr& slice) {
      slices.push_back(slice);
      return true;
    };
    auto watch = *b.api->watch(r, std::move(sink));
    EXPECT_TRUE(watch->resume().ok());
    return watch;
  };
  const auto all = open(""), all_too = open(""), some = open("in=yes"), some_too = open("in=yes"), none = open("in=no");
  b.ok(b.request(Verb::kCreate, kMaps, "", parse(R"({"metadata":{"name":"a","labels":{"in":"yes"}}})")));
  ASSERT_EQ(slices.size(), 4u);
  EXPECT_EQ(slices[0], slices[1]);
  EXPECT_EQ(slices[2], slices[3]);
  EXPECT_NE(slices[0], slices[2]);
  EXPECT_TRUE(slices[0]->shared);
  for (const auto& slice : slices) EXPECT_EQ(slice->events.size(), 1u);
}

TEST(Api, a_watch_that_is_far_behind_reads_history_in_pieces) {
  Bench b;
  Request r = b.request(Verb::kWatch, kMaps, "");
  r.resource_version = std::to_string(b.store->revision());
  for (int i = 0; i < 8; ++i) {
    Json large = named(("a" + std::to_string(i)).c_str());
    large.set("data", Json::object({{"k", std::string(100'000, 'x')}}));
    b.ok(b.request(Verb::kCreate, kMaps, "", std::move(large)));
  }
  std::string seen;
  const auto watch = b.api->watch(r, sink_into(seen, 1));
  ASSERT_TRUE((*watch)->resume().ok());
  EXPECT_EQ(seen, "+a0+a1");
  ASSERT_TRUE((*watch)->resume().ok());
  EXPECT_EQ(seen, "+a0+a1+a2+a3");
}

TEST(Api, a_version_that_is_none_is_refused) {
  Bench b;
  b.ok(b.request(Verb::kCreate, kMaps, "", named("a")));
  const std::pair<const char*, const char*> rows[] = {
      {"x", "resourceVersion: invalid value \"x\": must be a number"},
      {"-1", "resourceVersion: invalid value \"-1\": must not be negative"},
      {"18446744073709551616",
       "resourceVersion: invalid value \"18446744073709551616\": the number does not fit in 64 bits"}};
  for (const auto& [version, message] : rows)
    for (Request r : {b.request(Verb::kList, kMaps, ""), b.request(Verb::kGet, kMaps, "a")}) {
      r.resource_version = version;
      EXPECT_EQ(b.refused(r).message, message);
    }
  Request later = b.request(Verb::kGet, kMaps, "a");
  later.resource_version = "999999999";
  EXPECT_EQ(b.refused(later).code, Code::kTimeout);
}

TEST(Api, a_watch_from_a_number_that_does_not_fit_is_refused) {
  Bench b;
  Request r = b.request(Verb::kWatch, kMaps, "");
  r.resource_version = "99999999999999999999";
  std::string seen;
  const auto watch = b.api->watch(r, sink_into(seen, 1));
  ASSERT_FALSE(watch.ok());
  EXPECT_EQ(watch.error().message,
            "resourceVersion: invalid value \"99999999999999999999\": the number does not fit in 64 bits");
}

}  // namespace
}  // namespace apiserver

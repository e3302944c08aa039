// The events of watches with selectors after a restart, and their contents; from where watches begin.
#include <gtest/gtest.h>

#include "apiserver/http/route.h"
#include "apiserver/pipeline/api.h"
#include "client/fake_env_for_tests.h"

namespace apiserver {
namespace {

using api::Json;
using base::Code;

const api::ResourceId& kMaps = api::resources::kConfigMaps;

struct Bench {
  client::testing::FakeEnv env;
  std::unique_ptr<rt::KvStore> kv = rt::make_memory_kv();
  std::unique_ptr<store::Store> store;
  std::unique_ptr<Api> api;

  Bench() { begin(); }
  void begin() {
    api.reset();
    store.reset();
    env.drop_tasks();
    store = *store::Store::open(env, *kv, {.history_events_max = 20});
    api = std::make_unique<Api>(env, *store, ApiOptions{});
    api->bootstrap([](base::Status status) { EXPECT_TRUE(status.ok()); });
    env.settle();
  }
  Request request(Verb verb, const std::string& name, std::string_view body = "") const {
    Request r;
    r.verb = verb;
    r.kind = api::find_kind(kMaps);
    r.resource = static_cast<std::uint32_t>(r.kind - api::all_kinds().data());
    r.ns = "default";
    r.name = name;
    if (!body.empty()) r.body = *api::parse_json(body);
    return r;
  }
  void write(Verb verb, const std::string& name, std::string_view body = "") {
    api->call(request(verb, name, body),
              [](const base::Result<Answer>& a) { EXPECT_TRUE(a.ok()) << (a.ok() ? "" : a.error().message); });
    env.settle();
  }
  void make(const std::string& name, bool selected) {
    write(Verb::kCreate, "",
          "{\"metadata\": {\"name\": \"" + name + "\"" + (selected ? R"(, "labels": {"in": "yes"})" : "") + "}}");
  }
  // As much as history holds.
  void make_others() {
    for (int i = 0; i < 20; ++i) make("other" + std::to_string(others++), false);
  }

  int others = 0;
};

struct Delivered {
  std::string text;  // "+a~a-a"
  std::vector<store::ObjectPtr> objects = {};
  std::unique_ptr<ApiWatch> watch = {};
  base::Status status = {};

  void watch_with(Bench& bench, const Request& request) {
    WatchSink sink;
    sink.on_events = [this](const WatchSlicePtr& slice) {
      for (const store::Event& e : slice->events) {
        text += e.type == store::EventType::kAdded ? "+" : e.type == store::EventType::kModified ? "~" : "-";
        text += e.object->name;
        objects.push_back(e.object);
      }
      return true;
    };
    sink.on_bookmark = [](std::int64_t, bool) {};
    watch = *bench.api->watch(request, std::move(sink));
    status = watch->resume();
    bench.env.settle();
  }
};

// History knows after a restart only what is in it: what an object was before its first event there it does not know.
TEST(Watches, are_not_told_of_what_they_may_not_have_selected) {
  struct Row {
    Verb verb;
    const char* name;
    const char* labels;
    const char* fields;
    const char* delivered;  // null: "list anew"
  };
  const Row rows[] = {{Verb::kPatch, "a", "in=yes", "", nullptr},
                      {Verb::kPatch, "b", "in=yes", "", nullptr},
                      {Verb::kPatch, "a", "", "", "~a"},
                      {Verb::kPatch, "a", "", "metadata.name=a", "~a"},
                      {Verb::kPatch, "a", "", "metadata.name=b", ""},
                      {Verb::kDelete, "a", "in=yes", "", ""},
                      {Verb::kDelete, "b", "in=yes", "", "-b"}};
  for (const Row& row : rows) {
    Bench b;
    b.make("a", false);
    b.make("b", true);
    b.make_others();
    Request r = b.request(Verb::kWatch, "");
    r.resource_version = std::to_string(b.store->revision());
    r.label_selector = row.labels;
    r.field_selector = row.fields;
    b.write(row.verb, row.name, row.verb == Verb::kPatch ? R"({"data": {"k": "v"}})" : "");
    b.begin();
    Delivered delivered;
    delivered.watch_with(b, r);
    EXPECT_EQ(delivered.text, row.delivered == nullptr ? "" : row.delivered) << row.name << row.labels;
    EXPECT_EQ(delivered.status.ok(), row.delivered != nullptr) << row.name << row.labels;
    if (!delivered.status.ok()) {
      EXPECT_EQ(delivered.status.error().code, Code::kExpired);
    }
    r.ns = "kube-system";  // where nothing happens
    Delivered elsewhere;
    elsewhere.watch_with(b, r);
    EXPECT_TRUE(elsewhere.status.ok()) << row.name << row.labels;
  }
}

TEST(Watches, are_told_what_left_them_as_it_was) {
  Bench b;
  b.write(Verb::kCreate, "", R"({"metadata": {"name": "a", "labels": {"in": "yes"}}, "data": {"k": "old"}})");
  Request r = b.request(Verb::kWatch, "");
  r.label_selector = "in=yes";
  r.resource_version = std::to_string(b.store->revision());
  Delivered delivered;
  delivered.watch_with(b, r);
  b.write(Verb::kPatch, "a", R"({"metadata": {"labels": null}, "data": {"k": "new"}})");
  ASSERT_EQ(delivered.text, "-a");
  const Json gone = delivered.objects[0]->json();
  EXPECT_EQ(gone["data"]["k"].as_string(), "old");
  EXPECT_EQ(gone["metadata"]["labels"]["in"].as_string(), "yes");
  EXPECT_EQ(api::resource_version_of(gone), std::to_string(b.store->revision()));
  EXPECT_EQ(delivered.objects[0]->revision, b.store->revision());
}

TEST(Watches, begin_with_what_there_is_unless_that_is_not_wanted) {
  struct Row {
    const char* query;
    const char* delivered;
  };
  const Row rows[] = {{"?watch=1", "+a+b"},
                      {"?watch=1&resourceVersion=0", "+a+b"},
                      {"?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", "+a+b"},
                      {"?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan", "+b"},
                      {"?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=0", "+b"}};
  for (const Row& row : rows) {
    Bench b;
    b.make("a", false);
    rt::HttpRequest http;
    http.method = "GET";
    http.target = std::string("/api/v1/namespaces/default/configmaps") + row.query;
    Delivered delivered;
    delivered.watch_with(b, **route(http, rt::parse_target(http.target)));
    b.make("b", false);
    EXPECT_EQ(delivered.text, row.delivered) << row.query;
  }
}

}  // namespace
}  // namespace apiserver

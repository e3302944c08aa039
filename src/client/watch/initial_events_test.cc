// Watches that begin with what there is: what informers make of them, and of servers that have none.
#include "client/watch/initial_events.h"

#include <gtest/gtest.h>

#include "api/json/projection.h"
#include "api/protobuf/protobuf.h"
#include "base/format.h"
#include "client/fake_client_for_tests.h"
#include "client/http/http_client.h"
#include "client/http/scripted_http_for_tests.h"
#include "client/watch/informer.h"

namespace client {
namespace {

using api::Json;
using Log = std::vector<std::string>;

Json pod(const std::string& name, const std::string& node = "n1") {
  return Json::object({{"metadata", Json::object({{"name", name}, {"namespace", "ns"}})},
                       {"spec", Json::object({{"nodeName", node}})}});
}

void write_down(Informer& informer, Log& log) {
  informer.on_change([&log](const Json* before, const Json* after, bool initial) {
    const std::string name(api::name_of(after != nullptr ? *after : *before));
    log.push_back((before == nullptr  ? "add "
                   : after == nullptr ? "delete "
                                      : "update ") +
                  name + (initial ? " initial" : ""));
  });
}

struct World {
  testing::FakeEnv env;
  testing::FakeClient server{env};
  Informer informer{server, env, api::resources::kPods};
  Log log;

  World() {
    server.begins_watches = true;
    write_down(informer, log);
  }
  void start() {
    informer.start();
    env.run_for(base::seconds(1));
  }
};

TEST(InitialEvents, are_the_first_list_and_the_watch_goes_on) {
  World world;
  world.server.put(api::resources::kPods, pod("a"));
  world.server.put(api::resources::kPods, pod("b"));
  std::size_t known_when_synced = 0;
  world.informer.on_synced([&] { known_when_synced = world.log.size(); });
  world.start();
  EXPECT_EQ(known_when_synced, 2u);
  world.server.put(api::resources::kPods, pod("c"));
  world.env.settle();
  EXPECT_EQ(world.log, (Log{"add a initial", "add b initial", "add c"}));
  EXPECT_TRUE(world.server.calls.empty());
  EXPECT_EQ(world.server.beginnings_asked, 1);
}

TEST(InitialEvents, a_watch_is_resumed_behind_the_end_bookmark) {
  World world;
  for (const char* name : {"b", "a"}) world.server.put(api::resources::kPods, pod(name));
  world.start();
  world.server.break_watches(base::Code::kUnavailable);
  world.env.run_for(base::seconds(5));
  EXPECT_EQ(world.server.watched_from, Log{"2"});  // the last addition was of version 1
  EXPECT_EQ(world.server.beginnings_asked, 1);
}

TEST(InitialEvents, what_is_gone_is_dropped_at_their_end) {
  World world;
  for (const char* name : {"a", "b", "c"}) world.server.put(api::resources::kPods, pod(name));
  world.start();
  world.log.clear();
  world.server.mute = true;
  world.server.erase(api::resources::kPods, "ns/a");
  world.server.put(api::resources::kPods, pod("b", "n9"));
  world.server.put(api::resources::kPods, pod("d"));
  world.server.mute = false;
  world.server.initial_max = 2;  // of three
  world.server.break_watches(base::Code::kExpired, true);
  world.env.run_for(base::seconds(5));
  EXPECT_EQ(world.log, Log{});
  world.server.initial_max = SIZE_MAX;
  world.server.break_watches(base::Code::kUnavailable);
  world.env.run_for(base::seconds(5));
  EXPECT_EQ(world.log, (Log{"delete a", "update b", "add d"}));
  EXPECT_TRUE(world.server.calls.empty());
}

// Objects from before the cut may have gone before the next beginning.
TEST(InitialEvents, a_first_beginning_that_is_cut_leaves_nothing_behind) {
  World world;
  for (const char* name : {"a", "b", "c"}) world.server.put(api::resources::kPods, pod(name));
  world.server.initial_max = 2;
  world.start();
  EXPECT_FALSE(world.informer.synced());
  world.server.initial_max = SIZE_MAX;
  world.server.mute = true;
  world.server.erase(api::resources::kPods, "ns/a");
  world.server.mute = false;
  world.server.break_watches(base::Code::kUnavailable);
  EXPECT_EQ(world.informer.trouble(), "pods cannot be listed: broken");
  world.env.run_for(base::seconds(5));
  EXPECT_TRUE(world.informer.synced());
  EXPECT_EQ(world.informer.trouble(), "");
  EXPECT_EQ(world.log, (Log{"add a initial", "add b initial", "delete a", "add c initial"}));
  EXPECT_EQ(world.informer.objects().size(), 2u);
}

TEST(InitialEvents, changes_among_them_count) {
  World world;
  for (const char* name : {"a", "b", "c"}) world.server.put(api::resources::kPods, pod(name));
  world.server.initial_max = 2;
  world.start();
  world.server.put(api::resources::kPods, pod("b", "n2"));
  world.server.erase(api::resources::kPods, "ns/a");
  world.env.settle();
  EXPECT_FALSE(world.informer.synced());
  EXPECT_EQ(world.log, (Log{"add a initial", "add b initial", "update b initial", "delete a"}));
}

TEST(InitialEvents, are_listed_where_watches_break_among_them_again_and_again) {
  World world;
  for (const char* name : {"a", "b", "c"}) world.server.put(api::resources::kPods, pod(name));
  world.server.initial_max = 2;
  world.start();
  for (int i = 0; i < 2; ++i) {
    world.server.break_watches(base::Code::kUnavailable);
    world.env.run_for(base::seconds(5));
  }
  EXPECT_TRUE(world.informer.synced());
  EXPECT_EQ(world.server.beginnings_asked, 2);
  EXPECT_EQ(world.server.calls.size(), 1u);
}

// A server that was away is asked for a watch again when it is back.
TEST(InitialEvents, are_asked_for_again_after_a_list_that_failed) {
  World world;
  world.server.put(api::resources::kPods, pod("a"));
  world.server.begin_failure = base::make_error(base::Code::kUnavailable, "down");
  world.server.list_failures.push_back(*world.server.begin_failure);
  world.informer.start();
  while (world.server.calls.empty()) world.env.run_for(base::milliseconds(10));
  EXPECT_EQ(world.server.beginnings_asked, 2);
  world.server.begin_failure.reset();
  world.env.run_for(base::seconds(5));
  EXPECT_TRUE(world.informer.synced());
  EXPECT_EQ(world.server.calls.size(), 1u);
  EXPECT_EQ(world.server.beginnings_asked, 3);
}

TEST(InitialEvents, are_listed_at_once_where_the_watch_is_refused) {
  for (const base::Code code : {base::Code::kInvalid, base::Code::kBadRequest, base::Code::kForbidden,
                                base::Code::kNotFound, base::Code::kInternal}) {
    World world;
    world.server.put(api::resources::kPods, pod("a"));
    world.server.begin_failure = base::make_error(code, "no");
    world.informer.start();
    world.env.settle();
    EXPECT_TRUE(world.informer.synced()) << reason(code);
    EXPECT_EQ(world.log, Log{"add a initial"});
    world.server.begin_failure.reset();
    world.server.put(api::resources::kPods, pod("b"));
    world.env.settle();
    world.server.break_watches(base::Code::kExpired, true);
    world.env.run_for(base::seconds(5));
    EXPECT_EQ(world.server.calls.size(), 1u) << reason(code);  // the watch works: its beginning is asked again
  }
}

constexpr std::string_view kEnd =
    R"({"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7","annotations":{"k8s.io/initial-events-end":"true"}}}})"
    "\n";
constexpr std::string_view kAdded =
    R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"ns","resourceVersion":"3"}}})"
    "\n";
const rt::HttpResponse kList{200, {}, R"({"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[]})"};

const api::Projection kNames{"metadata.name", "metadata.namespace", "metadata.resourceVersion"};

struct Wire {
  testing::ScriptedEnv env;
  std::unique_ptr<Client> client = *make_http_client({.access = {.server = "http://h"}}, env);
  Informer informer{*client, env, api::resources::kPods, {.only = &kNames}};
  Log log;

  Wire() {
    write_down(informer, log);
    env.http->answers = {{kList, false}};
    informer.start();
  }
  rt::HttpClient::StreamCallbacks stream(std::size_t i) { return env.http->streams.at(i); }
  std::size_t lists() const { return env.http->asked.size(); }
};

TEST(InitialEvents, are_asked_for_and_read_in_both_forms) {
  for (const bool protobuf : {false, true}) {
    Wire wire;
    const std::string& target = wire.env.http->streams_asked.at(0);
    EXPECT_TRUE(
        target.starts_with("/api/v1/pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&"
                           "resourceVersionMatch=NotOlderThan&timeoutSeconds="))
        << target;
    const auto form = [&](std::string_view line) {
      const Json event = *api::parse_json(line);
      return protobuf ? api::event_to_protobuf(event["type"].as_string(), event["object"]) : std::string(line);
    };
    wire.stream(0).on_start(
        200, {{"Content-Type", protobuf ? "application/vnd.kubernetes.protobuf;stream=watch" : "application/json"}});
    wire.stream(0).on_data(form(kAdded));
    EXPECT_FALSE(wire.informer.synced());
    wire.stream(0).on_data(form(kEnd));
    EXPECT_TRUE(wire.informer.synced());
    EXPECT_EQ(wire.log, Log{"add a initial"});
    wire.env.run_for(base::minutes(2));  // silence is not a trouble now
    wire.stream(0).on_end({});
    wire.env.run_for(base::seconds(5));
    ASSERT_EQ(wire.env.http->streams_asked.size(), 2u);
    EXPECT_NE(wire.env.http->streams_asked[1].find("resourceVersion=7&timeoutSeconds"), std::string::npos);
    EXPECT_EQ(wire.lists(), 0u);
  }
}

// By servers before 1.27, and by later ones that have the feature off.
TEST(InitialEvents, a_refusal_is_heard_once) {
  for (const char* field : {"resourceVersionMatch", "sendInitialEvents"}) {
    Wire wire;
    wire.stream(0).on_start(422, {});
    wire.stream(0).on_data(base::format(
        R"({{"kind":"Status","status":"Failure","code":422,"reason":"Invalid","message":"m","details":{{"causes":[{{"field":"{}"}}]}}}})",
        field));
    wire.stream(0).on_end({});
    wire.env.settle();
    EXPECT_TRUE(wire.informer.synced());
    EXPECT_EQ(wire.lists(), 1u);
    Informer other{*wire.client, wire.env, api::resources::kNodes};
    other.start();
    wire.env.settle();
    EXPECT_TRUE(other.synced());
    for (std::size_t i = 1; i < wire.env.http->streams_asked.size(); ++i)
      EXPECT_EQ(wire.env.http->streams_asked[i].find("sendInitialEvents"), std::string::npos);
  }
}

TEST(InitialEvents, bytes_without_an_event_are_silence) {
  Wire wire;
  wire.stream(0).on_start(200, {{"Content-Type", "application/json"}});
  for (int i = 0; i < 22; ++i) {
    wire.stream(0).on_data(" ");
    wire.env.run_for(base::milliseconds(500));
  }
  EXPECT_EQ(wire.lists(), 1u);
}

TEST(InitialEvents, a_server_that_ignores_the_wish_is_found_out) {
  for (const bool by_bookmark : {false, true}) {
    Wire wire;
    wire.stream(0).on_start(200, {{"Content-Type", "application/json"}});
    wire.env.run_for(base::seconds(9));
    wire.stream(0).on_data(kAdded);
    wire.env.run_for(base::seconds(9));
    EXPECT_EQ(wire.lists(), 0u);
    if (by_bookmark)
      wire.stream(0).on_data(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"8"}}})"
                             "\n");
    else
      wire.env.run_for(base::seconds(2));
    wire.env.settle();
    EXPECT_EQ(wire.lists(), 1u);
    EXPECT_TRUE(wire.informer.synced());
    EXPECT_EQ(wire.log, (Log{"add a initial", "delete a"}));
  }
}

TEST(InitialEvents, no_answer_at_all_is_asked_again) {
  Wire wire;
  wire.env.run_for(base::seconds(70));
  EXPECT_EQ(wire.env.http->streams_asked.size(), 2u);
  EXPECT_EQ(wire.informer.trouble(), "pods cannot be listed: no answer in 1m0s");
  EXPECT_EQ(wire.lists(), 0u);
}

// The pod that is left out comes to the informer as a bookmark of its version.
TEST(InitialEvents, objects_of_wrong_types_do_not_end_them) {
  Wire wire;
  wire.stream(0).on_start(200, {{"Content-Type", "application/json"}});
  wire.stream(0).on_data(
      R"({"type":"ADDED","object":{"metadata":{"name":5,"resourceVersion":"4","annotations":{"k8s.io/initial-events-end":"true"}}}})"
      "\n");
  EXPECT_FALSE(wire.informer.synced());
  wire.stream(0).on_data(kAdded);
  wire.stream(0).on_data(kEnd);
  EXPECT_TRUE(wire.informer.synced());
  EXPECT_EQ(wire.log, Log{"add a initial"});
}

}  // namespace
}  // namespace client

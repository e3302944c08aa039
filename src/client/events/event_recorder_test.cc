// How events are named, counted and retried.
#include "client/events/event_recorder.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "client/events/event_correlator.h"
#include "client/fake_client_for_tests.h"
#include "client/fake_env_for_tests.h"

namespace client {
namespace {

using api::Json;

Json object(const std::string& ns, const std::string& name, const std::string& kind) {
  Json metadata = Json::object({{"name", name}, {"uid", "u1"}, {"resourceVersion", "7"}});
  if (!ns.empty()) metadata.set("namespace", ns);
  return Json::object({{"apiVersion", "v1"}, {"kind", kind}, {"metadata", metadata}});
}

struct World {
  testing::FakeEnv env;
  testing::FakeClient server{env};
  EventRecorder recorder{server, env, "tester"};
  std::vector<Json> events() {
    std::vector<Json> out;
    for (const auto& [key, event] : server.table(api::resources::kEvents)) out.push_back(event);
    return out;
  }
};

TEST(EventRecorder, WritesAnEventAboutItsObject) {
  World world;
  world.recorder.record(object("ns", "p", "Pod"), {"Warning", "Failed", "it broke"});
  world.env.settle();
  ASSERT_EQ(world.events().size(), 1u);
  const Json event = world.events().front();
  EXPECT_TRUE(api::name_of(event).starts_with("p."));
  EXPECT_EQ(api::namespace_of(event), "ns");
  EXPECT_EQ(event["involvedObject"]["uid"].as_string(), "u1");
  EXPECT_EQ(event["source"]["component"].as_string(), "tester");
  EXPECT_EQ(event["reportingComponent"].as_string(), "tester");
  EXPECT_EQ(event["count"].as_int(), 1);
  EXPECT_EQ(event["firstTimestamp"].as_string(), "2026-01-01T00:00:00Z");
}

TEST(EventRecorder, WhatIsNoTextBecomesTextAndHasAnEnd) {
  World world;
  world.recorder.record(object("ns", "p", "Pod"),
                        {"Warning", "Failed", "runc said \xff\xfe" + std::string(20000, 'x')});
  world.env.settle();
  const std::string message = world.events().front()["message"].str();
  EXPECT_TRUE(message.starts_with("runc said \xEF\xBF\xBD\xEF\xBF\xBDxxx"));
  EXPECT_EQ(message.size(), 8192u);
}

TEST(EventRecorder, CountsEqualEventsInOneObject) {
  World world;
  const Json pod = object("ns", "p", "Pod");
  world.recorder.record(pod, {"Normal", "R", "m"});
  world.recorder.record(pod, {"Normal", "R", "m"});  // while the first is on its way
  world.env.run_for(base::seconds(10));
  world.recorder.record(pod, {"Normal", "R", "m"});
  world.recorder.record(pod, {"Normal", "R", "other"});
  world.env.settle();
  ASSERT_EQ(world.events().size(), 2u);
  EXPECT_EQ(world.events()[0]["count"].as_int(), 3);
  EXPECT_EQ(world.events()[0]["firstTimestamp"].as_string(), "2026-01-01T00:00:00Z");
  EXPECT_EQ(world.events()[0]["lastTimestamp"].as_string(), "2026-01-01T00:00:10Z");
  EXPECT_EQ(world.events()[1]["count"].as_int(), 1);
}

TEST(EventRecorder, CombinesManyMessagesOfOneReason) {
  World world;
  for (int size = 1; size <= 20; ++size) {
    world.recorder.record(object("ns", "g", "PodGroup"),
                          {"Normal", "Unschedulable", std::to_string(size) + " tasks in the gang"});
    world.env.run_for(base::seconds(1));
  }
  const std::vector<Json> events = world.events();
  ASSERT_EQ(events.size(), 10u);  // nine of their own, and one for the rest
  const auto combined = std::ranges::find_if(
      events, [](const Json& event) { return event["message"].as_string().starts_with("(combined from similar"); });
  ASSERT_NE(combined, events.end());
  EXPECT_EQ((*combined)["message"].as_string(), "(combined from similar events): 20 tasks in the gang");
  EXPECT_EQ((*combined)["count"].as_int(), 11);
}

TEST(EventRecorder, HearsLessOfAnObjectAboutWhichTooMuchIsSaid) {
  World world;
  const Json pod = object("ns", "p", "Pod");
  for (int i = 0; i < 40; ++i) {
    world.recorder.record(pod, {"Normal", "R", "m"});
    world.env.run_for(base::seconds(1));
  }
  EXPECT_EQ(world.events().front()["count"].as_int(), 25);
  EXPECT_EQ(world.server.calls.size(), 25u);
  world.recorder.record(object("ns", "other", "Pod"), {"Normal", "R", "m"});
  world.env.run_for(base::minutes(5));
  EXPECT_EQ(world.server.calls.size(), 26u);
  world.recorder.record(pod, {"Normal", "R", "m"});
  world.env.settle();
  EXPECT_EQ(world.events().back()["count"].as_int(), 41);  // those that were not written are counted all the same
}

TEST(EventRecorder, EventsWaitBehindAllElse) {
  World world;
  world.recorder.record(object("ns", "p", "Pod"), {"Normal", "R", "m"});
  world.env.settle();
  ASSERT_EQ(world.server.calls.size(), 1u);
  EXPECT_EQ(world.server.calls.front().urgency, Urgency::kEvent);
}

TEST(RecentlyUsed, ForgetsWhatWasUsedLeastRecently) {
  RecentlyUsed<int> recent(2);
  recent.use(hash_text("a")) = 1;
  recent.use(hash_text("b")) = 2;
  EXPECT_EQ(recent.use(hash_text("a")), 1);
  recent.use(hash_text("c")) = 3;
  EXPECT_EQ(recent.use(hash_text("b")), 0);
  EXPECT_EQ(recent.size(), 2u);
}

TEST(EventRecorder, EventsOfClusterScopedObjectsLiveInDefault) {
  World world;
  world.recorder.record(object("", "q", "Queue"), {"Normal", "R", "m"});
  world.env.settle();
  EXPECT_EQ(api::namespace_of(world.events().front()), "default");
}

TEST(EventRecorder, GoesOnCountingInANewObjectWhenTheOldOneExpired) {
  World world;
  const Json pod = object("ns", "p", "Pod");
  world.recorder.record(pod, {"Normal", "R", "m"});
  world.env.settle();
  world.server.erase(api::resources::kEvents, api::key_of(world.events().front()));
  world.recorder.record(pod, {"Normal", "R", "m"});
  world.env.settle();
  ASSERT_EQ(world.events().size(), 1u);
  EXPECT_EQ(world.events().front()["count"].as_int(), 2);
}

TEST(EventRecorder, RetriesAnUnreachableServerAndDropsWhatIsRefused) {
  World world;
  world.server.failures = {base::make_error(base::Code::kUnavailable, "down")};
  world.recorder.record(object("ns", "p", "Pod"), {"Normal", "R", "m"});
  world.env.settle();
  EXPECT_TRUE(world.events().empty());
  world.env.run_for(base::seconds(10));
  EXPECT_EQ(world.events().size(), 1u);
  world.server.failures = {base::make_error(base::Code::kForbidden, "no")};
  world.recorder.record(object("ns", "p2", "Pod"), {"Normal", "R", "m"});
  world.env.run_for(base::seconds(60));
  EXPECT_EQ(world.events().size(), 1u);
  EXPECT_EQ(world.recorder.dropped(), 1u);
}

}  // namespace
}  // namespace client

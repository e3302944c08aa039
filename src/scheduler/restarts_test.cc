// Evictions that were made for nothing are known to the scheduler that comes next.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "base/format.h"
#include "client/fake_client_for_tests.h"
#include "client/fake_env_for_tests.h"
#include "scheduler/ledger/eviction_round.h"
#include "scheduler/scheduler.h"

namespace scheduler {
namespace {

using api::Json;

Json json(std::string_view text) { return *api::parse_json(text); }

constexpr std::string_view kConfiguration = R"(actions: "enqueue, allocate, reclaim"
tiers:
- plugins:
  - name: gang
    enableReclaimable: false
  - name: predicates
  - name: capacity
)";

// A node of four processors, a guest with three of them, and an owner's group that asks for three.
class Restarts : public testing::Test {
 protected:
  void SetUp() override {
    put_queue("guest", "0");
    put_queue("owner", "3");
    put_node("");
    put_group("guest", "guest", "Running");
    put_group("want", "owner", "Inqueue");
    put_pod("guest-0", "guest", "n");
    put_pod("want-0", "want", "");
    restart();
  }

  void put_queue(const std::string& name, const std::string& deserved) {
    server.put(api::resources::kQueues, json(base::format(R"({{"metadata":{{"name":"{}"}},
        "spec":{{"reclaimable":true,"deserved":{{"cpu":"{}"}}}},"status":{{"state":"Open"}}}})",
                                                          name, deserved)));
  }
  void put_node(const std::string& label) {
    server.put(api::resources::kNodes,
               json(base::format(R"({{"metadata":{{"name":"n","labels":{{"a":"{}"}}}},"status":{{
        "allocatable":{{"cpu":"4","memory":"9Gi","pods":"9"}},"capacity":{{"cpu":"4","memory":"9Gi","pods":"9"}}}}}})",
                                 label)));
  }
  void put_group(const std::string& name, const std::string& queue, const std::string& phase) {
    server.put(api::resources::kPodGroups, json(base::format(R"({{"metadata":{{"namespace":"a","name":"{}"}},
        "spec":{{"minMember":1,"queue":"{}"}},"status":{{"phase":"{}"}}}})",
                                                             name, queue, phase)));
  }
  void put_pod(const std::string& name, const std::string& group, const std::string& node) {
    server.put(api::resources::kPods, json(base::format(R"({{"metadata":{{"namespace":"a","name":"{}","annotations":
        {{"scheduling.k8s.io/group-name":"{}"}}}},"spec":{{"schedulerName":"volcano","nodeName":"{}","containers":[{{
        "name":"c","resources":{{"requests":{{"cpu":"3"}}}}}}]}},"status":{{"phase":"{}"}}}})",
                                                        name, group, node, node.empty() ? "Pending" : "Running")));
  }
  void restart() {
    scheduler.reset();
    scheduler.emplace(env, server, Options());
    ASSERT_TRUE(scheduler->configure(kConfiguration).ok());
    scheduler->start();
    settle();
  }
  void settle() { env.run_for(base::seconds(5)); }
  bool has(const std::string& pod) const { return server.find(api::resources::kPods, "a/" + pod) != nullptr; }
  std::string remembered() const {
    return std::string(
        api::annotation_of(*server.find(api::resources::kPodGroups, "a/want"), kEvictionRoundAnnotation));
  }

  client::testing::FakeEnv env;
  client::testing::FakeClient server{env};
  std::optional<Scheduler> scheduler;
};

TEST_F(Restarts, a_round_for_nothing_is_not_begun_again) {
  ASSERT_FALSE(has("guest-0")) << "the owner takes what it deserves";
  put_pod("guest-1", "guest", "n");  // another scheduler gave the room to the guest again
  settle();
  ASSERT_TRUE(has("guest-1"));
  EXPECT_NE(remembered(), "");
  restart();
  EXPECT_TRUE(has("guest-1")) << "the second scheduler knows what came of the first round";
  put_node("new");
  settle();
  EXPECT_FALSE(has("guest-1")) << "something changed";
  put_pod("want-0", "want", "n");
  settle();
  EXPECT_EQ(remembered(), "") << "the group has its place";
}

TEST_F(Restarts, a_change_between_two_schedulers_ends_the_round) {
  put_pod("guest-1", "guest", "n");
  settle();
  ASSERT_TRUE(has("guest-1"));
  scheduler.reset();
  put_node("new");
  restart();
  EXPECT_FALSE(has("guest-1"));
}

TEST(EvictionRoundText, is_read_as_it_was_written) {
  EvictionRound round;
  round.at = *base::parse_rfc3339("2026-01-02T03:04:05Z");
  round.ready = 3;
  round.groups = {"a/b", "a/c"};
  round.nodes = {"n1"};
  round.victims.push_back({"a/p", Uid("u"), {}});
  const auto read = eviction_round_from(text_of(round, 17));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->state, 17U);
  EXPECT_EQ(read->at.ns, round.at.ns);
  EXPECT_EQ(read->groups, round.groups);
  EXPECT_EQ(read->nodes, round.nodes);
  EXPECT_EQ(read->victims.size(), 1U);
  EXPECT_FALSE(read->has_unknown_groups);
  for (int i = 0; i < 100; ++i) round.groups.insert(base::format("a/{}", i));
  EXPECT_TRUE(eviction_round_from(text_of(round, 17))->has_unknown_groups);
  for (const char* text : {"", "x", "[]", "{}", R"({"at":"x","state":"1"})", R"({"at":"2026-01-02T03:04:05Z"})",
                           R"({"at":"2026-01-02T03:04:05Z","state":"-1"})"})
    EXPECT_FALSE(eviction_round_from(text)) << text;
}

}  // namespace
}  // namespace scheduler

// Writes that the server refuses for good, and what follows.
#include "scheduler/effects/outbox.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "client/fake_client_for_tests.h"
#include "client/fake_env_for_tests.h"

namespace scheduler {
namespace {

using api::Json;

Json json(std::string_view text) { return *api::parse_json(text); }

struct World {
  client::testing::FakeEnv env;
  client::testing::FakeClient server{env};
  Model model;
  Ledger ledger;
  Intake intake{model, ledger, {}};
  int woken = 0;
  std::set<std::string, std::less<>> nodes;
  Outbox outbox{server,
                env,
                intake,
                ledger,
                {.component = "volcano", .has_node = [this](std::string_view node) { return nodes.contains(node); }},
                [this] { ++woken; }};

  World() {
    intake.set(api::resources::kQueues, json(R"({"metadata":{"name":"q","uid":"1"},"status":{"state":"Open"}})"));
    intake.set(api::resources::kPods, json(R"({"metadata":{"namespace":"a","name":"p","uid":"2"},"spec":
        {"schedulerName":"volcano"},"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":
        "Unschedulable","message":"no room"}]}})"));
  }
};

TEST(Outbox, a_status_of_a_queue_that_is_refused_is_written_again) {
  World world;
  world.server.forbids = [](const client::Request&) { return true; };
  Plan plan;
  plan.queues.push_back({"q", {{"cpu", *api::Quantity::parse("1")}}, {}});
  world.outbox.send(plan);
  world.env.run_for(base::seconds(1));
  EXPECT_TRUE(world.ledger.queue(world.model.find_queue("q")).is_known) << "not at once: it would be refused again";
  world.env.run_for(base::seconds(10));
  EXPECT_FALSE(world.ledger.queue(world.model.find_queue("q")).is_known);
  EXPECT_EQ(world.woken, 1);
}

TEST(Outbox, a_condition_of_a_pod_that_is_refused_is_written_again) {
  World world;
  world.server.forbids = [](const client::Request& request) { return request.resource == api::resources::kPods; };
  const TaskId pod = world.model.find_task("a/p");
  ASSERT_EQ(world.ledger.pod(pod).message.view(), "no room");
  Plan plan;
  plan.pod_conditions.push_back({.ns = "a", .pod = "p", .uid = "2", .reason = "Unschedulable", .message = "no room"});
  world.outbox.send(plan);
  world.env.run_for(base::seconds(10));
  EXPECT_TRUE(world.ledger.pod(pod).message.view().empty());
  EXPECT_GE(world.woken, 1);
}

TEST(Outbox, a_binding_or_eviction_that_is_refused_is_not_decided_again_at_once) {
  for (const base::Code code : {base::Code::kForbidden, base::Code::kTooManyRequests, base::Code::kUnavailable}) {
    World world;
    world.server.put(api::resources::kPods, json(R"({"metadata":{"namespace":"a","name":"p","uid":"2"}})"));
    world.server.failures.push_back(base::make_error(code, "no"));
    Plan plan;
    plan.binds.push_back({.ns = "a", .pod = "p", .uid = "2", .node = "n"});
    world.outbox.send(plan);
    world.env.run_for(base::milliseconds(900));
    EXPECT_EQ(world.ledger.flights.is_under_way(Entry::kBinding, "2"), code != base::Code::kUnavailable)
        << base::reason(code);
    world.env.run_for(base::milliseconds(200));
    EXPECT_FALSE(world.ledger.flights.is_under_way(Entry::kBinding, "2")) << base::reason(code);
  }
  World world;
  world.server.put(api::resources::kPods, json(R"({"metadata":{"namespace":"a","name":"p","uid":"2"}})"));
  world.server.forbids = [](const client::Request& request) { return request.verb == client::Verb::kDelete; };
  Plan plan;
  plan.evictions.push_back({.ns = "a", .pod = "p", .uid = "2", .action = "preempt"});
  world.outbox.send(plan);
  world.env.run_for(base::milliseconds(900));
  EXPECT_TRUE(world.ledger.flights.is_under_way(Entry::kEviction, "2"));
  EXPECT_EQ(world.woken, 0);
  world.env.run_for(base::milliseconds(200));
  EXPECT_FALSE(world.ledger.flights.is_under_way(Entry::kEviction, "2"));
  EXPECT_EQ(world.woken, 1);
}

TEST(Outbox, a_pod_stays_whatever_the_word_in_which_its_eviction_is_refused) {
  for (const base::Code code : {base::Code::kForbidden, base::Code::kConflict, base::Code::kNotFound}) {
    World world;
    world.intake.set(api::resources::kPods, json(R"({"metadata":{"namespace":"a","name":"r","uid":"3"},"spec":
        {"schedulerName":"volcano","nodeName":"n"},"status":{"phase":"Running"}})"));
    const TaskId pod = world.model.find_task("a/r");
    world.server.put(api::resources::kPods, json(R"({"metadata":{"namespace":"a","name":"r","uid":"3"},"spec":
        {"schedulerName":"volcano","nodeName":"n"},"status":{"phase":"Running"}})"));
    world.server.forbids = [&world, code](const client::Request& request) {
      if (request.verb == client::Verb::kDelete) world.server.failures.push_back(base::make_error(code, "denied"));
      return false;
    };
    world.ledger.flights.begin(Entry::kEviction, "3");
    world.model.move(pod, TaskStatus::kReleasing, world.model.task(pod).node);
    Plan plan;
    plan.evictions.push_back({.ns = "a", .pod = "r", .uid = "3", .action = "preempt"});
    world.outbox.send(plan);
    world.env.run_for(base::milliseconds(1100));
    EXPECT_FALSE(world.ledger.flights.is_under_way(Entry::kEviction, "3")) << base::reason(code);
    EXPECT_EQ(world.model.task(pod).status, TaskStatus::kRunning) << base::reason(code);
  }
}

// Hard shards: the claim names the version that it rests on.
struct ShardWorld : World {
  ShardWorld() {
    options.sharding_mode = ShardingMode::kHard;
    sharded = std::make_unique<Intake>(model, ledger, options);
    outbox = std::make_unique<Outbox>(server, env, *sharded, ledger, OutboxOptions{}, [this] { ++woken; });
    server.put(api::resources::kNodeShards, json(R"({"metadata":{"name":"volcano"},"spec":{"nodesDesired":["n"]}})"));
    show();
  }
  void show() { sharded->set(api::resources::kNodeShards, *server.find(api::resources::kNodeShards, "volcano")); }
  void claim() {
    Plan plan;
    plan.shards.push_back({.name = "volcano", .in_use = {"n"}, .version = sharded->shard.version()});
    ledger.record(NodeShard{.desired = {"n"}, .in_use = {"n"}});
    outbox->send(plan);
  }
  bool is_doubtful() const { return ledger.flights.is_doubtful(Entry::kShard, "volcano"); }

  IntakeOptions options;
  std::unique_ptr<Intake> sharded;
  std::unique_ptr<Outbox> outbox;
};

TEST(Outbox, a_claim_that_is_refused_is_in_doubt_and_made_again_after_a_while) {
  for (const base::Code code : {base::Code::kForbidden, base::Code::kConflict}) {
    ShardWorld world;
    world.server.failures.push_back(base::make_error(code, "no"));
    world.claim();
    world.env.run_for(base::seconds(1));
    EXPECT_TRUE(world.is_doubtful()) << base::reason(code);
    EXPECT_TRUE(world.ledger.shard()) << "not at once: it would be refused again";
    world.env.run_for(base::seconds(10));
    EXPECT_FALSE(world.ledger.shard()) << base::reason(code);
    EXPECT_GE(world.woken, 1);
  }
}

TEST(Outbox, a_claim_that_was_refused_is_not_in_doubt_once_the_watch_has_shown_what_is_so) {
  for (const base::Code code : {base::Code::kForbidden, base::Code::kConflict}) {
    ShardWorld world;
    world.server.failures.push_back(base::make_error(code, "no"));
    world.claim();
    world.env.run_for(base::seconds(1));
    world.server.put(api::resources::kNodeShards, *world.server.find(api::resources::kNodeShards, "volcano"));
    world.show();
    EXPECT_FALSE(world.is_doubtful()) << base::reason(code);
    world.env.run_for(base::seconds(10));
    ASSERT_TRUE(world.ledger.shard()) << "what the server says is known";
    EXPECT_TRUE(world.ledger.shard()->in_use.empty());
  }
}

TEST(Outbox, nothing_is_kept_of_a_shard_that_is_gone) {
  ShardWorld world;
  world.server.failures.push_back(base::make_error(base::Code::kForbidden, "no"));
  world.claim();
  world.env.run_for(base::seconds(1));
  EXPECT_EQ(world.ledger.flights.size(), 1u);
  world.sharded->remove(api::resources::kNodeShards, *world.server.find(api::resources::kNodeShards, "volcano"));
  EXPECT_EQ(world.ledger.flights.size(), 0u);
}

TEST(Outbox, a_status_of_a_group_that_is_refused_is_asked_for_after_a_while) {
  World world;
  world.server.put(api::resources::kPodGroups, json(R"({"metadata":{"namespace":"a","name":"g","uid":"3"}})"));
  world.server.forbids = [](const client::Request& request) { return request.verb == client::Verb::kPatch; };
  Plan plan;
  plan.groups.push_back({.ns = "a", .name = "g", .status = {}});
  world.outbox.send(plan);
  world.env.run_for(base::seconds(1));
  EXPECT_EQ(world.server.calls.size(), 1u) << "it would be refused again";
  world.env.run_for(base::seconds(10));
  EXPECT_EQ(world.server.calls.size(), 2u);
}

TEST(Outbox, a_status_of_what_is_gone_is_not) {
  World world;
  Plan plan;
  plan.queues.push_back({"q", {{"cpu", *api::Quantity::parse("1")}}, {}});
  world.outbox.send(plan);
  world.env.run_for(base::seconds(10));
  EXPECT_TRUE(world.ledger.queue(world.model.find_queue("q")).is_known);
}

std::string verb_and_resource(const client::Request& request) {
  const std::string_view verb = request.verb == client::Verb::kCreate  ? "create "
                                : request.verb == client::Verb::kPatch ? "patch "
                                                                       : "other ";
  return std::string(verb) + request.resource.plural;
}

std::size_t count_of(const World& world, std::string_view what) {
  return static_cast<std::size_t>(std::count_if(world.server.calls.begin(), world.server.calls.end(),
                                                [&](const auto& one) { return verb_and_resource(one) == what; }));
}

PlannedGroupStatus group_status(GroupPhase phase, std::int32_t running, bool is_urgent) {
  PlannedGroupStatus out{.ns = "a", .name = "g", .is_urgent = is_urgent};
  out.status.phase = phase;
  out.status.running = running;
  return out;
}

TEST(Outbox, what_moves_pods_goes_first_and_events_last) {
  World world;
  OutboxOptions options{.component = "volcano", .in_flight_max = 1};
  Outbox narrow(world.server, world.env, world.intake, world.ledger, options, [] {});
  Plan plan;
  plan.group_events.push_back({"a", "g", "3", "Normal", "Scheduled", "pod group is ready"});
  plan.queues.push_back({"q", {{"cpu", *api::Quantity::parse("1")}}, {}});
  plan.pod_conditions.push_back({.ns = "a", .pod = "p", .uid = "2", .reason = "Unschedulable", .message = "no room"});
  plan.groups.push_back(group_status(GroupPhase::kRunning, 1, true));
  plan.binds.push_back({.ns = "a", .pod = "x", .uid = "7", .node = "n"});
  plan.binds.push_back({.ns = "a", .pod = "y", .uid = "8", .node = "n"});
  narrow.send(plan);
  world.env.run_for(base::seconds(1));
  std::vector<std::string> order;
  for (const auto& one : world.server.calls) order.push_back(verb_and_resource(one));
  const std::vector<std::string> first{order.begin(), order.begin() + std::min<std::ptrdiff_t>(order.size(), 5)};
  EXPECT_EQ(std::count(first.begin(), first.end(), "create pods"), 2);
  EXPECT_LT(std::find(order.begin(), order.end(), "create pods"),
            std::find(order.begin(), order.end(), "patch queues"));
  EXPECT_LT(std::find(order.begin(), order.end(), "patch podgroups"),
            std::find(order.begin(), order.end(), "patch queues"));
  const auto event = std::find(order.begin(), order.end(), "create events");
  ASSERT_NE(event, order.end());
  EXPECT_EQ(std::count(event, order.end(), "patch pods"), 0) << "conditions go before events";
}

TEST(Outbox, no_more_than_64_requests_are_in_flight) {
  World world;
  world.server.silent = true;
  Plan plan;
  for (int i = 0; i < 100; ++i)
    plan.binds.push_back({.ns = "a", .pod = base::format("p{}", i), .uid = base::format("u{}", i), .node = "n"});
  world.outbox.send(plan);
  EXPECT_EQ(world.server.calls.size(), 64u);
}

TEST(Outbox, counts_of_a_group_are_written_now_and_then_and_its_phase_at_once) {
  World world;
  world.server.put(api::resources::kPodGroups, json(R"({"metadata":{"namespace":"a","name":"g","uid":"3"}})"));
  const auto send = [&](GroupPhase phase, int running, bool is_urgent) {
    Plan plan;
    plan.groups.push_back(group_status(phase, running, is_urgent));
    world.outbox.send(plan);
  };
  for (int i = 1; i <= 15; ++i) {
    send(GroupPhase::kInqueue, i, false);
    world.env.run_for(base::milliseconds(10));
  }
  EXPECT_EQ(count_of(world, "patch podgroups"), 0u) << "more may follow";
  world.env.run_for(base::milliseconds(350));
  EXPECT_EQ(count_of(world, "patch podgroups"), 1u);
  EXPECT_EQ((*world.server.find(api::resources::kPodGroups, "a/g"))["status"]["running"].as_int(), 15);
  send(GroupPhase::kInqueue, 16, false);
  world.env.run_for(base::milliseconds(900));
  EXPECT_EQ(count_of(world, "patch podgroups"), 1u) << "the second waits for the time of counts to be over";
  send(GroupPhase::kRunning, 20, true);
  world.env.run_for(base::milliseconds(1));
  EXPECT_EQ(count_of(world, "patch podgroups"), 2u);
  EXPECT_EQ((*world.server.find(api::resources::kPodGroups, "a/g"))["status"]["phase"].as_string(), "Running");
  send(GroupPhase::kRunning, 21, false);
  world.env.run_for(base::seconds(1));
  EXPECT_EQ(count_of(world, "patch podgroups"), 3u);
  EXPECT_EQ((*world.server.find(api::resources::kPodGroups, "a/g"))["status"]["running"].as_int(), 21);
  EXPECT_FALSE(world.ledger.flights.is_under_way(Entry::kGroup, "a/g"));
}

TEST(Outbox, that_a_pod_without_a_group_of_its_own_is_bound_is_said_with_its_start_unless_that_takes_five_minutes) {
  World world;
  const std::string name = "podgroup-3f0c5b52-9d7e-4d0a-8a53-6f2f0b1c7d07";
  world.server.put(api::resources::kPodGroups,
                   json(base::format(R"({{"metadata":{{"namespace":"a","name":"{}","uid":"3"}}}})", name)));
  const auto send = [&](int running) {
    Plan plan;
    plan.groups.push_back(group_status(GroupPhase::kRunning, running, false));
    plan.groups.back().name = name;
    world.outbox.send(plan);
  };
  send(0);
  world.env.run_for(base::milliseconds(299'999));
  EXPECT_EQ(count_of(world, "patch podgroups"), 0u);
  world.env.run_for(base::milliseconds(1));
  EXPECT_EQ(count_of(world, "patch podgroups"), 1u);
  world.env.run_for(base::seconds(10));
  send(0);
  world.env.run_for(base::seconds(100));
  send(1);
  world.env.run_for(base::milliseconds(500));
  EXPECT_EQ(count_of(world, "patch podgroups"), 2u);
}

TEST(Outbox, that_pods_are_bound_and_start_is_said_with_what_follows_unless_that_takes_long) {
  World world;
  world.server.put(api::resources::kPodGroups, json(R"({"metadata":{"namespace":"a","name":"g","uid":"3"}})"));
  const auto send = [&](GroupPhase phase, int running) {
    Plan plan;
    plan.groups.push_back(group_status(phase, running, false));
    if (phase == GroupPhase::kInqueue) plan.groups.back().status.conditions.push_back({.type = Text("Scheduled")});
    world.outbox.send(plan);
  };
  send(GroupPhase::kInqueue, 0);
  world.env.run_for(base::seconds(1));
  EXPECT_EQ(count_of(world, "patch podgroups"), 0u);
  send(GroupPhase::kRunning, 0);
  world.env.run_for(base::seconds(1));
  EXPECT_EQ(count_of(world, "patch podgroups"), 0u);
  send(GroupPhase::kRunning, 1);
  world.env.run_for(base::milliseconds(499));
  EXPECT_EQ(count_of(world, "patch podgroups"), 0u);
  world.env.run_for(base::milliseconds(1));
  EXPECT_EQ(count_of(world, "patch podgroups"), 1u);
  EXPECT_EQ((*world.server.find(api::resources::kPodGroups, "a/g"))["status"]["running"].as_int(), 1);
  for (const GroupPhase phase : {GroupPhase::kInqueue, GroupPhase::kRunning}) {
    world.env.run_for(base::seconds(10));
    const std::size_t before = count_of(world, "patch podgroups");
    send(phase, 0);
    world.env.run_for(base::milliseconds(2999));
    EXPECT_EQ(count_of(world, "patch podgroups"), before);
    world.env.run_for(base::milliseconds(1));
    EXPECT_EQ(count_of(world, "patch podgroups"), before + 1);
  }
}

TEST(Outbox, a_newer_status_says_also_what_only_the_one_it_replaces_said) {
  World world;
  world.server.put(api::resources::kQueues, json(R"({"metadata":{"name":"q","uid":"1"},"status":{"allocated":
      {"cpu":"1","gpu":"1","memory":"1"}}})"));
  for (const char* gone : {"cpu", "gpu", "memory"}) {
    Plan plan;
    plan.queues.push_back({"q", {}, {gone}});
    world.outbox.send(plan);
  }
  world.env.run_for(base::seconds(1));
  EXPECT_EQ((*world.server.find(api::resources::kQueues, "q"))["status"]["allocated"].size(), 0u);
  EXPECT_EQ(count_of(world, "patch queues"), 1u);
  EXPECT_FALSE(world.ledger.flights.is_under_way(Entry::kQueue, "q"));

  Plan plan;
  plan.pod_conditions.push_back({"a", "p", "2", "Unschedulable", "first", ""});
  plan.pod_conditions.push_back({"a", "p", "2", "Unschedulable", "second", "n1"});
  plan.pod_conditions.push_back({"a", "p", "2", "Unschedulable", "third", ""});
  world.server.put(api::resources::kPods, json(R"({"metadata":{"namespace":"a","name":"p","uid":"2"}})"));
  world.outbox.send(plan);
  world.env.run_for(base::seconds(1));
  EXPECT_EQ((*world.server.find(api::resources::kPods, "a/p"))["status"]["nominatedNodeName"].as_string(), "n1");
}

TEST(Outbox, a_status_that_somebody_else_overtook_is_not_taken_for_written) {
  World world;
  world.server.put(api::resources::kQueues, json(R"({"metadata":{"name":"q","uid":"1"},"status":{"state":"Open"}})"));
  world.intake.set(api::resources::kQueues, *world.server.find(api::resources::kQueues, "q"));
  const QueueId queue = world.model.find_queue("q");
  world.ledger.record(queue, {{"cpu", *api::Quantity::parse("1")}});
  Plan plan;
  plan.queues.push_back({"q", {{"cpu", *api::Quantity::parse("1")}}, {}});
  world.server.failures.push_back(base::make_error(base::Code::kConflict, "the object has been modified"));
  world.outbox.send(plan);
  EXPECT_TRUE(world.ledger.flights.is_under_way(Entry::kQueue, "q"));
  world.env.run_for(base::seconds(1));
  EXPECT_TRUE(world.ledger.queue(queue).allocated.empty()) << "as the server says";
  EXPECT_FALSE(world.ledger.flights.is_doubtful(Entry::kQueue, "q"));
  EXPECT_EQ(world.woken, 1);
}

TEST(Outbox, what_the_outbox_itself_tells_a_pod_is_in_the_ledger) {
  World world;
  world.server.put(api::resources::kPods, json(R"({"metadata":{"namespace":"a","name":"p","uid":"2"}})"));
  world.server.failures.push_back(base::make_error(base::Code::kUnavailable, "the connection was lost"));
  Plan plan;
  plan.binds.push_back({.ns = "a", .pod = "p", .uid = "2", .node = "n"});
  world.outbox.send(plan);
  world.env.step();
  EXPECT_EQ(world.ledger.pod(world.model.find_task("a/p")).reason, "SchedulerError");
  world.env.run_for(base::seconds(1));
  EXPECT_FALSE(world.ledger.flights.is_under_way(Entry::kBinding, "2"));
  EXPECT_FALSE(world.ledger.flights.is_under_way(Entry::kPodStatus, "2"));
}

TEST(Outbox, a_queue_that_must_exist_is_made_however_late_it_is_let_in) {
  World world;
  bool refuses = true;
  world.server.forbids = [&](const client::Request& request) {
    return refuses && request.verb == client::Verb::kCreate;
  };
  world.outbox.ensure_queue("default", true);
  world.env.run_for(base::minutes(10));
  refuses = false;
  world.env.run_for(base::seconds(11));
  EXPECT_TRUE(world.server.find(api::resources::kQueues, "default"));
}

TEST(Outbox, the_cpus_of_a_node_that_is_gone_go_with_it) {
  World world;
  const auto put = [&] {
    world.server.put(api::resources::kNumatopologies, json(R"({"metadata":{"name":"n","uid":"u"}})"));
  };
  put();
  world.outbox.delete_numatopology("n", "u");
  world.env.run_for(base::seconds(1));
  EXPECT_EQ(world.server.find(api::resources::kNumatopologies, "n"), nullptr);
  // The node comes back while the server does not answer: what it says is its own.
  put();
  world.server.failures.push_back(base::make_error(base::Code::kUnavailable, "later"));
  world.outbox.delete_numatopology("n", "u");
  world.env.run_for(base::milliseconds(500));
  world.nodes.insert("n");
  world.env.run_for(base::seconds(10));
  EXPECT_NE(world.server.find(api::resources::kNumatopologies, "n"), nullptr);
}

TEST(Outbox, a_pod_that_is_over_waits_for_no_volume) {
  const std::string pod = R"({"metadata":{"namespace":"a","name":"p","uid":"2")";
  const std::string ours = R"(},"spec":{"schedulerName":"volcano"},"status":{"phase":)";
  const struct {
    std::string now;  // empty: gone
    bool is_over;
  } rows[] = {{pod + ours + R"("Pending"}})", false},
              {"", true},
              {pod + R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")" + ours + R"("Pending"}})", true},
              {pod + ours + R"("Failed"}})", true}};
  for (const auto& row : rows) {
    World world;
    world.server.put(api::resources::kPersistentVolumeClaims, json(R"({"metadata":{"namespace":"a","name":"c"}})"));
    world.server.put(api::resources::kPods, json(rows[0].now));
    world.model.move(world.model.find_task("a/p"), TaskStatus::kBinding, NodeId{});
    world.model.volumes.promise(world.model.find_task("a/p"), {{.claim = "a/d", .volume = "v"}});
    Plan plan;
    plan.binds.push_back({.ns = "a", .pod = "p", .uid = "2", .node = "n", .volumes = {{.claim = "a/c"}}});
    plan.binds[0].volume_timeout = base::minutes(10);
    world.outbox.send(plan);
    world.env.run_for(base::seconds(10));
    ASSERT_TRUE(world.ledger.flights.is_under_way(Entry::kBinding, "2")) << row.now;
    EXPECT_EQ(world.ledger.binding_waits.at("a/p"),
              "claim a/c has no volume yet: nobody has made one for node n; is its provisioner there?");
    const std::size_t notified = world.server.calls.size();
    if (row.now.empty()) world.intake.remove(api::resources::kPods, json(pod + "}}"));
    if (!row.now.empty()) world.server.put(api::resources::kPods, json(row.now));
    if (!row.now.empty()) world.intake.set(api::resources::kPods, json(row.now));
    world.env.run_for(base::seconds(10));
    EXPECT_EQ(world.ledger.flights.is_under_way(Entry::kBinding, "2"), !row.is_over) << row.now;
    EXPECT_EQ(world.model.volumes.promised_to("v").empty(), row.is_over) << row.now;
    EXPECT_EQ(world.ledger.binding_waits.empty(), row.is_over);
    for (std::size_t i = notified; i < world.server.calls.size(); ++i)
      EXPECT_NE(world.server.calls[i].subresource, "status") << row.now;
  }
}

TEST(Outbox, nothing_is_kept_of_objects_that_are_gone) {
  World world;
  Plan plan;
  plan.pod_conditions.push_back(
      {.ns = "a", .pod = "gone", .uid = "9", .reason = "Unschedulable", .message = "no room"});
  plan.groups.push_back({.ns = "a", .name = "gone", .uid = "8"});
  plan.queues.push_back({"gone", {{"cpu", *api::Quantity::parse("1")}}, {}});
  world.outbox.send(plan);
  EXPECT_EQ(world.ledger.flights.size(), 3u);
  world.env.run_for(base::minutes(2));  // none of them is on the server
  EXPECT_EQ(world.ledger.flights.size(), 0u);
}

TEST(Outbox, requests_say_how_urgent_they_are) {
  World world;
  Plan plan;
  plan.queues.push_back({"q", {{"cpu", *api::Quantity::parse("1")}}, {}});
  plan.groups.push_back({.ns = "a", .name = "g", .uid = "8", .is_urgent = true});
  plan.binds.push_back({.ns = "a", .pod = "p", .uid = "2", .node = "n"});
  world.outbox.send(plan);
  world.env.run_for(base::seconds(1));
  std::map<std::string, client::Urgency> urgency;
  for (const client::Request& request : world.server.calls) urgency.emplace(request.resource.plural, request.urgency);
  EXPECT_EQ(urgency.at("pods"), client::Urgency::kFirst);
  EXPECT_EQ(urgency.at("podgroups"), client::Urgency::kPhase);
  EXPECT_EQ(urgency.at("queues"), client::Urgency::kCounts);
}

}  // namespace
}  // namespace scheduler

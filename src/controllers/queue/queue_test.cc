// The queue controller: states, the tree, commands.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/format.h"
#include "controllers/framework/world_for_tests.h"
#include "controllers/podgroup/controller.h"
#include "controllers/queue/controller.h"
#include "controllers/queue/step.h"

namespace controllers::queue {
namespace {

using api::Json;
namespace resources = api::resources;

class QueueTest : public ::testing::Test {
 protected:
  QueueTest() : controller(make_queue_controller({})) { world.use_indexes_of(*controller); }

  void queue(std::string_view name, std::string_view parent, std::string_view state) {
    world.put(resources::kQueues,
              Json::object({{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                            {"kind", "Queue"},
                            {"metadata", Json::object({{"name", name}})},
                            {"spec", parent.empty() ? Json::object() : Json::object({{"parent", parent}})},
                            {"status", state.empty() ? Json::object() : Json::object({{"state", state}})}}));
  }
  void command(std::string_view target, std::string_view action) {
    world.put(
        resources::kCommands,
        Json::object(
            {{"apiVersion", "bus.volcano.sh/v1alpha1"},
             {"kind", "Command"},
             {"metadata", Json::object({{"name", base::format("c-{}", target)}, {"namespace", "default"}})},
             {"action", action},
             {"target",
              Json::object({{"apiVersion", "scheduling.volcano.sh/v1beta1"}, {"kind", "Queue"}, {"name", target}})}}));
  }
  void group(std::string_view queue) {
    world.put(resources::kPodGroups, Json::object({{"kind", "PodGroup"},
                                                   {"metadata", Json::object({{"name", "g"}, {"namespace", "ns"}})},
                                                   {"spec", Json::object({{"queue", queue}})}}));
  }
  void settle() {
    for (int round = 0; round < 6; ++round)
      for (const Json* one : world.all(resources::kQueues)) world.turn(*controller, std::string(api::name_of(*one)));
  }
  std::string state(const std::string& name) {
    return (*world.find(resources::kQueues, name))["status"]["state"].str();
  }

  TestWorld world;
  std::unique_ptr<Controller> controller;
};

TEST_F(QueueTest, a_new_queue_hangs_below_root_and_is_open) {
  queue("root", "", "Open");
  queue("test", "", "");
  EXPECT_EQ(world.turn(*controller, "test"),
            "patch Queue test [{\"op\":\"add\",\"path\":\"/spec/parent\",\"value\":\"root\"}]\n--\n"
            "apply-status Queue test {\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"kind\":\"Queue\","
            "\"metadata\":{\"name\":\"test\"},\"status\":{\"state\":\"Open\"}}\n");
  EXPECT_EQ(world.turn(*controller, "test"), "");
}

TEST_F(QueueTest, counts_that_a_stranger_wrote_do_not_add_up_to_more_than_a_count_holds) {
  controller = make_queue_controller({.counts_children = true});
  world.use_indexes_of(*controller);
  queue("root", "", "Open");
  for (const char* child : {"a", "b"}) {
    queue(child, "root", "Open");
    world.edit(resources::kQueues, child)->edit("status").set("running", INT32_MAX);
  }
  world.turn(*controller, "root");
  EXPECT_EQ((*world.find(resources::kQueues, "root"))["status"]["running"].as_int(), INT32_MAX);
}

TEST_F(QueueTest, closing_waits_for_the_last_group) {
  queue("root", "", "Open");
  queue("test", "root", "Open");
  group("test");
  command("test", "CloseQueue");
  settle();
  EXPECT_EQ(state("test"), "Closing");
  EXPECT_EQ(world.events.back(), "CloseQueue: Close queue succeed");
  world.erase(resources::kPodGroups, "ns/g");
  settle();
  EXPECT_EQ(state("test"), "Closed");
  command("test", "OpenQueue");
  settle();
  EXPECT_EQ(state("test"), "Open");
}

TEST_F(QueueTest, children_close_and_open_with_their_parent) {
  queue("root", "", "Open");
  queue("a", "root", "Open");
  queue("b", "a", "Open");
  queue("c", "a", "Closed");
  command("a", "CloseQueue");
  settle();
  EXPECT_EQ(state("a"), "Closed");
  EXPECT_EQ(state("b"), "Closed");
  EXPECT_EQ(api::annotation_of(*world.find(resources::kQueues, "b"), kClosedByParent), "true");
  command("a", "OpenQueue");
  settle();
  EXPECT_EQ(state("a"), "Open");
  EXPECT_EQ(state("b"), "Open");
  EXPECT_EQ(state("c"), "Closed");  // it was closed by itself
}

// Were it open with the mark of before, a parent that closes again would leave it with the mark that is then written.
TEST_F(QueueTest, a_queue_that_opens_loses_its_mark_first) {
  queue("root", "", "Open");
  queue("a", "root", "Open");
  queue("b", "a", "Closed");
  world.edit(resources::kQueues, "b")
      ->edit("metadata")
      .set("annotations", Json::object({{std::string(kClosedByParent), "true"}}));
  command("b", "OpenQueue");
  world.turn(*controller, "b");  // it takes the command
  const std::string text = world.turn(*controller, "b");
  const std::size_t mark = text.find("closed-by-parent\",\"value\":\"false\"");
  const std::size_t opened = text.find("\"status\":{\"state\":\"Open\"");
  ASSERT_NE(mark, std::string::npos) << text;
  ASSERT_NE(opened, std::string::npos) << text;
  EXPECT_LT(mark, opened) << text;
}

TEST_F(QueueTest, a_child_does_not_open_below_a_closed_parent) {
  queue("root", "", "Open");
  queue("a", "root", "Closed");
  queue("b", "a", "Closed");
  command("b", "OpenQueue");
  world.turn(*controller, "b");
  EXPECT_EQ(
      world.turn(*controller, "b"),
      "fail Failed to open queue b because its parent queue a is closing or closed. Open the parent queue first.\n");
  world.turn(*controller, "b", 16, "Failed to open queue b because");
  EXPECT_EQ(world.events.back(),
            "OpenQueue: OpenQueue queue failed for sync queue b failed for Failed to open queue b because, event is "
            "CommandIssued, action is OpenQueue");
  settle();
  EXPECT_EQ(state("b"), "Closed");
}

TEST_F(QueueTest, an_action_that_the_server_refuses_gives_way_to_the_next) {
  queue("root", "", "Open");
  queue("test", "root", "Open");
  command("test", "CloseQueue");
  world.turn(*controller, "test");
  command("test", "SyncQueue");
  world.turn(*controller, "test");
  EXPECT_NE(controller->step(world, "test", {.now = world.now}).text().find("Closed"), std::string::npos);
  controller->finished("test", {.succeeded = false});
  EXPECT_EQ(world.turn(*controller, "test", 16, "it is forbidden"),
            "event Queue test Warning CloseQueue: CloseQueue queue failed for sync queue test failed for it is "
            "forbidden, event is CommandIssued, action is CloseQueue\n");
  settle();
  EXPECT_EQ(state("test"), "Open");
}

TEST_F(QueueTest, counters_wait_and_states_do_not) {
  queue("root", "", "Open");
  queue("test", "root", "Open");
  group("test");
  world.edit(resources::kPodGroups, "ns/g")->edit("status").set("phase", "Running");
  world.counts_wait = base::milliseconds(30);
  const Plan later = controller->step(world, "test", {.now = world.now, .counts_wait = world.counts_wait});
  EXPECT_EQ(later.text(), "");
  EXPECT_EQ(later.look_again(), base::milliseconds(30));
  command("test", "CloseQueue");
  settle();
  EXPECT_EQ(state("test"), "Closing");
  EXPECT_EQ((*world.find(resources::kQueues, "test"))["status"]["running"].as_int(), 1);  // they come with the state
}

// A tree of queues with a group in each leaf and one at the top.
class QueueTree : public QueueTest {
 protected:
  void running_group(std::string_view in) {
    world.put(resources::kPodGroups, Json::object({{"kind", "PodGroup"},
                                                   {"metadata", Json::object({{"name", in}, {"namespace", "ns"}})},
                                                   {"spec", Json::object({{"queue", in}})},
                                                   {"status", Json::object({{"phase", "Running"}})}}));
  }
  std::int64_t running(const std::string& name) {
    return (*world.find(resources::kQueues, name))["status"]["running"].as_int();
  }
};

TEST_F(QueueTree, counts_those_below_where_that_is_wanted) {
  for (const bool wanted : {false, true}) {
    controller = make_queue_controller({.counts_children = wanted});
    queue("root", "", "Open");
    queue("org", "root", "Open");
    queue("team", "org", "Open");
    queue("other", "", "Open");
    for (const char* name : {"root", "team", "other"}) running_group(name);
    settle();
    EXPECT_EQ(running("team"), 1);
    EXPECT_EQ(running("org"), wanted ? 1 : 0);
    EXPECT_EQ(running("root"), wanted ? 3 : 1);
  }
}

TEST_F(QueueTree, adds_nothing_up_where_queues_are_above_themselves) {
  controller = make_queue_controller({.counts_children = true});
  queue("a", "b", "Open");
  queue("b", "a", "Open");
  queue("self", "self", "Open");
  for (const char* name : {"a", "self"}) running_group(name);
  settle();
  EXPECT_EQ(running("a"), 1);
  EXPECT_EQ(running("b"), 0);
  EXPECT_EQ(running("self"), 1);
}

TEST_F(QueueTree, wakes_a_queue_when_the_counters_below_it_change) {
  controller = make_queue_controller({.counts_children = true});
  queue("root", "", "Open");
  queue("team", "", "Open");
  const Json before = *world.find(resources::kQueues, "team");
  Json after = before;
  after.edit("status").set("running", 1);
  bool woken = false;
  for (const Wake& wake : controller->wakes_on())
    if (wake.resource == resources::kQueues && wake.matters(&before, &after)) {
      EXPECT_EQ(wake.keys(world, after), Keys{"root"});
      EXPECT_TRUE(wake.only_counts(world, before, after));
      woken = true;
    }
  EXPECT_TRUE(woken);
}

struct StateRow {
  const char* state;
  const char* action;
  int groups;
  const char* becomes;
};

TEST(QueueStates, follow_the_table) {
  constexpr StateRow kRows[] = {{"", "SyncQueue", 0, "Open"},
                                {"Open", "SyncQueue", 0, "Open"},
                                {"Open", "CloseQueue", 0, "Closed"},
                                {"Open", "CloseQueue", 2, "Closing"},
                                {"", "CloseQueue", 1, "Closing"},
                                {"Open", "OpenQueue", 0, "Open"},
                                {"Closed", "OpenQueue", 0, "Open"},
                                {"Closed", "CloseQueue", 3, "Closed"},
                                {"Closed", "SyncQueue", 0, "Closed"},
                                {"Closing", "OpenQueue", 1, "Open"},
                                {"Closing", "CloseQueue", 1, "Closing"},
                                {"Closing", "CloseQueue", 0, "Closed"},
                                {"Closing", "SyncQueue", 0, "Closed"},
                                {"Closing", "SyncQueue", 1, "Closing"},
                                {"Unknown", "OpenQueue", 0, "Open"},
                                {"Unknown", "CloseQueue", 1, "Closing"},
                                {"Unknown", "SyncQueue", 1, "Unknown"}};
  for (const StateRow& row : kRows) {
    TestWorld world;
    const Json queue = world.put(resources::kQueues, Json::object({{"kind", "Queue"},
                                                                   {"metadata", Json::object({{"name", "q"}})},
                                                                   {"spec", Json::object({{"parent", "root"}})},
                                                                   {"status", Json::object({{"state", row.state}})}}));
    const Json root = Json::object({{"status", Json::object({{"state", "Open"}})}});
    Decision decision = step({.queue = &queue, .parent = &root, .group_count = row.groups}, row.action);
    world.apply(decision.plan);
    EXPECT_EQ((*world.find(resources::kQueues, "q"))["status"]["state"].as_string(), row.becomes)
        << row.state << " " << row.action << " " << row.groups;
  }
}

TEST(PlainPods, get_a_group_of_their_own_and_its_name) {
  TestWorld world;
  auto controller = podgroup::make_podgroup_controller({});
  world.put_text(resources::kPods, R"({"apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "p", "namespace": "ns", "uid": "U", "annotations": {"scheduling.volcano.sh/queue-name": "q"}},
    "spec": {"schedulerName": "volcano", "containers": [{"resources": {"requests": {"cpu": "500m"}}}]}})");
  EXPECT_EQ(world.turn(*controller, "ns/p"),
            "patch Pod ns/p {\"metadata\":{\"annotations\":{\"scheduling.k8s.io/group-name\":\"podgroup-U\"}}}\n"
            "--\ncreate PodGroup ns/podgroup-U\n");
  const Json group = *world.find(resources::kPodGroups, "ns/podgroup-U");
  EXPECT_EQ(group["spec"].sorted().dump(),
            R"({"minMember":1,"minResources":{"count/pods":"1","cpu":"500m","pods":"1","requests.cpu":"500m"},)"
            R"("queue":"q"})");
  EXPECT_EQ(group["status"]["phase"].as_string(), "Pending");
  EXPECT_EQ(group["metadata"]["ownerReferences"][std::size_t{0}]["kind"].as_string(), "Pod");
  EXPECT_EQ(world.turn(*controller, "ns/p"), "");
}

TEST(PlainPods, get_the_group_that_their_annotation_names_if_a_controller_came_no_further) {
  TestWorld world;
  auto controller = podgroup::make_podgroup_controller({});
  const auto pod = [&](std::string_view name, std::string_view group, std::string_view node) {
    world.put_text(resources::kPods, base::format(R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "{}",
      "namespace": "ns", "uid": "{}", "annotations": {{"scheduling.k8s.io/group-name": "{}"}}}},
      "spec": {{"schedulerName": "volcano", "nodeName": "{}"}}}})",
                                                  name, name, group, node));
    return world.turn(*controller, "ns/" + std::string(name));
  };
  EXPECT_EQ(pod("waits", "podgroup-waits", ""), "create PodGroup ns/podgroup-waits\n");
  EXPECT_EQ(pod("of-a-user", "own", ""), "");
  EXPECT_EQ(pod("runs", "podgroup-runs", "n"), "");
}

TEST(PlainPods, share_the_group_of_their_owner_and_take_its_annotations) {
  TestWorld world;
  auto controller = podgroup::make_podgroup_controller({});
  world.put_text({"apps", "v1", "replicasets"}, R"({"kind": "ReplicaSet", "metadata": {"name": "rs", "namespace": "ns",
    "uid": "R", "annotations": {"volcano.sh/preemptable": "true", "other": "x",
    "scheduling.volcano.sh/group-min-member": "3"}}})");
  for (const char* name : {"p", "q"})
    world.put(
        resources::kPods,
        *api::parse_json(base::format(
            R"({{"kind": "Pod", "metadata": {{"name": "{}", "namespace": "ns", "ownerReferences": [{{"apiVersion": "apps/v1",
             "kind": "ReplicaSet", "name": "rs", "uid": "R", "controller": true}}]}}, "spec": {{"schedulerName": "volcano"}}}})",
            name)));
  EXPECT_EQ(world.turn(*controller, "ns/p"), "fetch ReplicaSet ns/rs\n");
  world.turn(*controller, "ns/p");
  EXPECT_TRUE(world.turn(*controller, "ns/q").starts_with("patch Pod ns/q"));
  const Json group = *world.find(resources::kPodGroups, "ns/podgroup-R");
  EXPECT_EQ(group["metadata"]["annotations"].dump(), R"({"volcano.sh/preemptable":"true"})");
  EXPECT_EQ(group["spec"]["minMember"].as_int(), 3);
  EXPECT_EQ(group["spec"]["minResources"]["pods"].as_string(), "3");
  EXPECT_EQ(group["metadata"]["ownerReferences"][std::size_t{0}]["kind"].as_string(), "ReplicaSet");
}

TEST(PlainPods, are_alone_where_their_owner_asks_for_what_no_group_can_be) {
  for (const auto& [text, members] :
       {std::pair{"2147483647", 2147483647}, std::pair{"3000000000", 1}, std::pair{"-1", 1}, std::pair{"x", 1}}) {
    const Json owner = *api::parse_json(
        base::format(R"({{"metadata": {{"annotations": {{"scheduling.volcano.sh/group-min-member": "{}"}}}}}})", text));
    const Json pod = *api::parse_json(R"({"metadata": {"name": "p", "namespace": "ns"}, "spec": {}})");
    EXPECT_EQ(podgroup::group_for(pod, {&owner}, true)["spec"]["minMember"].as_int(), members) << text;
  }
}

TEST(PlainPods, ask_for_no_owner_that_cannot_be_and_believe_none_of_another_uid) {
  TestWorld world;
  auto controller = podgroup::make_podgroup_controller({});
  world.put_text({"apps", "v1", "replicasets"}, R"({"kind": "ReplicaSet", "metadata": {"name": "rs", "namespace": "ns",
    "uid": "R", "annotations": {"scheduling.volcano.sh/group-min-member": "3"}}})");
  const auto pod = [&world](std::string_view name, std::string_view owner) {
    Json object = *api::parse_json(base::format(R"({{"kind": "Pod", "metadata": {{"name": "{}", "namespace": "ns",
      "ownerReferences": [{{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "", "uid": "of-{}",
      "controller": true}}]}}, "spec": {{"schedulerName": "volcano"}}}})",
                                                name, name));
    object.edit("metadata").edit("ownerReferences").edit(0).set("name", owner);
    world.put(resources::kPods, std::move(object));
  };
  pod("p", "x HTTP/1.1\r\nHost: h\r\n\r\nDELETE /api/v1/namespaces/victim HTTP/1.1\r\nX: ");
  EXPECT_TRUE(world.turn(*controller, "ns/p").starts_with("patch Pod ns/p"));
  pod("q", "rs");
  EXPECT_EQ(world.turn(*controller, "ns/q"), "fetch ReplicaSet ns/rs\n");
  world.turn(*controller, "ns/q");
  EXPECT_EQ((*world.find(resources::kPodGroups, "ns/podgroup-of-q"))["spec"]["minMember"].as_int(), 1);
}

TEST(PlainPods, ask_for_few_owners_once_each_and_keep_little_of_them) {
  TestWorld world;
  auto controller = podgroup::make_podgroup_controller({});
  Json pod = *api::parse_json(
      R"({"kind": "Pod", "metadata": {"name": "p", "namespace": "ns"}, "spec": {"schedulerName": "volcano"}})");
  Json owners = Json::array();
  for (int i = 0; i < 1000; ++i)
    for (const int name : {7, i})
      owners.push_back(Json::object(
          {{"kind", "Job"}, {"name", base::format("j{}", name)}, {"uid", base::format("u{}-{}", name, i)}}));
  pod.edit("metadata").set("ownerReferences", std::move(owners));
  world.put(resources::kPods, std::move(pod));
  const std::string plan = world.turn(*controller, "ns/p");
  EXPECT_TRUE(plan.starts_with("fetch Job ns/j7\nfetch Job ns/j0\nfetch Job ns/j1\n")) << plan;
  EXPECT_EQ(std::ranges::count(plan, '\n'), 16) << plan;
  EXPECT_EQ(plan.find("j7", 16), std::string::npos) << plan;
}

TEST(Workloads, keep_their_group_as_their_template_says_until_no_replica_is_left) {
  TestWorld world;
  auto controller = podgroup::make_podgroup_controller({});
  const auto pod = [&world](std::string_view name, std::string_view revision, std::string_view cpu) {
    world.put_text(resources::kPods, base::format(R"({{"apiVersion": "v1", "kind": "Pod",
      "metadata": {{"name": "{}", "namespace": "ns", "labels": {{"controller-revision-hash": "{}"}}, "ownerReferences":
        [{{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "set", "uid": "S", "controller": true}}]}},
      "spec": {{"schedulerName": "volcano", "priorityClassName": "p{}",
        "containers": [{{"resources": {{"requests": {{"cpu": "{}"}}}}}}]}}}})",
                                                  name, revision, cpu, cpu));
  };
  Json& set = world.put_text(resources::kStatefulSets, R"({"kind": "StatefulSet", "metadata": {"name": "set",
    "namespace": "ns", "uid": "S", "annotations": {"volcano.sh/preemptable": "true"}},
    "spec": {"replicas": 2}, "status": {"updateRevision": "one"}})");
  const auto settle = [&](const std::string& name) {
    for (int round = 0; round < 3; ++round) world.turn(*controller, "ns/" + name);
    return (*world.find(resources::kPodGroups, "ns/podgroup-S"))["spec"]["minResources"]["cpu"].str();
  };
  pod("set-0", "one", "1");
  EXPECT_EQ(settle("set-0"), "1");
  world.edit(resources::kPodGroups, "ns/podgroup-S")->edit("spec").set("queue", "default");
  set.edit("status").set("updateRevision", "two");
  pod("set-1", "two", "3");
  EXPECT_TRUE(world.turn(*controller, "ns/set-1").starts_with("patch PodGroup ns/podgroup-S {\"spec\":{"));
  EXPECT_EQ(settle("set-1"), "3");
  EXPECT_EQ((*world.find(resources::kPodGroups, "ns/podgroup-S"))["spec"]["queue"].as_string(), "default");
  pod("set-0", "one", "1");  // made again of the old template
  EXPECT_EQ(settle("set-0"), "3");
  EXPECT_EQ(world.turn(*controller, "StatefulSet/ns/set"), "");
  set.edit("spec").set("replicas", 0);
  EXPECT_EQ(world.turn(*controller, "StatefulSet/ns/set"), "delete PodGroup ns/podgroup-S\n");
}

// A rolling update makes the pods of its new ReplicaSet one by one, and takes those of the old one away after each.
TEST(Workloads, of_one_deployment_count_towards_one_gang) {
  TestWorld world;
  auto controller = podgroup::make_podgroup_controller({});
  const auto set = [&world](std::string_view name, int replicas) {
    world.put_text(resources::kReplicaSets, base::format(R"({{"kind": "ReplicaSet", "metadata": {{"name": "{0}",
      "namespace": "ns", "uid": "{0}", "annotations": {{"scheduling.volcano.sh/group-min-member": "2"}},
      "ownerReferences": [{{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "D",
        "controller": true}}]}}, "spec": {{"replicas": {1}}}}})",
                                                         name, replicas));
  };
  const auto pod = [&](std::string_view name, std::string_view owner) {
    world.put_text(resources::kPods, base::format(R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "{0}",
      "namespace": "ns", "ownerReferences": [{{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "{1}",
        "uid": "{1}", "controller": true}}]}}, "spec": {{"schedulerName": "volcano"}}}})",
                                                  name, owner));
    for (int round = 0; round < 4; ++round) world.turn(*controller, base::format("ns/{}", name));
    return std::string(
        api::annotation_of(*world.find(resources::kPods, base::format("ns/{}", name)), "scheduling.k8s.io/group-name"));
  };
  set("old", 2);
  EXPECT_EQ(pod("a", "old"), "podgroup-D");
  set("new", 1);
  EXPECT_EQ(pod("b", "new"), "podgroup-D");
  const Json group = *world.find(resources::kPodGroups, "ns/podgroup-D");
  EXPECT_EQ(group["spec"]["minMember"].as_int(), 2);
  EXPECT_EQ(group["metadata"]["ownerReferences"][std::size_t{0}]["kind"].as_string(), "Deployment");
  set("old", 0);
  EXPECT_EQ(world.turn(*controller, "ReplicaSet/ns/old"), "");
  set("new", 0);
  EXPECT_EQ(world.turn(*controller, "ReplicaSet/ns/new"), "delete PodGroup ns/podgroup-D\n");
  controller = podgroup::make_podgroup_controller({.inherit_owner_annotations = false});
  set("third", 1);
  EXPECT_EQ(pod("c", "third"), "podgroup-third");
}

TEST(PlainPods, of_other_schedulers_are_left_alone) {
  TestWorld world;
  auto controller = podgroup::make_podgroup_controller({});
  world.put_text(resources::kPods, R"({"kind": "Pod", "metadata": {"name": "p", "namespace": "ns"},
                                       "spec": {"schedulerName": "default-scheduler"}})");
  EXPECT_EQ(world.turn(*controller, "ns/p"), "");
}

}  // namespace
}  // namespace controllers::queue

// The server refuses a write about one pod or task: what becomes of the others?
#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/framework/world_for_tests.h"
#include "controllers/job/controller.h"

namespace controllers::job {
namespace {

namespace resources = api::resources;

class RefusalsTest : public ::testing::Test {
 protected:
  RefusalsTest() { world.use_indexes_of(*controller); }
  // A job "j" of tasks "a" and "b" that may have its pods.
  void put_job(int replicas_a, int replicas_b) {
    world.put_text(resources::kQueues, R"({"kind": "Queue", "metadata": {"name": "q"}, "status": {"state": "Open"}})");
    std::string tasks;
    for (const auto& [name, replicas] : {std::pair{"a", replicas_a}, std::pair{"b", replicas_b}})
      tasks += base::format(R"({0}{{"name": "{1}", "replicas": {2}, "minAvailable": 1, "maxRetry": 3,
          "template": {{"spec": {{"containers": [{{"name": "c", "image": "i"}}]}}}}}})",
                            tasks.empty() ? "" : ", ", name, replicas);
    world.put_text(resources::kJobs, base::format(R"({{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
      "metadata": {{"name": "j", "namespace": "ns", "uid": "U"}}, "spec": {{"queue": "q", "schedulerName": "volcano",
        "maxRetry": 3, "minAvailable": 1, "policies": [{{"event": "PodFailed", "action": "RestartJob"}}],
        "tasks": [{}]}}}})",
                                                  tasks));
    for (int round = 0; round < 3; ++round) turn();
    admit();
  }
  void admit() {
    if (api::Json* group = world.edit(resources::kPodGroups, "ns/j-U")) group->edit("status").set("phase", "Inqueue");
  }
  void turn(int failures = 0) {
    world.now = world.now + base::seconds(1);
    world.turn(*controller, "ns/j", failures);
  }
  void refuse(Action::Verb verb, std::string prefix) {
    world.refuse = [verb, prefix](const Action& action) -> std::optional<base::Error> {
      if (action.verb != verb || action.kind != "Pod" || !action.name.starts_with(prefix)) return std::nullopt;
      return base::make_error(base::Code::kForbidden, "no");
    };
  }
  std::string pods(bool going) const {
    std::string names;
    for (const api::Json* pod : world.all(resources::kPods))
      if (api::is_deleting(*pod) == going) names += (names.empty() ? "" : " ") + std::string(api::name_of(*pod));
    return names;
  }
  std::string phase() const { return (*world.find(resources::kJobs, "ns/j"))["status"]["state"]["phase"].str(); }

  TestWorld world;
  std::unique_ptr<Controller> controller = make_job_controller({});
};

TEST_F(RefusalsTest, a_victim_that_cannot_be_marked_or_deleted_keeps_no_other_alive) {
  for (const auto verb : {Action::Verb::kPatch, Action::Verb::kDelete}) {
    world.objects.clear();
    world.events.clear();
    controller = make_job_controller({});
    put_job(3, 1);
    for (int round = 0; round < 3; ++round) turn();
    for (auto& [key, pod] : world.objects[resources::kPods]) pod.edit("status").set("phase", "Running");
    for (int round = 0; round < 3; ++round) turn();
    ASSERT_EQ(phase(), "Running");
    world.edit(resources::kPods, "ns/j-b-0")->edit("status").set("phase", "Failed");
    refuse(verb, "j-a-1");
    turn();
    EXPECT_EQ(pods(false), "j-a-1");
    EXPECT_EQ(world.events.back(), "FailedDelete: Error deleting pods: [no]");
    EXPECT_EQ(phase(), "Running");  // nothing of the restart counts before all are going
    EXPECT_NE(world.find(resources::kPodGroups, "ns/j-U"), nullptr);
    world.refuse = {};
    turn(1);
    EXPECT_EQ(pods(false), "");
    EXPECT_EQ(phase(), "Restarting");
  }
}

TEST_F(RefusalsTest, a_task_over_its_quota_keeps_no_other_from_being_made) {
  put_job(2, 2);
  refuse(Action::Verb::kCreate, "j-a-");
  turn();
  EXPECT_EQ(pods(false), "j-b-0 j-b-1");
  EXPECT_EQ(world.events.back(), "FailedCreate: Error creating pods: [no]");
  world.refuse = {};
  turn(1);
  EXPECT_EQ(pods(false), "j-a-0 j-a-1 j-b-0 j-b-1");
}

TEST_F(RefusalsTest, what_is_too_many_goes_although_something_else_is_refused) {
  for (const auto verb : {Action::Verb::kCreate, Action::Verb::kDelete}) {
    world.objects.clear();
    controller = make_job_controller({});
    put_job(1, 3);
    for (int round = 0; round < 3; ++round) turn();
    ASSERT_EQ(pods(false), "j-a-0 j-b-0 j-b-1 j-b-2");
    api::Json& tasks = world.edit(resources::kJobs, "ns/j")->edit("spec").edit("tasks");
    tasks.edit(0).set("replicas", 2);
    tasks.edit(1).set("replicas", 1);
    refuse(verb, verb == Action::Verb::kCreate ? "j-a-" : "j-b-1");
    turn();
    EXPECT_EQ(pods(false), verb == Action::Verb::kCreate ? "j-a-0 j-b-0" : "j-a-0 j-a-1 j-b-0 j-b-1");
    world.refuse = {};
    turn(1);
    EXPECT_EQ(pods(false), "j-a-0 j-a-1 j-b-0");
  }
}

TEST_F(RefusalsTest, a_task_that_fills_a_plan_leaves_the_next_one_to_others) {
  put_job(2'500, 2);
  refuse(Action::Verb::kCreate, "j-a-");
  turn();
  turn(1);
  EXPECT_EQ(pods(false), "j-b-0 j-b-1");
}

class QuotaTest : public RefusalsTest {
 protected:
  static constexpr std::string_view kOver =
      "pods \"j-a-1\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=4, limited: pods=4";

  QuotaTest() {
    world.refuse = [this](const Action& action) -> std::optional<base::Error> {
      if (action.verb != Action::Verb::kCreate || action.kind != kind) return std::nullopt;
      ++asked;
      if (code && room() == 0) return base::make_error(*code, text);
      return std::nullopt;
    };
  }
  int room() const {
    int active = 0;
    for (const api::Json* pod : world.all(resources::kPods)) active += !is_over(*pod);
    return std::max(0, limit - active);
  }
  static bool is_over(const api::Json& pod) {
    const std::string_view phase = pod["status"]["phase"].as_string();
    return phase == "Succeeded" || phase == "Failed";
  }
  void set_phases(std::string_view from, std::string_view to) {
    for (auto& [key, pod] : world.objects[resources::kPods])
      if (pod["status"]["phase"].as_string() == from) pod.edit("status").set("phase", to);
  }
  std::string warned(std::string_view field = "message") const {
    return (*world.find(resources::kJobs, "ns/j"))["status"]["state"][field].str();
  }
  Keys woken_by(const api::ResourceId& resource, const api::Json* before, const api::Json* after) {
    for (const Wake& wake : controller->wakes_on())
      if (wake.resource == resource && (!wake.matters || wake.matters(before, after)))
        return wake.keys(world, after != nullptr ? *after : *before);
    return {};
  }
  static api::Json quota(int used) {
    return *api::parse_json(base::format(
        R"({{"metadata": {{"name": "q", "namespace": "ns"}}, "status": {{"used": {{"pods": "{}"}}}}}})", used));
  }

  std::string kind = "Pod";
  std::optional<base::Code> code = base::Code::kForbidden;
  std::string text{kOver};
  int limit = 4;
  int asked = 0;
};

TEST_F(QuotaTest, a_job_larger_than_its_quota_completes_as_its_pods_end) {
  put_job(20, 0);
  int most = 0;
  for (int round = 0; round < 60 && phase() != "Completed"; ++round) {
    turn();
    ASSERT_NE(phase(), "Terminating");
    most = std::max(most, 4 - room());
    set_phases(round % 2 == 0 ? "" : "Running", round % 2 == 0 ? "Running" : "Succeeded");
    set_phases(round % 2 == 0 ? "Pending" : "Running", round % 2 == 0 ? "Running" : "Succeeded");
  }
  EXPECT_EQ(phase(), "Completed");
  EXPECT_EQ(most, 4);
  EXPECT_EQ((*world.find(resources::kJobs, "ns/j"))["status"]["succeeded"].as_int(), 20);
}

TEST_F(QuotaTest, a_job_waits_for_hours_with_a_reason_and_its_pods_run_on) {
  put_job(6, 0);
  for (int round = 0; round < 3; ++round) turn();
  for (const char* from : {"", "Pending"}) set_phases(from, "Running");
  for (int second = 0; second < 3 * 3600; ++second) {
    turn();
    if (second == 10) asked = 0;
  }
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(pods(false), "j-a-0 j-a-1 j-a-2 j-a-3");
  EXPECT_EQ(warned(), "pods of task a cannot be made, short of pods=1: " + std::string(kOver));
  EXPECT_EQ(warned("reason"), "CreationRefused");
  EXPECT_LT(asked, 3 * 120 + 10);  // every half a minute
  const api::Json before = quota(4), after = quota(3);
  EXPECT_EQ(woken_by(resources::kResourceQuotas, &after, &before), Keys{});
  EXPECT_EQ(woken_by(resources::kResourceQuotas, &before, &after), Keys{"ns/j"});
  limit = 6;
  for (int second = 0; second < 10; ++second) turn();
  EXPECT_EQ(pods(false), "j-a-0 j-a-1 j-a-2 j-a-3 j-a-4 j-a-5");
  turn();
  EXPECT_EQ(warned() + warned("reason"), "");
}

TEST_F(QuotaTest, what_other_objects_or_programs_refuse_ends_no_job) {
  const struct {
    base::Code code;
    std::string text;
  } cases[] = {
      {base::Code::kForbidden, "pods \"j-a-0\" is forbidden: error looking up service account ns/x: not found"},
      {base::Code::kForbidden, "pods \"j-a-0\" is forbidden: no PriorityClass with name x was found"},
      {base::Code::kForbidden,
       "pods \"j-a-0\" is forbidden: unable to create new content in namespace ns because it is "
       "being terminated"},
      {base::Code::kDenied, "admission webhook \"w.io\" denied the request: not now"},
      {base::Code::kInvalid, "admission webhook \"w.io\" denied the request: not now"},
      {base::Code::kInvalid,
       "pods \"j-a-0\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied "
       "request: no"},
      {base::Code::kInvalid,
       "Pod \"j-a-0\" is invalid: spec.containers[0].resources.requests: Invalid value: \"2\": "
       "must be less than or equal to cpu limit of 1"},
      {base::Code::kTooManyRequests, "too many requests"},
      {base::Code::kInternal, "Internal error occurred: resource quota evaluation timed out"},
      {base::Code::kInternal, "Internal error occurred: failed calling webhook \"w.io\": refused"},
      {base::Code::kUnavailable, "etcdserver: no leader"},
      {base::Code::kMethodNotAllowed, "no"},
  };
  for (const auto& one : cases)
    for (const char* refused : {"Pod", "PodGroup"}) {
      world.objects.clear();
      controller = make_job_controller({});
      kind = refused;
      code = one.code;
      text = one.text;
      limit = 0;
      put_job(1, 1);
      for (int second = 0; second < 1'200; ++second) turn();
      EXPECT_EQ(phase(), "Pending") << one.text;
      EXPECT_TRUE(warned().ends_with(one.text)) << warned();
      code.reset();
      for (int second = 0; second < 40; ++second) {
        turn();
        admit();
      }
      EXPECT_EQ(pods(false), "j-a-0 j-b-0") << one.text;
    }
}

TEST_F(QuotaTest, what_can_never_be_accepted_ends_the_job_with_the_servers_words) {
  limit = 0;
  code = base::Code::kInvalid;
  text = "Pod \"j-a-0\" is invalid: spec.containers[0].image: Required value";
  put_job(1, 0);
  int seconds = 0;
  for (; phase() == "Pending" && seconds < 1'000; ++seconds) turn();
  EXPECT_GT(seconds, 60);
  EXPECT_LT(seconds, 300);
  EXPECT_EQ(asked, 16);
  EXPECT_EQ(warned(), "TerminateJob: " + text);
}

}  // namespace
}  // namespace controllers::job

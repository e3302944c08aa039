// The remains in the model of jobs that are gone, or that were other ones before.
#include <gtest/gtest.h>

#include "scheduler/cache/intake.h"
#include "scheduler/model/model.h"

namespace scheduler {
namespace {

TEST(Model, a_job_with_the_id_of_one_that_is_gone_has_changed_since) {
  Model model;
  const JobId first = model.find_or_add_job("a/g1");
  const std::uint64_t changes = model.job(first).changes;
  model.remove_job_if_empty(first);
  const JobId second = model.find_or_add_job("a/g2");
  ASSERT_EQ(second.index, first.index);
  EXPECT_GT(model.job(second).changes, changes);
}

TEST(Model, names_of_roles_that_nobody_has_any_more_are_forgotten) {
  Model model;
  Ledger ledger;
  Intake intake(model, ledger, {});
  const auto group =
      [&](const std::string& minimums) {
        intake.set(api::resources::kPodGroups, *api::parse_json(R"({"metadata":{"namespace":"a","name":"g","uid":"g"},
        "spec":{"minMember":1,"minTaskMember":{)" + minimums + "}}}"));
      };
  const auto pod = [&](const std::string& name, const std::string& role) {
    intake.set(api::resources::kPods,
               *api::parse_json(R"({"metadata":{"namespace":"a","name":")" + name + R"(","uid":")" + name +
                                R"(","annotations":{
        "scheduling.k8s.io/group-name":"g","volcano.sh/task-spec":")" +
                                role + R"("}},"spec":{"schedulerName":"volcano","containers":[]}})"));
  };
  const auto role_of = [&](std::string_view key) -> const Role& {
    const Task& task = model.task(model.find_task(key));
    return model.job(task.job).roles[task.role];
  };
  pod("p", "steady");
  for (int i = 0; i < 1000; ++i) {
    const std::string number = std::to_string(i);
    group("\"first" + number + "\":1,\"steady\":1,\"last" + number + "\":1");
    pod("q", "passing" + number);
    ASSERT_EQ(role_of("a/q").name.view(), "passing" + number);
    ASSERT_EQ(role_of("a/p").name.view(), "steady");
    ASSERT_TRUE(role_of("a/p").has_min);
    ASSERT_LE(model.job(model.find_job("a/g")).roles.size(), 5U);
  }
  group("");
  EXPECT_EQ(model.job(model.find_job("a/g")).roles.size(), 2U);
  EXPECT_EQ(count_of(role_of("a/p").counts, TaskStatus::kPending), 1);
}

}  // namespace
}  // namespace scheduler

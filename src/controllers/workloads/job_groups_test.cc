// The objects that follow from a Job's spec.scheduling.
#include "controllers/workloads/job_groups.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/framework/world_for_tests.h"

namespace controllers::workloads {
namespace {

using api::Json;

Json job_of(std::string_view scheduling, std::string_view name = "pi") {
  return *api::parse_json(base::format(
      R"({{"apiVersion": "batch/v1", "kind": "Job", "metadata": {{"name": "{}", "namespace": "ns", "uid": "j",
          "annotations": {{"scheduling.volcano.sh/queue-name": "lab"}}}},
          "spec": {{"parallelism": 4, "scheduling": {},
            "template": {{"spec": {{"priorityClassName": "high", "containers": [{{"name": "c"}}]}}}}}}}})",
      name, scheduling));
}

TEST(JobGroups, only_jobs_that_ask_for_one_and_have_none_get_one) {
  EXPECT_TRUE(has_own_group(job_of("{}")));
  EXPECT_FALSE(has_own_group(job_of("null")));
  Json named = job_of("{}");
  named.edit_path({"spec", "template", "spec"}).set("schedulingGroup", Json::object({{"podGroupName", "g"}}));
  EXPECT_FALSE(has_own_group(named));
  Json owned = job_of("{}");
  owned.edit("metadata")
      .set("ownerReferences", *api::parse_json(R"([{"kind": "JobSet", "name": "s", "uid": "s", "controller": true}])"));
  EXPECT_FALSE(has_own_group(owned));
}

TEST(JobGroups, the_policy_and_the_minimum_follow_from_the_job) {
  struct Row {
    const char* scheduling;
    const char* policy;
  };
  for (const Row& row : {Row{"{}", R"({"basic":{}})"}, Row{R"({"schedulingPolicy": {"basic": {}}})", R"({"basic":{}})"},
                         Row{R"({"schedulingPolicy": {"gang": {}}})", R"({"gang":{"minCount":4}})"},
                         Row{R"({"schedulingPolicy": {"gang": {"minCount": 3}}})", R"({"gang":{"minCount":3}})"}}) {
    const Json workload = workload_for(job_of(row.scheduling));
    EXPECT_EQ(workload["spec"]["podGroupTemplates"][std::size_t{0}]["schedulingPolicy"].dump(), row.policy);
    EXPECT_EQ(group_for(job_of(row.scheduling), workload)["spec"]["schedulingPolicy"].dump(), row.policy);
  }
}

TEST(JobGroups, a_group_says_whose_it_is) {
  const Json job = job_of(R"({"schedulingPolicy": {"gang": {}}, "disruptionMode": {"all": {}}})");
  Json workload = workload_for(job);
  EXPECT_EQ(workload["spec"]["controllerRef"],
            *api::parse_json(R"({"apiGroup": "batch", "kind": "Job", "name": "pi"})"));
  workload.edit("metadata").set("uid", "w");
  const Json group = group_for(job, workload);
  EXPECT_EQ(group["spec"]["workloadRef"]["workloadName"].as_string(), api::name_of(workload));
  EXPECT_EQ(group["spec"]["workloadRef"]["templateName"].as_string(), "pi-pgt-0");
  EXPECT_EQ(group["spec"]["disruptionMode"], *api::parse_json(R"({"all": {}})"));
  EXPECT_EQ(group["spec"]["priorityClassName"].as_string(), "high");
  EXPECT_EQ(api::controller_of(group)["uid"].as_string(), "j");
  EXPECT_EQ(group["metadata"]["ownerReferences"][std::size_t{1}]["uid"].as_string(), "w");
  EXPECT_EQ(api::annotation_of(group, "scheduling.volcano.sh/queue-name"), "lab");
}

TEST(JobGroups, names_fit_whatever_the_job_is_called) {
  const Json long_name = job_of("{}", std::string(240, 'a') + ".b");
  EXPECT_LE(workload_name_of(long_name).size(), 253u);
  EXPECT_LE(group_name_of(long_name).size(), 253u);
  EXPECT_EQ(workload_for(long_name)["spec"]["podGroupTemplates"][std::size_t{0}]["name"].as_string(), "job-pgt-0");
  Json again = job_of("{}");
  again.edit("metadata").set("uid", "other");
  EXPECT_NE(workload_name_of(again), workload_name_of(job_of("{}")));
}

TEST(JobGroups, the_workload_comes_first_and_a_new_minimum_reaches_both) {
  Json job = job_of(R"({"schedulingPolicy": {"gang": {}}})");
  Plan first;
  EXPECT_FALSE(plan_group(job, nullptr, nullptr, first));
  const std::string workload_name = workload_name_of(job), group_name = group_name_of(job);
  EXPECT_EQ(first.text(), base::format("create Workload ns/{}\n", workload_name));
  const Json workload = workload_for(job);
  Plan second;
  EXPECT_FALSE(plan_group(job, &workload, nullptr, second));
  EXPECT_EQ(second.text(), base::format("create PodGroup ns/{}\n", group_name));
  const Json group = group_for(job, workload);
  Plan at_rest;
  EXPECT_TRUE(plan_group(job, &workload, &group, at_rest));
  EXPECT_TRUE(writes_nothing(at_rest));
  job.edit("spec").set("parallelism", 6);
  Plan grown;
  EXPECT_TRUE(plan_group(job, &workload, &group, grown));
  ASSERT_EQ(grown.stages()[0].actions.size(), 2u);
  for (const Action& action : grown.stages()[0].actions)
    EXPECT_NE(action.body.dump().find(R"("minCount":6)"), std::string::npos) << action.body.dump();
}

}  // namespace
}  // namespace controllers::workloads

// Which word about an object counts: the watch's, or the answer to a request of our own?
#include "scheduler/cache/intake.h"

#include <gtest/gtest.h>

#include "api/meta/resource.h"
#include "base/format.h"
#include "scheduler/model/model.h"

namespace scheduler {
namespace {

using api::Json;

Json parse(const std::string& text) {
  auto parsed = api::parse_json(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return *parsed;
}

Json group(int version, std::string_view phase) {
  return parse(base::format(R"({{"metadata":{{"name":"g","namespace":"ns","uid":"u1","resourceVersion":"{}"}},)"
                            R"("spec":{{"minMember":1,"queue":"default"}},"status":{{"phase":"{}"}}}})",
                            version, phase));
}

Json pod(int version, std::string_view node, std::string_view phase) {
  return parse(base::format(
      R"({{"metadata":{{"name":"p","namespace":"ns","uid":"u2","resourceVersion":"{}",)"
      R"("annotations":{{"scheduling.k8s.io/group-name":"g"}}}},"spec":{{"schedulerName":"volcano","nodeName":"{}",)"
      R"("containers":[{{"name":"c","resources":{{"requests":{{"cpu":"1"}}}}}}]}},"status":{{"phase":"{}"}}}})",
      version, node, phase));
}

class IntakeAnswers : public testing::Test {
 protected:
  const Job& job() { return model_.job(model_.find_job("ns/g")); }

  Model model_;
  Ledger ledger_;
  Intake intake_{model_, ledger_, {{"volcano"}, "default", {}, true}};
};

TEST_F(IntakeAnswers, an_answer_does_not_bring_back_a_deleted_group) {
  intake_.set(api::resources::kPodGroups, group(5, "Pending"));
  intake_.remove(api::resources::kPodGroups, group(7, "Pending"));
  EXPECT_FALSE(intake_.set_answer(api::resources::kPodGroups, group(6, "Inqueue")));
  EXPECT_FALSE(model_.find_job("ns/g").is_set());
}

TEST_F(IntakeAnswers, an_answer_does_not_bring_back_a_deleted_pod) {
  intake_.set(api::resources::kPods, pod(5, "", "Pending"));
  intake_.remove(api::resources::kPods, pod(7, "n", "Succeeded"));
  EXPECT_FALSE(intake_.set_answer(api::resources::kPods, pod(6, "n", "Running")));
  EXPECT_FALSE(model_.find_task("ns/p").is_set());
}

TEST_F(IntakeAnswers, an_older_answer_does_not_undo_what_the_watch_said) {
  intake_.set(api::resources::kPods, pod(8, "n", "Succeeded"));
  EXPECT_FALSE(intake_.set_answer(api::resources::kPods, pod(6, "n", "Running")));
  EXPECT_EQ(model_.task(model_.find_task("ns/p")).status, TaskStatus::kSucceeded);
}

TEST_F(IntakeAnswers, a_newer_answer_counts_before_the_watch_says_so) {
  intake_.set(api::resources::kPods, pod(5, "", "Pending"));
  EXPECT_TRUE(intake_.set_answer(api::resources::kPods, pod(6, "n", "Running")));
  EXPECT_EQ(model_.task(model_.find_task("ns/p")).status, TaskStatus::kRunning);
}

TEST_F(IntakeAnswers, a_status_that_could_not_be_written_is_taken_back) {
  intake_.set(api::resources::kPodGroups, group(5, "Pending"));
  ledger_.flights.begin(Entry::kGroup, "ns/g");
  model_.edit_job(model_.find_job("ns/g")).phase = GroupPhase::kInqueue;  // decided, being written
  ledger_.flights.end(Entry::kGroup, "ns/g");
  EXPECT_FALSE(intake_.set_answer(api::resources::kPodGroups, group(5, "Pending")));  // nothing newer
  intake_.groups.forget_version("ns/g");
  EXPECT_TRUE(intake_.set_answer(api::resources::kPodGroups, group(5, "Pending")));
  EXPECT_EQ(job().phase, GroupPhase::kPending);
}

TEST_F(IntakeAnswers, minimums_that_nobody_can_reach_do_not_wrap) {
  struct Case {
    std::string_view wrote;
    std::int32_t minimum;
    std::int64_t of_roles;
  };
  constexpr Case kCases[] = {
      {R"("minMember":2147483647,"minTaskMember":{"a":2147483647,"b":2147483647})", 2147483647, 4294967294},
      {R"("minMember":-2147483648,"minTaskMember":{"a":-2147483648})", -1073741824, -1073741824},
      {R"("minMember":4294967297,"minTaskMember":{"a":4294967297})", 2147483647, 2147483647},
      {R"("minMember":2)", 2, 0},
  };
  int version = 5;
  for (const Case& one : kCases) {
    intake_.set(api::resources::kPodGroups,
                parse(base::format(R"({{"metadata":{{"name":"g","namespace":"ns","uid":"u1","resourceVersion":"{}"}},)"
                                   R"("spec":{{{},"queue":"default"}}}})",
                                   ++version, one.wrote)));
    EXPECT_EQ(job().min_available, one.minimum) << one.wrote;
    EXPECT_EQ(job().roles_min_total, one.of_roles) << one.wrote;
    EXPECT_EQ(job().checks_roles(), job().has_role_minimums && one.minimum >= one.of_roles) << one.wrote;
  }
}

}  // namespace
}  // namespace scheduler

// Which changes of pods and jobs wake whom.
#include "controllers/training/changes.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/training/trial_for_tests.h"

namespace controllers::training {
namespace {

constexpr std::string_view kRuns =
    R"("phase": "Running", "containerStatuses": [{"name": "pytorch", "restartCount": 0, "state": {"running": {}}}])";
constexpr std::string_view kPends = R"("phase": "Pending")";
constexpr std::string_view kDone =
    R"("phase": "Succeeded", "containerStatuses": [{"name": "pytorch", "state": {"terminated": {"exitCode": 0}}}])";

Json pod_with(std::string_view role, std::string_view status, std::string_view metadata = "") {
  return parsed(base::format(R"({{"metadata": {{"name": "p", "uid": "u", "labels": {{"{}": "{}"}},
      "ownerReferences": [{{"controller": true, "kind": "PyTorchJob"}}]{}}}, "status": {{{}}}}})",
                             kJobRole, role, metadata, status));
}

struct PodRow {
  const char* name;
  std::string_view before, after, role;
  bool is_news, only_counts, only_counts_without_master;
};

TEST(Changes, of_pods_are_looked_at_as_far_as_something_follows) {
  const std::string failed = R"("phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 1}}}])";
  const std::string again =
      R"("phase": "Running", "containerStatuses": [{"name": "pytorch", "restartCount": 1, "state": {"running": {}}}])";
  const std::string pulling = R"("phase": "Pending", "containerStatuses": [{"state": {"waiting": {"message": "no"}}}])";
  const std::string bound = R"("phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "True"}])";
  const std::string unbound =
      R"("phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}])";
  const std::string with_address = std::string(kRuns) + R"(, "podIP": "10.0.0.1", "startTime": "2026-01-01T00:00:00Z")";
  const PodRow rows[] = {
      {"it is pending as before", "", kPends, "", false, false, false},
      {"it has a node", "", bound, "", false, false, false},
      {"it finds no node", kPends, unbound, "", true, false, false},
      {"it has an address", kRuns, with_address, "", false, false, false},
      {"a worker runs", kPends, kRuns, "", true, true, true},
      {"a master runs", kPends, kRuns, "master", true, true, true},
      {"an image is missing", kPends, pulling, "", true, false, false},
      {"a container was started again", kRuns, again, "", true, false, false},
      {"it runs after restarts", kPends, again, "", true, false, false},
      {"a worker succeeds", kRuns, kDone, "", true, true, false},
      {"a master succeeds", kRuns, kDone, "master", true, false, false},
      {"it fails", kRuns, failed, "", true, false, false},
  };
  const Framework& framework = *find_framework("PyTorchJob");
  const Json with_master = parsed(R"({"spec": {"pytorchReplicaSpecs": {"master": {}, "Worker": {}}},
                                      "status": {"conditions": [{"type": "Running", "status": "True"}]}})");
  Json without = with_master;
  without.edit_path({"spec", "pytorchReplicaSpecs"}).erase("master");
  Json not_running = with_master;
  not_running.erase("status");
  for (const PodRow& row : rows) {
    const Json before = pod_with(row.role, row.before);
    const Json after = pod_with(row.role, row.after);
    EXPECT_EQ(is_news_to_its_job(framework, before, after), row.is_news) << row.name;
    EXPECT_EQ(row.is_news && changes_only_counts(framework, with_master, before, after), row.only_counts) << row.name;
    EXPECT_EQ(row.is_news && changes_only_counts(framework, without, before, after), row.only_counts_without_master)
        << row.name;
    EXPECT_FALSE(changes_only_counts(framework, not_running, before, after)) << row.name << ": it may run now";
    EXPECT_FALSE(is_news_to_its_job(*find_framework("TFJob"), before, after)) << row.name << ": not its pod";
  }
  const Json going = pod_with("", kRuns, R"(, "deletionTimestamp": "2026-01-01T00:00:00Z")");
  EXPECT_TRUE(is_news_to_its_job(framework, pod_with("", kRuns), going));
  EXPECT_FALSE(changes_only_counts(framework, with_master, pod_with("", kPends), going));
}

TEST(Changes, of_pods_of_an_mpi_job_are_told_to_its_launcher_at_once) {
  const Json job = parsed(R"({"status": {"conditions": [{"type": "Running", "status": "True"}]}})");
  for (const char* version : {"v1", "v2beta1"})
    EXPECT_FALSE(
        changes_only_counts(*find_framework("MPIJob", version), job, pod_with("", kPends), pod_with("", kRuns)));
}

TEST(Changes, of_pods_are_settled_when_their_job_has_finished) {
  const Json done = parsed(R"({"status": {"conditions": [{"type": "Succeeded", "status": "True"}]}})");
  EXPECT_TRUE(is_settled(done, pod_with("", kRuns)));
  EXPECT_TRUE(is_settled(done, pod_with("", kDone)));
  EXPECT_FALSE(is_settled(done, pod_with("", kPends))) << "it may have to go";
  EXPECT_FALSE(is_settled(done, pod_with("", kRuns, R"(, "deletionTimestamp": "2026-01-01T00:00:00Z")")));
  EXPECT_FALSE(is_settled(parsed("{}"), pod_with("", kRuns)));
}

TEST(Changes, of_a_job_that_are_numbers_wake_nobody) {
  const Json job = parsed(R"({"metadata": {"uid": "u", "generation": 1, "resourceVersion": "1"}, "spec": {"a": 1},
      "status": {"conditions": [{"type": "Created", "status": "True"}], "replicaStatuses": {}}})");
  Json next = job;
  next.edit("metadata").set("resourceVersion", "2");
  next.edit("status").set("replicaStatuses", parsed(R"({"Worker": {"active": 2}})"));
  EXPECT_FALSE(is_news_to_itself(job, next));
  const auto changed = [&](std::initializer_list<std::string_view> path, Json value) {
    Json other = next;
    other.edit_path(path) = std::move(value);
    return is_news_to_itself(job, other);
  };
  EXPECT_TRUE(changed({"status", "conditions"}, Json::array()));
  EXPECT_TRUE(changed({"status", "restartCount"}, 1));
  EXPECT_TRUE(changed({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z"));
  EXPECT_TRUE(changed({"metadata", "annotations"}, Json::object({{"a", "b"}})));
  Json without_generation = next;
  without_generation.edit("metadata").erase("generation");
  without_generation.edit("spec").set("a", 2);
  EXPECT_TRUE(is_news_to_itself(job, without_generation)) << "a server that counts no generations";
}

}  // namespace
}  // namespace controllers::training

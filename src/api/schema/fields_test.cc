// Field tables: codec round trips and the completeness of every table.
#include "api/schema/fields.h"

#include <gtest/gtest.h>

#include "api/batch/v1alpha1/job.h"
#include "api/bus/v1alpha1/command.h"
#include "api/scheduling/v1beta1/podgroup.h"
#include "api/scheduling/v1beta1/queue.h"
#include "api/topology/v1alpha1/hypernode.h"

namespace api {
namespace {

template <class T>
void expect_complete() {
  T object{};
  EXPECT_EQ(uncovered_bytes(table_of<T>(), &object, sizeof(T)), "") << T::kSchemaName;
}

TEST(Fields, every_member_has_a_row) {
  expect_complete<OwnerReference>();
  expect_complete<ObjectMeta>();
  expect_complete<Command>();
  expect_complete<NetworkTopologySpec>();
  expect_complete<QueueCluster>();
  expect_complete<QueueSpec>();
  expect_complete<QueueStatus>();
  expect_complete<Queue>();
  expect_complete<HyperNode>();
  expect_complete<SubGroupPolicySpec>();
  expect_complete<PodGroupSpec>();
  expect_complete<PodGroupCondition>();
  expect_complete<PodGroupStatus>();
  expect_complete<PodGroup>();
  expect_complete<LifecyclePolicy>();
  expect_complete<DependsOn>();
  expect_complete<PartitionPolicySpec>();
  expect_complete<TaskSpec>();
  expect_complete<VolumeSpec>();
  expect_complete<JobSpec>();
  expect_complete<JobState>();
  expect_complete<JobCondition>();
  expect_complete<JobStatus>();
  expect_complete<Job>();
}

TEST(Fields, a_missing_row_is_found) {
  QueueSpec spec;
  const auto all = table_of<QueueSpec>();
  EXPECT_NE(uncovered_bytes(all.subspan(1), &spec, sizeof spec), "");
}

TEST(Fields, a_job_survives_decode_and_encode) {
  const Json source = *parse_json(
      R"({"metadata":{"name":"j","namespace":"ns"},"spec":{"minAvailable":2,"tasks":[{"name":"t","replicas":2,
    "template":{"spec":{"containers":[{"name":"c","x-unknown":1}]}},"policies":[{"event":"TaskCompleted","action":"CompleteJob","timeout":"1m0s"}]}],
    "plugins":{"env":[],"svc":["--x"]},"minSuccess":1},"status":{"state":{"phase":"Running"},"conditions":[{"status":"Running"}]}})");
  const Job job = decode<Job>(source);
  EXPECT_EQ(job.spec.tasks[0].policies[0].timeout->ns, base::minutes(1).ns);
  EXPECT_EQ(encode(job), source);
}

}  // namespace
}  // namespace api

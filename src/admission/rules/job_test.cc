// Admission of Jobs: every default and every message of webhooks.md 4 and 5.
#include <gtest/gtest.h>

#include "admission/rules/fake_objects_for_tests.h"
#include "admission/rules/rules.h"
#include "base/format.h"

namespace admission {
namespace {

using api::Json;
using api::Operation;

// A job that is fine; tests change one thing in it.
constexpr std::string_view kJob = R"({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
  "metadata": {"name": "train", "namespace": "default"},
  "spec": {"minAvailable": 2, "queue": "default", "schedulerName": "volcano", "maxRetry": 3, "tasks": [
    {"name": "ps", "replicas": 1, "minAvailable": 1,
     "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}},
    {"name": "worker", "replicas": 2, "minAvailable": 2,
     "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}]}})";

FakeObjects queues() {
  FakeObjects objects;
  for (const char* queue :
       {R"({"metadata": {"name": "default"}, "status": {"state": "Open"}})",
        R"({"metadata": {"name": "root"}, "status": {"state": "Open"}})", R"({"metadata": {"name": "new"}})",
        R"({"metadata": {"name": "shut"}, "status": {"state": "Closed"}})",
        R"({"metadata": {"name": "parent"}, "status": {"state": "Open"}})",
        R"({"metadata": {"name": "child"}, "spec": {"parent": "parent"}})"})
    objects.add(api::resources::kQueues, queue);
  return objects;
}

Json patched(std::string_view patch) {
  Json job = json(kJob);
  struct Local {
    static void merge(Json& target, const Json& change) {
      if (change.is_array() && target.is_array()) {  // element by element, for brevity
        for (std::size_t i = 0; i < change.size(); ++i) {
          if (i < target.size())
            merge(target.edit(i), change[i]);
          else
            target.push_back(change[i]);
        }
        return;
      }
      if (!change.is_object()) {
        target = change;
        return;
      }
      if (!target.is_object()) target = Json::object();
      for (const Json::Member& member : change.members()) {
        if (member.value.is_null())
          target.erase(member.name());
        else
          merge(target.edit(member.name()), member.value);
      }
    }
  };
  Local::merge(job, json(patch));
  return job;
}

std::string refusal(std::string_view patch) {
  return ask("/jobs/validate", Operation::kCreate, patched(patch), queues()).message;
}

constexpr std::string_view kEvents =
    " valid events are [* PodPending PodFailed PodEvicted Unknown TaskCompleted TaskFailed JobUpdated], valid actions "
    "are [AbortJob RestartJob RestartTask RestartPod RestartPartition TerminateJob CompleteJob ResumeJob];";

std::string policy_error(std::string_view text) {
  return base::format("1 error occurred:\n\t* {}\n\n{}", text, kEvents);
}

TEST(JobValidation, lets_a_good_job_pass) { EXPECT_EQ(refusal("{}"), ""); }

struct Wrong {
  std::string_view patch;
  std::string message;
};

std::vector<Wrong> wrong_jobs() {
  return {
      {R"({"spec": {"tasks": null}})", "No task specified in job spec"},
      {R"({"spec": {"plugins": {"mpi": []}}})", "The specified mpi master task was not found"},
      {R"({"spec": {"plugins": {"mpi": ["--master=ps"], "ssh": [], "svc": []}}})", ""},
      {R"({"spec": {"networkTopology": {"highestTierAllowed": 1, "highestTierName": "rack"}}})",
       "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously"},
      {R"({"spec": {"tasks": [{"minAvailable": 2}]}})",
       "'minAvailable' is greater than 'replicas' in task: ps, job: train;"},
      {R"({"spec": {"tasks": [{}, {"name": "ps"}]}})", "duplicated task name ps;"},
      {R"({"spec": {"minAvailable": 9}})", "job 'minAvailable' should not be greater than total replicas in tasks;"},
      {R"({"spec": {"plugins": {"magic": []}}})", "unable to find job plugin: magic;"},
  };
}

TEST(JobValidation, says_what_is_wrong) {
  for (const Wrong& row : wrong_jobs()) EXPECT_EQ(refusal(row.patch), row.message) << row.patch;
}

std::vector<Wrong> wrong_places() {
  const std::string long_name(60, 'x');
  return {
      {R"({"spec": {"queue": "nowhere"}})",
       "unable to find job queue: queue.scheduling.volcano.sh \"nowhere\" not found;"},
      {R"({"spec": {"queue": "new"}})", ""},
      {R"({"spec": {"queue": "shut"}})",
       "can only submit job to queue with state `Open`, queue `shut` status is `Closed`;"},
      {R"({"spec": {"queue": "root"}})", "can not submit job to root queue;"},
      {R"({"spec": {"queue": "parent"}})", "can only submit job to leaf queue, queue `parent` has 1 child queues;"},
      {R"({"spec": {"tasks": [{"dependsOn": {"name": ["worker"]}}, {"dependsOn": {"name": ["ps"]}}]}})",
       "job has dependencies between tasks, but doesn't form a directed acyclic graph(DAG);"},
      {R"({"spec": {"tasks": [{"dependsOn": {"name": ["nobody"]}}]}})",
       "job has dependencies between tasks, but doesn't form a directed acyclic graph(DAG);"},
      {R"({"spec": {"tasks": [{}, {"dependsOn": {"name": ["ps"]}}]}})", ""},
      {R"({"spec": {"tasks": [{"topologyPolicy": "restricted"}]}})",
       "the cpu request isn't an integer in spec.task[0] container[0]."},
      {R"({"spec": {"tasks": [{"topologyPolicy": "restricted", "template": {"spec": {"containers":
          [{"resources": {"requests": {"cpu": 2}}}]}}}]}})",
       ""},
      {R"({"spec": {"tasks": [{"topologyPolicy": "best-effort", "template": {"spec": {"containers":
          [{"resources": {"limits": {"cpu": "1500m"}}}]}}}]}})",
       "the cpu request isn't an integer in spec.task[0] container[0]."},
      {R"({"spec": {"volumes": [{}]}})", "mountPath is required;"},
      {R"({"spec": {"volumes": [{"mountPath": "/a"}]}})", "either VolumeClaim or VolumeClaimName must be specified;"},
      {R"({"spec": {"volumes": [{"mountPath": "/a", "volumeClaimName": "c"}, {"mountPath": "/a"}]}})",
       "duplicated mountPath: /a;"},
      {R"({"spec": {"volumes": [{"mountPath": "/a", "volumeClaimName": "c", "volumeClaim": {}}]}})",
       "conflict: If you want to use an existing PVC, just specify VolumeClaimName.If you want to create a new PVC, "
       "you "
       "do not need to specify VolumeClaimName"},
      {R"({"spec": {"volumes": [{"mountPath": "/a", "volumeClaimName": "C"}]}})",
       "invalid VolumeClaimName C : [a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
       "characters, "
       "'-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
       "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')]"},
      {R"({"spec": {"tasks": [{"partitionPolicy": {"totalPartitions": 0}}]}})",
       "'TotalPartitions' must be greater than 0 in task: ps, job: train"},
      {R"({"spec": {"tasks": [{"partitionPolicy": {"totalPartitions": 1, "partitionSize": 0}}]}})",
       "'PartitionSize' must be greater than 0 in task: ps, job: train"},
      {R"({"spec": {"tasks": [{"partitionPolicy": {"totalPartitions": 2, "partitionSize": 1}}]}})",
       "'Replicas' are not equal to TotalPartitions*PartitionSize in task: ps, job: train"},
      {R"({"spec": {"tasks": [{}, {"partitionPolicy": {"totalPartitions": 2, "partitionSize": 1, "minPartitions": 1}}]}})",
       "'MinAvailable' is not equal to MinPartitions*PartitionSize in task: worker, job: train"},
      {R"({"metadata": {"name": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}})",
       base::format(
           "create pod with name {0}-ps-0 validate failed [name part must be no more than 63 bytes];create pod "
           "with name {0}-worker-1 validate failed [name part must be no more than 63 bytes];",
           long_name)},
      {R"({"metadata": {"name": ""}})",
       "create pod with name -ps-0 validate failed [name part must consist of alphanumeric characters, '-', '_' or "
       "'.', "
       "and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used "
       "for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')];create pod with name -worker-1 validate failed "
       "[name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
       "alphanumeric "
       "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
       "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')];create job with name  validate failed [name part must be "
       "non-empty "
       "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
       "alphanumeric "
       "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
       "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')]"},
  };
}

TEST(JobValidation, says_what_is_wrong_with_queues_and_dependencies) {
  for (const Wrong& row : wrong_places()) EXPECT_EQ(refusal(row.patch), row.message) << row.patch;
}

TEST(JobValidation, policies) {
  struct Row {
    std::string_view policies;
    std::string message;
  };
  const Row rows[] = {
      {R"([{"event": "PodFailed", "exitCode": 1, "action": "RestartJob"}])",
       policy_error("must not specify event and exitCode simultaneously")},
      {R"([{"event": "PodFailed", "action": "RestartJob", "timeout": "soon"}])",
       policy_error("spec.policies.timeout: Invalid value: \"soon\": must be a duration such as \"1h30m\"")},
      {R"([{"event": "PodFailed", "action": "RestartJob", "timeout": "1h30m"}])", ""},
      {R"([{"action": "RestartJob"}])", policy_error("either event and exitCode should be specified")},
      {R"([{"event": "PodRunning", "action": "RestartJob"}])",
       policy_error("spec.policies: Invalid value: \"PodRunning\": invalid policy event")},
      {R"([{"event": "PodFailed", "action": "SyncJob"}])",
       policy_error("spec.policies: Invalid value: \"SyncJob\": invalid policy action")},
      {R"([{"event": "PodFailed", "action": "RestartJob"}, {"events": ["PodFailed"], "action": "AbortJob"}])",
       policy_error("duplicate event PodFailed  across different policy")},
      {R"([{"exitCode": 0, "action": "RestartJob"}])", policy_error("0 is not a valid error code")},
      {R"([{"exitCode": 3, "action": "RestartJob"}, {"exitCode": 3, "action": "AbortJob"}])",
       policy_error("duplicate exitCode 3")},
      {R"([{"event": "*", "action": "RestartJob"}, {"event": "PodFailed", "action": "AbortJob"}])",
       policy_error("if there's * here, no other policy should be here")},
      {R"([{"event": "PodFailed", "events": ["PodFailed", "PodEvicted"], "action": "RestartJob"},
           {"exitCode": 3, "action": "anything"}])",
       ""},
  };
  for (const Row& row : rows)
    EXPECT_EQ(refusal(base::format(R"({{"spec": {{"policies": {}}}}})", row.policies)), row.message) << row.policies;
  EXPECT_EQ(refusal(R"({"spec": {"tasks": [{"policies": [{"action": "RestartJob"}]}]}})"),
            policy_error("either event and exitCode should be specified"));
  EXPECT_NE(refusal(R"({"spec": {"tasks": [{"policies": [{"event": "x", "action": "RestartJob"}]}]}})")
                .find("spec.tasks.policies: Invalid value: \"x\": invalid policy event"),
            std::string::npos);
}

TEST(JobValidation, pod_templates) {
  struct Row {
    std::string_view spec;  // of task 0's pod
    std::string_view message;
  };
  constexpr Row kRows[] = {
      {R"({"containers": null})", "template.spec.containers: Required value. "},
      {R"({"containers": [{"name": ""}]})", "template.spec.containers[0].name: Required value. "},
      {R"({"containers": [{"image": ""}]})", "template.spec.containers[0].image: Required value. "},
      {R"({"containers": [{}, {"name": "c", "image": "i"}]})",
       "template.spec.containers[1].name: Duplicate value: \"c\". "},
      {R"({"containers": [{"ports": [{"containerPort": 70000}]}]})",
       "template.spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, "
       "inclusive. "},
      {R"({"containers": [{"ports": [{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]}]})",
       "template.spec.containers[0].ports[1].name: Duplicate value: \"a\". "},
      {R"({"containers": [{"ports": [{"containerPort": 1, "protocol": "X"}]}]})",
       "template.spec.containers[0].ports[0].protocol: Unsupported value: \"X\": supported values: \"SCTP\", \"TCP\", "
       "\"UDP\". "},
      {R"({"containers": [{"resources": {"requests": {"cpu": 2}, "limits": {"cpu": 1}}}]})",
       "template.spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit "
       "of "
       "1. "},
      {R"({"containers": [{"resources": {"requests": {"memory": "-1"}}}]})",
       "template.spec.containers[0].resources.requests[memory]: Invalid value: \"-1\": must be greater than or equal "
       "to "
       "0. "},
      {R"({"containers": [{"resources": {"requests": {"nvidia.com/gpu": 1}}}]})",
       "template.spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable "
       "resources. "},
      {R"({"containers": [{"resources": {"limits": {"pods": 1}}}]})",
       "template.spec.containers[0].resources.limits[pods]: Invalid value: \"pods\": must be a standard resource for "
       "containers. "},
      {R"({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "500m"}}}]})",
       "template.spec.containers[0].resources.limits[nvidia.com/gpu]: Invalid value: \"500m\": must be an integer. "},
      {R"({"containers": [{"resources": {"limits": {"cpu": 1, "hugepages-2Mi": "3Mi"}}}]})",
       "template.spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: \"3Mi\": 3Mi is not positive "
       "integer "
       "multiple of hugepages-2Mi. "},
      {R"({"containers": [{"volumeMounts": [{"name": "v", "mountPath": "/v"}]}]})",
       "template.spec.containers[0].volumeMounts[0].name: Not found: \"v\". "},
      {R"({"volumes": [{"name": "V", "emptyDir": {}}]})",
       "template.spec.volumes[0].name: Invalid value: \"V\": a lowercase RFC 1123 label must consist of lower case "
       "alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or "
       "'123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?'). "},
      {R"({"restartPolicy": "Sometimes"})",
       "template.spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", \"OnFailure\", "
       "\"Never\". "},
      {R"({"dnsPolicy": "X"})",
       "template.spec.dnsPolicy: Unsupported value: \"X\": supported values: "
       "\"ClusterFirstWithHostNet\", \"ClusterFirst\", \"Default\", \"None\". "},
      {R"({"hostNetwork": true, "containers": [{"ports": [{"containerPort": 1, "hostPort": 2}]}]})",
       "template.spec.containers[0].ports[0].hostPort: Invalid value: 2: must match `containerPort` when `hostNetwork` "
       "is true. "},
      {R"({"containers": [{"env": [{"name": "A=B", "value": "x"}]}]})",
       "template.spec.containers[0].env[0].name: Invalid value: \"A=B\": a valid environment variable name must "
       "consist "
       "only of printable ASCII characters other than '='. "},
      {R"({"activeDeadlineSeconds": 0})",
       "template.spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive. "},
  };
  for (const Row& row : kRows) {
    std::string expected = base::format("spec.task[0].{}", row.message);
    expected.pop_back();  // the whole text is trimmed
    EXPECT_EQ(refusal(base::format(R"({{"spec": {{"tasks": [{{"template": {{"spec": {}}}}}]}}}})", row.spec)), expected)
        << row.spec;
  }
}

TEST(JobValidation, checks_what_containers_take_from_outside) {
  struct Row {
    std::string_view spec;
    std::string_view message;
  };
  constexpr Row kRows[] = {
      {R"({"containers": [{"resources": {"limits": {"hugepages-2Mi": "4Mi"}}}]})",
       "template.spec.containers[0].resources: Forbidden: HugePages require cpu or memory. "},
      {R"({"containers": [{"resources": {"claims": [{"name": "gpu"}]}}]})",
       "template.spec.containers[0].resources.claims[0]: Not found: \"gpu\": must be one of the names in "
       "pod.spec.resourceClaims which is empty. "},
      {R"({"volumes": [{"name": "v", "emptyDir": {}}], "containers": [{"volumeDevices": [{"name": "v"}]}]})",
       "template.spec.containers[0].volumeDevices[0].name: Invalid value: \"v\": can only use volume source type of "
       "PersistentVolumeClaim or Ephemeral for block mode. template.spec.containers[0].volumeDevices[0].devicePath: "
       "Required value. "},
  };
  for (const Row& row : kRows)
    EXPECT_EQ(refusal(base::format(R"({{"spec": {{"tasks": [{{"template": {{"spec": {}}}}}]}}}})", row.spec)) + " ",
              base::format("spec.task[0].{}", row.message))
        << row.spec;
}

// Examples 3.1: refused as the document writes it, accepted in its two repaired forms.
TEST(JobValidation, the_reference_sample) {
  constexpr std::string_view kSample = R"({"metadata": {"name": "test-job", "namespace": "default"}, "spec": {
    "minAvailable": 3, "schedulerName": "volcano", "priorityClassName": "high-priority",
    "policies": [{"event": "PodEvicted", "action": "RestartJob"}], "plugins": {"ssh": [], "env": [], "svc": []},
    "maxRetry": 5, "queue": "default", "volumes": @, "tasks": [{"replicas": 6, "name": "default-nginx", "template":
    {"metadata": {"name": "web"}, "spec": {"containers": [{"image": "nginx", "imagePullPolicy": "IfNotPresent",
    "name": "nginx", "resources": {"requests": {"cpu": "1"}}}], "restartPolicy": "OnFailure"}}}]}})";
  struct Row {
    std::string_view volumes;
    std::string_view message;
  };
  constexpr Row kRows[] = {
      {R"([{"mountPath": "/myinput"}, {"mountPath": "/myoutput", "volumeClaimName": "n", "volumeClaim": {}}])",
       "either VolumeClaim or VolumeClaimName must be specified;"},
      {R"([{"mountPath": "/myoutput", "volumeClaimName": "testvolumeclaimname", "volumeClaim": {}}])",
       "conflict: If you want to use an existing PVC, just specify VolumeClaimName.If you want to create a new PVC, "
       "you do "
       "not need to specify VolumeClaimName"},
      {R"([{"mountPath": "/myoutput", "volumeClaim": {"accessModes": ["ReadWriteOnce"]}}])", ""},
      {R"([{"mountPath": "/myoutput", "volumeClaimName": "testvolumeclaimname"}])", ""}};
  for (const Row& row : kRows) {
    const std::size_t at = kSample.find('@');
    const Json job = json(base::format("{}{}{}", kSample.substr(0, at), row.volumes, kSample.substr(at + 1)));
    EXPECT_EQ(ask("/jobs/validate", Operation::kCreate, job, queues()).message, row.message);
  }
}

TEST(JobValidation, refuses_other_operations_and_resources) {
  EXPECT_EQ(ask("/jobs/validate", Operation::kDelete, json(kJob), queues()).message,
            "expect operation to be 'CREATE' or 'UPDATE'");
  EXPECT_EQ(ask("/jobs/mutate", Operation::kUpdate, json(kJob), queues()).message, "expect operation to be 'CREATE' ");
  const auto all = hooks({});
  EXPECT_EQ(all.front().review({.resource = api::resources::kPods}, queues()).message,
            "expect resource to be {batch.volcano.sh v1alpha1 jobs}");
}

TEST(JobValidation, a_volume_without_a_source_is_an_empty_dir) {
  EXPECT_EQ(refusal(R"({"spec": {"tasks": [{"template": {"spec": {"volumes": [{"name": "v"}]}}}]}})"), "");
}

TEST(JobUpdate, a_manifest_may_be_applied_again) {
  const Json manifest =
      json(R"({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "train"},
      "spec": {"plugins": {"mpi": []}, "volumes": [{"mountPath": "/a", "volumeClaim": {}},
        {"mountPath": "/b", "volumeClaimName": "mine"}, {"mountPath": "/c", "volumeClaim": {}}], "tasks": [
        {"replicas": 2, "template": {"spec": {"containers": [{"name": "c", "image": "i"}], "hostNetwork": true}}}]}})");
  Json stored = manifest;
  default_job_spec(stored.edit("spec"), "other-scheduler");
  stored.edit("spec").edit("volumes").edit(std::size_t{2}).set("volumeClaimName", "train-pvc-1");  // the controller
  std::vector<api::AdmissionHook> asked;
  for (const api::AdmissionHook& hook : hooks({}))
    if (hook.mutating && hook.kind == "Job" && hook.operations.front() == Operation::kUpdate) asked.push_back(hook);
  ASSERT_EQ(asked.size(), 1u);
  const auto answer = asked[0].review({.operation = Operation::kUpdate,
                                       .resource = asked[0].resource,
                                       .kind = "Job",
                                       .subresource = {},
                                       .ns = "default",
                                       .name = "train",
                                       .object = manifest,
                                       .old_object = stored},
                                      queues());
  ASSERT_TRUE(answer.object);
  EXPECT_EQ(*answer.object, stored);
  EXPECT_EQ(check_job_update(stored, *answer.object), "");
  // A webhook cannot fill in on an update, so what it compares is what would be stored.
  EXPECT_NE(check_job_update(stored, manifest), "");
  for (const api::AdmissionHook& hook : hooks({.in_process = false}))
    EXPECT_FALSE(hook.path == "/jobs/mutate" && hook.operations.front() == Operation::kUpdate);
}

TEST(JobUpdate, says_what_may_not_change) {
  struct Row {
    std::string_view patch;
    std::string_view message;
  };
  constexpr std::string_view kFrozen =
      "job updates may not change fields other than `minAvailable`, `tasks[*].replicas under spec` and "
      "`PriorityClassName`";
  const Row rows[] = {
      {R"({"spec": {"tasks": [{"replicas": 4, "minAvailable": 3}], "minAvailable": 5, "priorityClassName": "p"}})", ""},
      {R"({"spec": {"tasks": [{"replicas": -1}]}})", "'replicas' must be >= 0 in task: ps"},
      {R"({"spec": {"tasks": [{"minAvailable": -1}]}})", "'minAvailable' must be >= 0 in task: ps"},
      {R"({"spec": {"tasks": [{"minAvailable": 2}]}})", "'minAvailable' must be <= 'replicas' in task: ps"},
      {R"({"spec": {"minAvailable": 4}})", "job 'minAvailable' must not be greater than total replicas"},
      {R"({"spec": {"minAvailable": -1}})", "job 'minAvailable' must be >= 0"},
      {R"({"spec": {"tasks": [{"replicas": 9223372036854775807}, {"replicas": 9223372036854775807}]}})", ""},
      {R"({"spec": {"tasks": [{}, {}, {"name": "more"}]}})", "job updates may not add or remove tasks"},
      {R"({"spec": {"queue": "other"}})", kFrozen},
      {R"({"spec": {"ttlSecondsAfterFinished": 0}})", kFrozen},
      {R"({"spec": {"tasks": [{"template": {"spec": {"terminationGracePeriodSeconds": 0}}}]}})", kFrozen},
      {R"({"spec": {"tasks": [{"template": {"spec": {"hostNetwork": false}}}]}})", ""},
      {R"({"spec": {"tasks": [{"template": {"spec": {"containers": [{"image": "j"}]}}}]}})", kFrozen},
      {R"({"spec": {"tasks": [{"policies": []}], "plugins": {}}, "metadata": {"labels": {"a": "b"}}})", ""},
      {R"({"spec": {"networkTopology": {"highestTierAllowed": 1, "highestTierName": "r"}}})",
       "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(ask("/jobs/validate", Operation::kUpdate, patched(row.patch), queues(), {}, json(kJob)).message,
              row.message)
        << row.patch;
}

TEST(JobUpdate, compares_quantities_by_value_and_lets_the_controller_name_claims) {
  const Json before = patched(R"({"spec": {"volumes": [{"mountPath": "/a", "volumeClaim": {"accessModes": ["x"]}}],
      "tasks": [{"template": {"spec": {"containers": [{"resources": {"requests": {"cpu": 1}}}]}}}]}})");
  const Json after = patched(R"({"spec": {"volumes": [{"mountPath": "/a", "volumeClaimName": "train-pvc-1",
      "volumeClaim": {"accessModes": ["x"]}}],
      "tasks": [{"template": {"spec": {"containers": [{"resources": {"requests": {"cpu": "1000m"}}}]}}}]}})");
  EXPECT_EQ(ask("/jobs/validate", Operation::kUpdate, after, queues(), {}, before).message, "");
}

TEST(JobUpdate, only_what_is_left_out_equals_what_is_empty) {
  struct Row {
    std::string_view before;
    std::string_view after;
    bool same;
  };
  const Row rows[] = {
      {R"({"plugins": {"svc": []}})", R"({})", false},
      {R"({})", R"({"plugins": {"svc": []}})", false},
      {R"({"plugins": {"svc": []}})", R"({"plugins": {"env": []}})", false},
      {R"({"plugins": {}})", R"({})", true},
      {R"({"tasks": [{"template": {"metadata": {"labels": {"a": ""}}}}]})", R"({})", false},
      {R"({"tasks": [{"template": {"metadata": {"annotations": {"a": ""}}}}]})", R"({})", false},
      {R"({"tasks": [{"template": {"metadata": {"labels": {}}}}]})", R"({})", true},
      {R"({"tasks": [{"template": {"spec": {"nodeSelector": {"a": ""}}}}]})",
       R"({"tasks": [{"template": {"spec": {"nodeSelector": {"b": ""}}}}]})", false},
      {R"({"tasks": [{"template": {"spec": {"containers": [{"resources": {"requests": {"cpu": 0}}}]}}}]})", R"({})",
       false},
      {R"({"tasks": [{"template": {"spec": {"containers": [{"resources": {"requests": {}}}]}}}]})", R"({})", true},
      {R"({"tasks": [{"template": {"spec": {"securityContext": {}}}}]})", R"({})", false},
      {R"({"tasks": [{"template": {"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}}}]})",
       R"({"tasks": [{"template": {"spec": {"volumes": [{"name": "v"}]}}}]})", false},
      {R"({"tasks": [{"policies": [{"event": "PodFailed", "action": "RestartJob", "timeout": "60s"}]}]})",
       R"({"tasks": [{"policies": [{"event": "PodFailed", "action": "RestartJob", "timeout": "1m0s"}]}]})", true},
      {R"({"runningEstimate": "90m"})", R"({"runningEstimate": "1h30m"})", true},
      {R"({"runningEstimate": "90m"})", R"({"runningEstimate": "91m"})", false},
      {R"({"runningEstimate": "0s"})", R"({})", false},
      {R"({"networkTopology": {"mode": "hard"}})", R"({})", false},
  };
  for (const Row& row : rows) {
    const Json before = patched(base::format(R"({{"spec": {}}})", row.before));
    const Json after = patched(base::format(R"({{"spec": {}}})", row.after));
    EXPECT_EQ(ask("/jobs/validate", Operation::kUpdate, after, queues(), {}, before).allowed, row.same)
        << row.before << row.after;
  }
}

TEST(JobDefaults, fill_in_what_is_missing) {
  const Json bare = json(R"({"metadata": {"name": "j", "namespace": "default"}, "spec": {"minAvailable": 0,
    "plugins": {"mpi": []}, "unknown": 7, "tasks": [
      {"replicas": 2, "template": {"spec": {"hostNetwork": true, "containers":
         [{"name": "c", "image": "i", "resources": {"requests": {"cpu": 1, "memory": "1024Mi"}}}]}}},
      {"name": "b", "replicas": 6, "partitionPolicy": {"totalPartitions": 3, "partitionSize": 2, "minPartitions": 2}}]}})");
  const auto answer = ask("/jobs/mutate", Operation::kCreate, bare, queues(), {.scheduler_names = {"mine"}});
  ASSERT_TRUE(answer.object);
  EXPECT_EQ((*answer.object)["spec"].sorted().dump(),
            R"({"maxRetry":3,"minAvailable":6,"plugins":{"mpi":[],"ssh":[],"svc":[]},"queue":"default",)"
            R"("schedulerName":"mine","tasks":[{"maxRetry":3,"minAvailable":2,"name":"default0","replicas":2,)"
            R"("template":{"metadata":{},"spec":{"containers":[{"image":"i","name":"c","resources":{"requests":)"
            R"({"cpu":"1","memory":"1Gi"}}}],"dnsPolicy":"ClusterFirstWithHostNet","hostNetwork":true}}},)"
            R"({"maxRetry":3,"minAvailable":4,"name":"b","partitionPolicy":{"minPartitions":2,"partitionSize":2,)"
            R"("totalPartitions":3},"replicas":6}],"unknown":7})");
}

TEST(JobDefaults, add_up_to_the_largest_number_at_most) {
  const Json job = json(R"({"metadata": {"name": "j"}, "spec": {"tasks": [
      {"name": "a", "replicas": 2147483647, "template": {}}, {"name": "b", "replicas": 2147483647, "template": {}}]}})");
  EXPECT_EQ((*ask("/jobs/mutate", Operation::kCreate, job, queues()).object)["spec"]["minAvailable"].as_int(),
            2147483647);
}

TEST(JobDefaults, leave_what_has_a_wrong_type_to_the_schema) {
  constexpr std::string_view kWrong = R"({"maxRetry":"5","minAvailable":"x","queue":123,"schedulerName":true,"tasks":)"
                                      R"([{"maxRetry":[],"minAvailable":1,"name":5,"template":{"metadata":{},"spec":)"
                                      R"({"dnsPolicy":7,"hostNetwork":true}}}]})";
  const Json job = Json::object({{"metadata", Json::object({{"name", "j"}})}, {"spec", json(kWrong)}});
  EXPECT_EQ((*ask("/jobs/mutate", Operation::kCreate, job, queues()).object)["spec"].sorted().dump(), kWrong);
  const Json odd = Json::object({{"metadata", Json::object({{"name", "j"}})}, {"spec", "x"}});
  EXPECT_FALSE(ask("/jobs/mutate", Operation::kCreate, odd, queues()).object);
}

TEST(JobDefaults, ray_needs_hosts_but_no_keys) {
  const auto answer =
      ask("/jobs/mutate", Operation::kCreate, patched(R"({"spec": {"plugins": {"ray": ["--port=1"]}}})"), queues());
  EXPECT_EQ((*answer.object)["spec"]["plugins"].dump(), R"({"ray":["--port=1"],"svc":[]})");
}

}  // namespace
}  // namespace admission

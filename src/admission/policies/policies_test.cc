// One table of objects, judged in three forms: by the rules in this process, by the webhook server, and by the policies
// that `volcano policies` prints, evaluated as an API server evaluates them. A row says where the policies say less.
#include "admission/server/three_forms_for_tests.h"

namespace admission {
namespace {

// A Job that nothing is wrong with, but for what is said of it.
Json job(std::string_view spec) {
  Json out = json(
      R"j({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "train", "namespace": "ml"},
    "spec": {"queue": "default", "minAvailable": 1, "tasks": [{"name": "worker", "replicas": 2, "template": {"spec":
    {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox"}]}}}]}})j");
  const Json given = json(spec);
  for (const Json::Member& member : given.members()) {
    if (member.name() == "task") {
      Json task = out["spec"]["tasks"][std::size_t{0}];
      for (const Json::Member& field : member.value.members()) task.set(field.name(), field.value);
      out.edit("spec").edit("tasks").edit(0) = std::move(task);
    } else if (member.name() == "second") {
      Json task = out["spec"]["tasks"][std::size_t{0}];
      for (const Json::Member& field : member.value.members()) task.set(field.name(), field.value);
      out.edit("spec").edit("tasks").push_back(std::move(task));
    } else if (member.name() == "name") {
      out.edit("metadata").set("name", member.value);
    } else {
      out.edit("spec").set(member.name(), member.value);
    }
  }
  return out;
}

constexpr const char* kTiers =
    "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously";

TEST(ThreeForms, of_new_jobs) {
  constexpr Row kRows[] = {
      {R"j({})j", "", nullptr},
      {R"j({"policies": [{"event": "PodFailed", "action": "RestartPartition"}, {"exitCode": 3, "action": "AbortJob"}]})j",
       "", nullptr},
      {R"j({"tasks": []})j", "No task specified in job spec", nullptr},
      {R"j({"task": {"minAvailable": 3}})j", "'minAvailable' is greater than 'replicas' in task", nullptr},
      {R"j({"second": {}})j", "duplicated task name worker", "duplicated task name found"},
      {R"j({"task": {"name": "A"}})j", "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric",
       "a lowercase RFC 1123 label must consist of lower case alphanumeric characters"},
      {R"j({"minAvailable": 9})j", "job 'minAvailable' should not be greater than total replicas in tasks", nullptr},
      {R"j({"policies": [{"event": "PodRunning", "action": "AbortJob"}]})j", "invalid policy event", nullptr},
      {R"j({"policies": [{"event": "PodFailed", "action": "SyncJob"}]})j", "invalid policy action", nullptr},
      {R"j({"policies": [{"event": "PodFailed", "exitCode": 3, "action": "AbortJob"}]})j",
       "must not specify event and exitCode simultaneously", nullptr},
      {R"j({"policies": [{"action": "AbortJob"}]})j", "either event and exitCode should be specified", nullptr},
      {R"j({"policies": [{"exitCode": 0, "action": "AbortJob"}]})j", "0 is not a valid error code", nullptr},
      {R"j({"policies": [{"event": "PodFailed", "action": "AbortJob"}, {"events": ["PodFailed"], "action": "RestartJob"}]})j",
       "duplicate event PodFailed  across different policy", "duplicate policy event found"},
      {R"j({"policies": [{"exitCode": 3, "action": "AbortJob"}, {"exitCode": 3, "action": "RestartJob"}]})j",
       "duplicate exitCode 3", "duplicate exitCode found"},
      {R"j({"policies": [{"event": "*", "action": "AbortJob"}, {"event": "PodFailed", "action": "RestartJob"}]})j",
       "if there's * here, no other policy should be here", nullptr},
      {R"j({"task": {"policies": [{"events": ["OutOfSync"], "action": "AbortJob"}]}})j", "invalid policy event",
       nullptr},
      {R"j({"task": {"policies": [{"exitCode": 0, "action": "AbortJob"}]}})j", "0 is not a valid error code", nullptr},
      {R"j({"volumes": [{"mountPath": ""}]})j", "mountPath is required", nullptr},
      {R"j({"volumes": [{"mountPath": "/a", "volumeClaimName": "a"}, {"mountPath": "/a", "volumeClaimName": "b"}]})j",
       "duplicated mountPath: /a", "duplicated mountPath found"},
      {R"j({"volumes": [{"mountPath": "/a"}]})j", "either VolumeClaim or VolumeClaimName must be specified", nullptr},
      {R"j({"volumes": [{"mountPath": "/a", "volumeClaim": {}, "volumeClaimName": "a"}]})j",
       "conflict: If you want to use an existing PVC, just specify VolumeClaimName.If you want to create a new PVC, "
       "you do "
       "not need to specify VolumeClaimName",
       nullptr},
      {R"j({"volumes": [{"mountPath": "/a", "volumeClaimName": "A_"}]})j", "invalid VolumeClaimName", nullptr},
      {R"j({"networkTopology": {"highestTierAllowed": 1, "highestTierName": "rack"}})j", kTiers, nullptr},
      {R"j({"task": {"partitionPolicy": {"totalPartitions": 3, "partitionSize": 2}}})j",
       "'Replicas' are not equal to TotalPartitions*PartitionSize", nullptr},
      {R"j({"task": {"minAvailable": 1, "partitionPolicy": {"totalPartitions": 1, "partitionSize": 2, "minPartitions": 1}}})j",
       "'MinAvailable' is not equal to MinPartitions*PartitionSize", nullptr},
      {R"j({"task": {"partitionPolicy": {"totalPartitions": 1, "partitionSize": 2, "networkTopology": {"highestTierAllowed": 1,
        "highestTierName": "rack"}}}})j",
       kTiers, nullptr},
      {R"j({"plugins": {"svc": [], "nope": []}})j", "unable to find job plugin", nullptr},
      {R"j({"plugins": {"mpi": []}})j", "The specified mpi master task was not found", nullptr},
      {R"j({"plugins": {"mpi": ["--master=boss"]}})j", "The specified mpi master task was not found",
       "webhook: arguments are not read"},
      {R"j({"queue": "root"})j", "can not submit job to root queue", nullptr},
      {R"j({"queue": "none"})j", "unable to find job queue", kOtherObjects},
      {R"j({"task": {"dependsOn": {"name": ["worker"]}}})j",
       "job has dependencies between tasks, but doesn't form a directed acyclic graph(DAG)", nullptr},
      {R"j({"task": {"dependsOn": {"name": ["b"]}}, "second": {"name": "b", "dependsOn": {"name": ["worker"]}}})j",
       "doesn't form a directed acyclic graph(DAG)", kGraphs},
      {R"j({"task": {"topologyPolicy": "restricted"}})j",
       "the cpu request isn't an integer in spec.task[0] container[0].",
       "the cpu request isn't an integer in a task with a topology policy"},
      {R"j({"task": {"template": {"spec": {"containers": []}}}})j", "spec.task[0].template.spec.containers",
       kTemplates},
      {R"j({"name": "a-name-of-fifty-five-letters-is-too-much-with-a-task-behind-it"})j",
       "name part must be no more than 63", "create pod validate failed: name part must be no more than 63 bytes"},
  };
  for (const Row& row : kRows)
    compare("/jobs/validate", api::resources::kJobs, Operation::kCreate, job(row.object), {}, row);
}

TEST(ThreeForms, of_changed_jobs) {
  constexpr Row kRows[] = {
      {R"j({})j", "", nullptr},
      {R"j({"minAvailable": 2, "priorityClassName": "high", "task": {"replicas": 5}})j", "", nullptr},
      {R"j({"minAvailable": 3})j", "job 'minAvailable' must not be greater than total replicas", nullptr},
      {R"j({"second": {"name": "b"}})j", "job updates may not add or remove tasks", nullptr},
      {R"j({"queue": "other"})j",
       "job updates may not change fields other than `minAvailable`, `tasks[*].replicas under spec` and "
       "`PriorityClassName`",
       nullptr},
      {R"j({"schedulerName": "other"})j", "job updates may not change fields other than", kWords},
      {R"j({"task": {"name": "other"}})j",
       "job updates may not change fields other than `minAvailable`, `tasks[*].replicas under spec` and "
       "`PriorityClassName`",
       nullptr},
      {R"j({"task": {"template": {"spec": {"containers": [{"name": "d", "image": "busybox"}]}}}})j",
       "job updates may not change fields other than", kWords},
  };
  for (const Row& row : kRows)
    compare("/jobs/validate", api::resources::kJobs, Operation::kUpdate, job(row.object), job("{}"), row);
}

Json queue(std::string_view text) {
  Json out = json(text);
  if (out["metadata"].is_null()) out.set("metadata", Json::object());
  if (out["metadata"]["name"].is_null()) out.edit("metadata").set("name", "q");
  if (out["spec"].is_null()) out.set("spec", Json::object());
  return out;
}

TEST(ThreeForms, of_queues) {
  constexpr Row kRows[] = {
      {R"j({})j", "", nullptr},
      {R"j({"spec": {"capability": {"cpu": 4}, "deserved": {"cpu": "2"}, "guarantee": {"resource": {"cpu": "1500m"}}}})j",
       "", nullptr},
      {R"j({"status": {"state": "Odd"}})j", "queue state must be in [Open Closed]",
       "queue state must be in [Open, Closed]"},
      {R"j({"spec": {"capability": {"cpu": "-1"}}})j", "must be greater than or equal to 0",
       "capability resource values must be greater than or equal to 0"},
      {R"j({"spec": {"capability": {"pods": "1500m"}}})j", "must be an integer",
       "capability of a counted resource must be an integer"},
      {R"j({"spec": {"capability": {"cpu": 1}, "deserved": {"cpu": "1100m"}}})j", "must be <= capability",
       "deserved resource values must be <= capability"},
      {R"j({"spec": {"deserved": {"cpu": 1}, "guarantee": {"resource": {"cpu": 2}}}})j", "must be >= guarantee",
       "deserved resource values must be >= guarantee"},
      {R"j({"spec": {"guarantee": {"resource": {"cpu": 2}}}})j", "must be >= guarantee",
       "deserved resource values must be >= guarantee"},
      {R"j({"metadata": {"annotations": {"volcano.sh/hierarchy": "root/a", "volcano.sh/hierarchy-weights": "1"}}})j",
       "volcano.sh/hierarchy must have the same length with volcano.sh/hierarchy-weights", nullptr},
      {R"j({"metadata": {"annotations": {"volcano.sh/hierarchy": "root/a", "volcano.sh/hierarchy-weights": "1/0"}}})j",
       "must be larger than 0", "weights in volcano.sh/hierarchy-weights must be larger than 0"},
      {R"j({"metadata": {"annotations": {"volcano.sh/hierarchy": "root/a", "volcano.sh/hierarchy-weights": "1/1e0"}}})j",
       "", nullptr},
      {R"j({"spec": {"parent": "q"}})j", "queue q cannot use itself as parent", nullptr},
      {R"j({"spec": {"parent": "nobody"}})j", "failed to get parent queue", kOtherObjects},
  };
  for (const Row& row : kRows)
    compare("/queues/validate", api::resources::kQueues, Operation::kCreate, queue(row.object), {}, row);
  for (const char* name : {"default", "root"})
    compare(
        "/queues/validate", api::resources::kQueues, Operation::kDelete, {},
        queue(base::format(R"j({{"metadata": {{"name": "{}"}}, "spec": {{"capability": {{"cpu": "-1"}}}}}})j", name)),
        {name,
         name == std::string_view("root") ? "`root` queue can not be deleted" : "`default` queue can not be deleted",
         nullptr});
  const Json root = queue(R"j({"metadata": {"name": "root"}, "spec": {"capability": {"cpu": "1000m"}}})j");
  compare("/queues/validate", api::resources::kQueues, Operation::kUpdate,
          queue(R"j({"metadata": {"name": "root"}, "spec": {"capability": {"cpu": 2}}})j"), root,
          {"root", "root queue's resource attributes (capability, deserved, guarantee) cannot be modified", nullptr});
  compare("/queues/validate", api::resources::kQueues, Operation::kUpdate,
          queue(R"j({"metadata": {"name": "root"}, "spec": {"capability": {"cpu": 1}}})j"), root,
          {"root", "", nullptr});
}

// Such a request names no object: the server says only what goes.
TEST(ThreeForms, of_queues_that_go_as_a_collection) {
  for (const auto& [name, refusal] : {std::pair{"default", "`default` queue can not be deleted"},
                                      std::pair{"root", "`root` queue can not be deleted"}}) {
    const Json gone = json(base::format(R"j({{"metadata": {{"name": "{}"}}, "spec": {{}}}})j", name));
    api::AdmissionRequest request = request_for(api::resources::kQueues, Operation::kDelete, {}, gone);
    request.name.clear();
    EXPECT_EQ(policy_message(request), refusal);
    EXPECT_EQ(webhook_message("/queues/validate", request), refusal);
  }
}

TEST(ThreeForms, of_hypernodes) {
  constexpr Row kRows[] = {
      {R"j([{"type": "Node", "selector": {"exactMatch": {"name": "a"}}}, {"type": "Node"}])j", "", nullptr},
      {R"j([])j", "member must have at least one member", nullptr},
      {R"j([{"type": "Node", "selector": {}}])j", "",
       "member selector must have one of exactMatch, regexMatch, or labelMatch"},
      {R"j([{"type": "Node", "selector": {"exactMatch": {"name": "a"}, "labelMatch": {}}}])j", "",
       "cannot specify more than one selector type (exactMatch, regexMatch, labelMatch)"},
      {R"j([{"type": "Node", "selector": {"exactMatch": {}}}])j", "", "member exactMatch name is required"},
      {R"j([{"type": "Node", "selector": {"regexMatch": {}}}])j", "", "member regexMatch pattern is required"},
      {R"j([{"type": "Node", "selector": {"regexMatch": {"pattern": "a[(]\\(b.*"}}}])j", "", nullptr},
      {R"j([{"type": "Node", "selector": {"regexMatch": {"pattern": "a("}}}])j", "missing closing )",
       "member regexMatch pattern is invalid: unmatched parentheses"},
      {R"j([{"type": "Node", "selector": {"regexMatch": {"pattern": "a[b"}}}])j", "missing closing ]",
       "member regexMatch pattern is invalid: unmatched square brackets"},
      {R"j([{"type": "Node", "selector": {"regexMatch": {"pattern": "*"}}}])j",
       "missing argument to repetition operator",
       "expression 'variables.patterns.all(p, ''.matches(p) ? true : true)' resulted in error: error parsing regexp: "
       "missing argument to repetition operator: `*`"},
  };
  for (const Row& row : kRows)
    compare(
        "/hypernodes/validate", api::resources::kHyperNodes, Operation::kCreate,
        json(base::format(R"j({{"metadata": {{"name": "h"}}, "spec": {{"tier": 1, "members": {}}}}})j", row.object)),
        {}, row);
}

TEST(ThreeForms, of_flows) {
  constexpr Row kRows[] = {
      {R"j([{"name": "a"}, {"name": "b", "dependsOn": {"targets": ["a"]}}])j", "", nullptr},
      {R"j([{"name": "a", "dependsOn": {"targets": ["x"]}}])j", "jobflow Flow is not DAG: vertex is not defined",
       nullptr},
      {R"j([{"name": "a", "dependsOn": {"targets": ["a"]}}])j", "jobflow Flow is not DAG", nullptr},
      {R"j([{"name": "a", "dependsOn": {"targets": ["b"]}}, {"name": "b", "dependsOn": {"targets": ["a"]}}])j",
       "jobflow Flow is not DAG", nullptr},
      {R"j([{"name": "a", "dependsOn": {"targets": ["a"]}}, {"name": "a"}])j", "", nullptr},
      {R"j([{"name": "a", "dependsOn": {"targets": ["b"]}}, {"name": "b", "dependsOn": {"targets": ["c"]}},
           {"name": "c", "dependsOn": {"targets": ["a"]}}])j",
       "jobflow Flow is not DAG", kGraphs},
  };
  for (const Row& row : kRows)
    compare("/jobflows/validate", api::resources::kJobFlows, Operation::kCreate,
            json(base::format(R"j({{"metadata": {{"name": "f", "namespace": "ml"}}, "spec": {{"flows": {}}}}})j",
                              row.object)),
            {}, row);
}

TEST(ThreeForms, of_cron_jobs) {
  constexpr Row kRows[] = {
      {R"j({"schedule": "*/5 * * * *", "timeZone": "Europe/Berlin"})j", "", nullptr},
      {R"j({"schedule": "@every 1h"})j", "", nullptr},
      {R"j({})j", "schedule is required, but got empty", nullptr},
      {R"j({"schedule": "TZ=UTC * * * * *"})j",
       "schedule should not contain TZ or CRON_TZ, TZ should only be set in the timeZone field", nullptr},
      {R"j({"schedule": "soon"})j", "schedule is not a valid cron expression", nullptr},
      {R"j({"schedule": "61 * * * *"})j", "schedule is not a valid cron expression",
       "webhook: numbers are not compared"},
      {R"j({"schedule": "@daily", "timeZone": ""})j", "timeZone must be nil or non-empty string, got empty string",
       nullptr},
      {R"j({"schedule": "@daily", "timeZone": "../etc"})j", "unknown timeZone", nullptr},
      {R"j({"schedule": "@daily", "timeZone": "Local"})j",
       "timeZone can't be Local, and must be defined in https://www.iana.org/time-zones", nullptr},
  };
  for (const Row& row : kRows)
    compare("/cronjobs/validate", api::resources::kCronJobs, Operation::kCreate,
            json(base::format(R"j({{"metadata": {{"name": "c", "namespace": "ml"}}, "spec": {}}})j", row.object)), {},
            row);
}

TEST(ThreeForms, of_pods) {
  constexpr Row kRows[] = {
      {R"j({})j", "", nullptr},
      {R"j({"volcano.sh/jdb-min-available": "3"})j", "", nullptr},
      {R"j({"volcano.sh/jdb-min-available": "30%"})j", "", nullptr},
      {R"j({"volcano.sh/jdb-min-available": "0"})j", "it must be a positive integer",
       "jdb-min-available must be a positive integer or a valid percentage which between 1% ~ 99%"},
      {R"j({"volcano.sh/jdb-max-unavailable": "100%"})j", "percentage which between 1% ~ 99%",
       "jdb-max-unavailable must be a positive integer or a valid percentage which between 1% ~ 99%"},
      {R"j({"volcano.sh/jdb-min-available": "1", "volcano.sh/jdb-max-unavailable": "1"})j",
       "not allow configure multiple annotations", "not allow configure multiple annotations at same time"},
  };
  for (const Row& row : kRows)
    compare(
        "/pods/validate", api::resources::kPods, Operation::kCreate,
        json(base::format(
            R"j({{"metadata": {{"name": "p", "namespace": "ml", "annotations": {}}}, "spec": {{"schedulerName": "volcano"}}}})j",
            row.object)),
        {}, row);
}

TEST(ThreeForms, of_pod_groups) {
  constexpr Row kRows[] = {
      {R"j({"queue": "default"})j", "", nullptr},
      {R"j({"queue": "none"})j", "unable to find queue", kOtherObjects},
      {R"j({"queue": "default", "networkTopology": {"highestTierAllowed": 1, "highestTierName": "rack"}})j", kTiers,
       nullptr},
      {R"j({"queue": "default", "subGroupPolicy": [{"networkTopology": {"highestTierAllowed": 1, "highestTierName": "rack"}}]})j",
       kTiers, nullptr},
  };
  for (const Row& row : kRows)
    compare("/podgroups/validate", api::resources::kPodGroups, Operation::kCreate,
            json(base::format(R"j({{"metadata": {{"name": "g", "namespace": "ml"}}, "spec": {}}})j", row.object)), {},
            row);
}

// The hooks and the policies fill in the same.
TEST(ThreeForms, of_defaults) {
  struct Case {
    const char* path;
    const api::ResourceId& resource;
    const char* object;
  };
  const Case kCases[] = {
      {"/jobs/mutate", api::resources::kJobs,
       R"j({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j", "namespace": "ml"}, "spec": {"tasks": [
          {"replicas": 2, "template": {"metadata": {}, "spec": {"hostNetwork": true}}},
          {"name": "b", "replicas": 4, "maxRetry": 7, "partitionPolicy": {"totalPartitions": 2, "partitionSize": 2, "minPartitions": 1},
           "template": {"metadata": {}, "spec": {}}}], "plugins": {"mpi": []}}})j"},
      {"/jobs/mutate", api::resources::kJobs,
       R"j({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j", "namespace": "ml"}, "spec": {"queue": "q",
          "schedulerName": "s", "maxRetry": 1, "minAvailable": 1, "tasks": [{"name": "a", "minAvailable": 0, "maxRetry": 2,
          "replicas": 1}], "plugins": {"ray": []}}})j"},
      {"/queues/mutate", api::resources::kQueues,
       R"j({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q", "annotations":
          {"volcano.sh/hierarchy": "a/b", "volcano.sh/hierarchy-weights": "1/2"}}, "spec": {"weight": 0}})j"},
      {"/queues/mutate", api::resources::kQueues,
       R"j({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q"}, "spec": {"reclaimable": false,
          "weight": 3}})j"},
      {"/podgroups/mutate", api::resources::kPodGroups,
       R"j({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "g", "namespace": "ml"}, "spec":
          {"queue": "default"}})j"},
      {"/podgroups/mutate", api::resources::kPodGroups,
       R"j({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "g", "namespace": "default"}, "spec":
          {"queue": "default"}})j"},
      {"/podgroups/mutate", api::resources::kPodGroups,
       R"j({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "g", "namespace": "none"}, "spec":
          {"queue": "default"}})j"},
  };
  for (const Case& one : kCases) {
    const api::KindInfo& kind = *api::find_kind(one.resource);
    Json object = json(one.object);
    api::apply_defaults(*kind.schema, object, {.custom_resource = true});
    const api::AdmissionRequest request = request_for(one.resource, Operation::kCreate, object, {});
    Json by_hook = hook_at(hooks({}), one.path).review(request, world()).object.value_or(object);
    api::apply_defaults(*kind.schema, by_hook, {.custom_resource = true});
    api::policies::Budget budget;
    api::policies::Mutator mutator(policies(), request, world(), budget);
    Json by_policy = object;
    const base::Status done = mutator.run(by_policy);
    EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().message);
    EXPECT_EQ(by_policy.sorted().dump(), by_hook.sorted().dump());
  }
}

// The values of a demonstration: there is no webhook that says the same.
TEST(Policies, show_how_pods_are_sent_to_groups_of_nodes) {
  const auto made = [](const char* pod) {
    api::policies::Budget budget;
    const api::AdmissionRequest request = request_for(api::resources::kPods, Operation::kCreate, json(pod), {});
    api::policies::Mutator mutator(policies(), request, world(), budget);
    Json object = request.object;
    EXPECT_TRUE(mutator.run(object).ok());
    return object["spec"].sorted().dump();
  };
  EXPECT_EQ(
      made(
          R"j({"metadata": {"name": "p", "namespace": "ml", "annotations": {"volcano.sh/resource-group": "default"}}, "spec": {}})j"),
      R"j({"nodeSelector":{"volcano.sh/node-group":"compute"},"schedulerName":"volcano","tolerations":[{"effect":"NoSchedule",)j"
      R"j("key":"volcano.sh/node-group","operator":"Equal","value":"compute"}]})j");
  EXPECT_EQ(made(R"j({"metadata": {"name": "p", "namespace": "volcano-system"}, "spec": {"schedulerName": "x"}})j"),
            R"j({"schedulerName":"volcano"})j");
  EXPECT_EQ(made(R"j({"metadata": {"name": "p", "namespace": "ml"}, "spec": {"schedulerName": "x"}})j"),
            R"j({"schedulerName":"x"})j");
}

}  // namespace
}  // namespace admission

// Queues that name who may use them.
#include "admission/rules/rules.h"
#include "admission/server/three_forms_for_tests.h"
#include "api/kubeflow/v1/run_policy.h"

namespace admission {
namespace {

constexpr std::string_view kContainer = R"j({"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]})j";

struct Asker {
  const char* user;
  std::vector<std::string> groups = {};
};

// "<in process and by webhook>" and "<by policy>" agree, but for kinds that policies do not know.
std::string refusal_of(std::string_view path, const api::ResourceId& resource, const Json& object, const Asker& asker,
                       bool has_policy = true) {
  api::AdmissionRequest request = request_for(resource, Operation::kCreate, object, {});
  request.user = asker.user;
  request.groups = asker.groups;
  const std::string reported = hook_at(hooks({}), path).review(request, world()).message;
  EXPECT_EQ(policy_message(request), has_policy ? reported : "") << path << object.dump();
  return reported;
}

Json job_in(std::string_view queue, std::string_view ns) {
  return json(base::format(R"j({{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {{"name": "j",
    "namespace": "{}"}}, "spec": {{"queue": "{}", "minAvailable": 1, "tasks": [{{"name": "w", "replicas": 1, "template":
    {{"spec": {}}}}}]}}}})j",
                           ns, queue, kContainer));
}

Json group_in(std::string_view queue, std::string_view ns) {
  return json(
      base::format(R"j({{"metadata": {{"name": "g", "namespace": "{}"}}, "spec": {{"queue": "{}"}}}})j", ns, queue));
}

Json pod_in(std::string_view queue, std::string_view ns) {
  return json(base::format(R"j({{"metadata": {{"name": "p", "namespace": "{}", "annotations":
    {{"scheduling.volcano.sh/queue-name": "{}"}}}}, "spec": {}}})j",
                           ns, queue, kContainer));
}

// Each kind of object that names a queue, in all three forms.
std::string refusal(std::string_view queue, std::string_view ns, const Asker& asker) {
  namespace r = api::resources;
  const std::string of_job = refusal_of("/jobs/validate", r::kJobs, job_in(queue, ns), asker);
  const std::string of_group = refusal_of("/podgroups/validate", r::kPodGroups, group_in(queue, ns), asker);
  const std::string of_pod = refusal_of("/pods/validate", r::kPods, pod_in(queue, ns), asker);
  const Json training = json(base::format(R"j({{"metadata": {{"name": "t", "namespace": "{}"}}, "spec": {{"runPolicy":
    {{"schedulingPolicy": {{"queue": "{}"}}}}, "jaxReplicaSpecs": {{"Worker": {{"template": {{"spec": {{"containers":
    [{{"name": "jax", "image": "i"}}]}}}}}}}}}}}})j",
                                          ns, queue));
  const std::string of_training = refusal_of("/validate-kubeflow-org-v1-jaxjob", r::kJaxJobs, training, asker, false);
  Json timed = Json::object({{"metadata", job_in(queue, ns)["metadata"]}});
  timed.edit("spec").set("schedule", "* * * * *");
  timed.edit("spec").edit("jobTemplate").set("spec", job_in(queue, ns)["spec"]);
  const std::string of_cronjob = refusal_of("/cronjobs/validate", r::kCronJobs, timed, asker);
  for (const std::string& other : {of_group, of_pod, of_training, of_cronjob}) EXPECT_EQ(other, of_job);
  return of_job;
}

TEST(QueueAccess, is_given_by_annotations_of_the_queue) {
  const std::string not_here = "queue `others` is not for namespace `ml` (volcano.sh/allowed-namespaces)";
  const auto not_for = [](std::string_view user, std::string_view queue) {
    return base::format("queue `{}` is not for user `{}` (volcano.sh/allowed-users, volcano.sh/allowed-groups)", queue,
                        user);
  };
  EXPECT_EQ(refusal("default", "ml", {"zoe"}), "");
  EXPECT_EQ(refusal("lab", "ml", {"anna"}), "");
  EXPECT_EQ(refusal("lab", "ml", {"ben"}), not_for("ben", "lab"));
  EXPECT_EQ(refusal("others", "ml", {"anna"}), not_here);
  EXPECT_EQ(refusal("others", "ml", {"root", {"system:masters"}}), not_here) << "whoever asks";
  EXPECT_EQ(refusal("team", "ml", {"carl"}), "");
  EXPECT_EQ(refusal("team", "ml", {"dora", {"staff", "team a"}}), "");
  EXPECT_EQ(refusal("team", "ml", {"dora", {"staff"}}), not_for("dora", "team"));
  EXPECT_EQ(refusal("team", "ml", {"root", {"system:masters"}}), "");
  // Programs that write for others were not asked; those of the namespace are as people are.
  EXPECT_EQ(refusal("team", "ml", {"system:serviceaccount:kube-system:replicaset-controller"}), "");
  EXPECT_EQ(refusal("team", "ml", {"system:serviceaccount:ml:default"}),
            not_for("system:serviceaccount:ml:default", "team"));
  EXPECT_EQ(refusal("team", "ml", {"system:anonymous"}), not_for("system:anonymous", "team"));
}

// A refusal in process and by the webhook, which a policy says as well.
std::string refusal_of_update(std::string_view path, const api::ResourceId& resource, const Json& from,
                              const Json& to) {
  const api::AdmissionRequest request = request_for(resource, Operation::kUpdate, to, from);
  const std::string reported = hook_at(hooks({}), path).review(request, world()).message;
  EXPECT_EQ(webhook_message(path, request), reported);
  EXPECT_EQ(policy_message(request), reported);
  return reported;
}

TEST(QueueAccess, holds_for_what_moves) {
  namespace r = api::resources;
  const auto moved = [](std::string_view from, std::string_view to) {
    const std::string of_group =
        refusal_of_update("/podgroups/validate", r::kPodGroups, group_in(from, "ml"), group_in(to, "ml"));
    EXPECT_EQ(refusal_of_update("/pods/validate", r::kPods, pod_in(from, "ml"), pod_in(to, "ml")), of_group);
    return of_group;
  };
  EXPECT_EQ(moved("default", "others"), "queue `others` is not for namespace `ml` (volcano.sh/allowed-namespaces)");
  EXPECT_EQ(moved("others", "others"), "") << "it was there before";
  EXPECT_EQ(moved("others", "default"), "");
}

TEST(GroupsThatMove, go_to_open_queues_only) {
  FakeObjects objects;
  objects.add(api::resources::kQueues, R"j({"metadata": {"name": "open"}, "status": {"state": "Open"}})j");
  objects.add(api::resources::kQueues, R"j({"metadata": {"name": "shut"}, "status": {"state": "Closed"}})j");
  const auto moved = [&](std::string_view from, std::string_view to) {
    return hook_at(hooks({}), "/podgroups/validate")
        .review(request_for(api::resources::kPodGroups, Operation::kUpdate, group_in(to, "ml"), group_in(from, "ml")),
                objects)
        .message;
  };
  EXPECT_EQ(moved("shut", "open"), "");
  EXPECT_EQ(moved("shut", "shut"), "") << "it was there before";
  EXPECT_EQ(moved("open", "shut"),
            "can only submit PodGroup to queue with state `Open`, queue `shut` status is `Closed`.");
  EXPECT_EQ(moved("open", "none"), "unable to find queue: queue.scheduling.volcano.sh \"none\" not found");
}

TEST(QueueAccess, lists_are_checked_with_the_queue) {
  struct Row {
    const char* annotations;
    const char* problem;
  };
  constexpr Row kRows[] = {
      {R"j({"volcano.sh/allowed-namespaces": "a, b-1", "volcano.sh/allowed-users": "Zoe Lee,x@y.org",
            "volcano.sh/allowed-groups": "system:authenticated"})j",
       ""},
      {R"j({"volcano.sh/allowed-namespaces": "a,B"})j", "volcano.sh/allowed-namespaces"},
      {R"j({"volcano.sh/allowed-namespaces": "a,"})j", "volcano.sh/allowed-namespaces"},
      {R"j({"volcano.sh/allowed-users": ""})j", "volcano.sh/allowed-users"},
      {R"j({"volcano.sh/allowed-groups": "a,,b"})j", "volcano.sh/allowed-groups"},
      {R"j({"volcano.sh/allowed-groups": "a\u0001b"})j", "volcano.sh/allowed-groups"},
  };
  for (const Row& row : kRows) {
    const Json queue = json(base::format(
        R"j({{"metadata": {{"name": "q", "annotations": {}}}, "spec": {{"weight": 1}}}})j", row.annotations));
    for (const Operation operation : {Operation::kCreate, Operation::kUpdate}) {
      const api::AdmissionRequest request =
          request_for(api::resources::kQueues, operation, queue,
                      operation == Operation::kCreate ? Json() : json(R"j({"metadata": {"name": "q"}, "spec": {}})j"));
      const std::string reported = hook_at(hooks({}), "/queues/validate").review(request, world()).message;
      const std::string policy = policy_message(request);
      EXPECT_EQ(reported.empty(), *row.problem == '\0') << reported;
      EXPECT_NE(reported.find(row.problem), std::string::npos) << reported;
      EXPECT_EQ(policy.empty(), *row.problem == '\0') << policy;
      EXPECT_NE(policy.find(row.problem), std::string::npos) << policy;
    }
  }
}

}  // namespace
}  // namespace admission

// Workloads as the server stores them, and those that it refuses.
#include <gtest/gtest.h>

#include "api/json/yaml.h"
#include "api/kinds.h"
#include "api/schema/patch.h"
#include "api/selector_text.h"
#include "apiserver/kinds/live_objects.h"
#include "apiserver/kinds/strategy.h"
#include "base/format.h"

namespace apiserver {
namespace {

using api::Json;

const api::KindInfo& kind(std::string_view api_version, std::string_view name) {
  return *api::find_kind_named(api_version, name);
}

constexpr std::string_view kDeployment = R"({"metadata": {"name": "web"}, "spec": {
    "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}},
    "spec": {"containers": [{"name": "c", "image": "i"}]}}}})";
constexpr std::string_view kJob = R"({"metadata": {"name": "pi", "uid": "u"}, "spec": {"template": {
    "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}})";

Json made(const api::KindInfo& of, std::string_view base, std::string_view path, std::string_view value) {
  Json object = *api::parse_json(base);
  Json* at = &object;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    at = &at->edit(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  if (at != &object) *at = *api::parse_json(value);
  apply_core_defaults(of, object);
  base::Random random(1);
  const std::vector<api::AdmissionHook> no_hooks;
  const Snapshot nothing;
  std::vector<base::Cause> causes;
  const Context context{.now = {}, .random = random, .hooks = no_hooks, .objects = nothing};
  EXPECT_TRUE(prepare_core_create(context, of, object, causes).ok());
  return object;
}

std::string problems(const std::vector<base::Cause>& causes) {
  std::string text;
  for (const base::Cause& cause : causes) text += cause.field + ": " + cause.message + "\n";
  return text;
}

TEST(Workloads, a_stateful_set_mounts_what_it_claims) {
  const api::KindInfo& of = kind("apps/v1", "StatefulSet");
  const auto problems_with = [&of](std::string_view claims, std::string_view more) {
    Json object = made(of, kDeployment, "spec.volumeClaimTemplates", claims);
    const Json container = *api::parse_json(more);
    for (const Json::Member& one : container.members())
      object.edit_path({"spec", "template", "spec", "containers"}).edit(0).set(one.name(), one.value);
    std::vector<base::Cause> causes;
    check_core_create(of, object, causes);
    return problems(causes);
  };
  const std::string_view claim =
      R"([{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}])";
  const std::string_view mount = R"({"volumeMounts":[{"name":"data","mountPath":"/d"}]})";
  EXPECT_EQ(problems_with(claim, mount), "");
  EXPECT_EQ(problems_with(claim, R"({"volumeDevices":[{"name":"data","devicePath":"/dev/x"}]})"), "");
  EXPECT_EQ(problems_with("[]", mount), "spec.template.spec.containers[0].volumeMounts[0].name: Not found: \"data\"\n");
}

TEST(Workloads, names_that_they_will_make_are_judged) {
  const auto problems_of = [](std::string_view of_kind, std::size_t length, std::string_view path,
                              std::string_view value) {
    const api::KindInfo& of = kind("apps/v1", of_kind);
    Json object = made(of, kDeployment, path, value);
    object.edit("metadata").set("name", std::string(length, 'n'));
    std::vector<base::Cause> causes;
    check_core_create(of, object, causes);
    const std::string text = problems(causes);
    return text.substr(text.find(": \"") == std::string::npos ? 0 : text.rfind("\": ") + 3);
  };
  const std::string sixty(60, 'n'), sixty_one(61, 'n');
  EXPECT_EQ(problems_of("StatefulSet", 61, "spec.replicas", "10"), "");
  EXPECT_EQ(problems_of("StatefulSet", 61, "spec.replicas", "11"),
            "the name of its last pod, " + sixty_one + "-10, has 64 letters, and 63 are allowed\n");
  EXPECT_EQ(problems_of("StatefulSet", 60, "spec.ordinals", R"({"start":100})"),
            "the name of its last pod, " + sixty + "-100, has 64 letters, and 63 are allowed\n");
  EXPECT_EQ(problems_of("Deployment", 242, "spec.replicas", "3"), "");
  EXPECT_EQ(problems_of("Deployment", 243, "spec.replicas", "3"),
            "the name of a ReplicaSet of it has 254 letters, and 253 are allowed\n");
}

TEST(Workloads, what_makes_no_sense_is_refused) {
  struct Row {
    std::string_view api_version, kind, base, path, value, problem;
  };
  const Row rows[] = {
      {"apps/v1", "Deployment", kDeployment, "", "", ""},
      {"apps/v1", "Deployment", kDeployment, "spec.selector", "{}",
       "spec.selector: Invalid value: {}: empty selector is invalid for deployment\n"},
      {"apps/v1", "ReplicaSet", kDeployment, "spec.template.metadata.labels", R"({"app":"db"})",
       "spec.template.metadata.labels: Invalid value: {\"app\":\"db\"}: `selector` does not match template `labels`\n"},
      {"apps/v1", "Deployment", kDeployment, "spec.template.spec.restartPolicy", R"("Never")",
       "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: \"Always\"\n"},
      {"apps/v1", "Deployment", kDeployment, "spec.replicas", "-1",
       "spec.replicas: Invalid value: -1: must be greater than or equal to 0\n"},
      {"apps/v1", "Deployment", kDeployment, "spec.strategy.rollingUpdate", R"({"maxSurge":0,"maxUnavailable":0})",
       "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0\n"},
      {"apps/v1", "Deployment", kDeployment, "spec.strategy", R"({"type":"Recreate","rollingUpdate":{}})",
       "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'\n"},
      {"apps/v1", "Deployment", kDeployment, "spec.minReadySeconds", "600",
       "spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds\n"},
      {"apps/v1", "Deployment", kDeployment, "spec.template.spec.containers", "[]",
       "spec.template.spec.containers: Required value\n"},
      {"batch/v1", "Job", kJob, "", "", ""},
      {"batch/v1", "Job", kJob, "spec.template.spec.restartPolicy", R"("Always")",
       "spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\"\n"},
      {"batch/v1", "Job", kJob, "spec", R"({"parallelism":2,"completionMode":"Indexed","template":{"spec":
          {"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}})",
       "spec.completions: Required value: when completion mode is Indexed\n"},
      {"batch/v1", "Job", kJob, "spec.scheduling", R"({"schedulingPolicy":{"gang":{}},"disruptionMode":{"all":{}}})",
       ""},
      {"batch/v1", "Job", kJob, "spec.scheduling", R"({"schedulingPolicy":{"gang":{"minCount":2}}})",
       "spec.scheduling.schedulingPolicy.gang.minCount: Invalid value: 2: must not be greater than parallelism (1)\n"},
      {"batch/v1", "Job", kJob, "spec.scheduling", R"({"schedulingPolicy":{}})",
       "spec.scheduling.schedulingPolicy: Required value: must specify one of: `basic`, `gang`\n"},
      {"batch/v1", "Job", kJob, "spec.scheduling", R"({"disruptionMode":{"all":{}}})",
       "spec.scheduling.disruptionMode: Invalid value: {\"all\":{}}: the disruptionMode `all` is not supported with "
       "the "
       "Basic scheduling policy\n"},
      {"batch/v1", "Job", kJob, "spec.scheduling", R"({"resourceClaims":[{"name":"c"}]})",
       "spec.scheduling.resourceClaims: Forbidden: claims of groups are not made here\n"},
      {"batch/v1", "Job", kJob, "spec.managedBy", R"("example.com/me")", ""},
      {"batch/v1", "Job", kJob, "spec.managedBy", R"("example.com/a b")",
       "spec.managedBy: Invalid value: \"example.com/a b\": Invalid path (regex used for validation is "
       "'[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')\n"},
      {"batch/v1", "Job", kJob, "spec.successPolicy", R"({"rules":[]})",
       "spec.successPolicy: Invalid value: {\"rules\":[]}: requires indexed completion mode\n"},
      {"batch/v1", "Job", kJob, "spec.maxFailedIndexes", "1",
       "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified\n"
       "spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode\n"}};
  for (const Row& row : rows) {
    const api::KindInfo& of = kind(row.api_version, row.kind);
    std::vector<base::Cause> causes;
    check_core_create(of, made(of, row.base, row.path, row.value), causes);
    EXPECT_EQ(problems(causes), row.problem) << row.path << " " << row.value;
  }
}

// The last index has the longest host name.
TEST(Workloads, an_indexed_job_needs_room_for_its_last_index) {
  const api::KindInfo& of = kind("batch/v1", "Job");
  const std::string name(61, 'j');
  for (const auto& [completions, problem] :
       {std::pair{10, std::string()},
        {11, "metadata.name: Invalid value: \"" + name +
                 "-10\": will not able to create pod with invalid DNS label: must be no more than 63 characters\n"}}) {
    Json job = made(of, kJob, "", "");
    job.edit("metadata").set("name", name);
    job.edit("spec").set("completionMode", "Indexed");
    job.edit("spec").set("completions", completions);
    std::vector<base::Cause> causes;
    check_core_create(of, job, causes);
    EXPECT_EQ(problems(causes), problem);
  }
}

TEST(Workloads, what_is_fixed_stays) {
  struct Row {
    std::string_view api_version, kind, base, path, value, field;
  };
  const Row rows[] = {{"apps/v1", "Deployment", kDeployment, "spec.replicas", "5", ""},
                      {"apps/v1", "StatefulSet", kDeployment, "spec.serviceName", R"("s")", "spec"},
                      {"batch/v1", "Job", kJob, "spec.parallelism", "3", ""},
                      {"batch/v1", "Job", kJob, "spec.completions", "3", "spec.completions"},
                      {"batch/v1", "Job", kJob, "spec.template.spec.hostname", R"("h")", "spec.template"}};
  for (const Row& row : rows) {
    const api::KindInfo& of = kind(row.api_version, row.kind);
    std::vector<base::Cause> causes;
    Json before = made(of, row.base, "", "");
    Json after = before;
    const Json changed = made(of, row.base, row.path, row.value);
    after.set("spec", changed["spec"]);
    if (row.path == "spec.parallelism") after.edit("spec").set("completions", before["spec"]["completions"]);
    check_core_update(of, "", before, after, causes);
    EXPECT_EQ(causes.empty() ? "" : causes.front().field, row.field) << row.path << problems(causes);
  }
}

TEST(Workloads, an_indexed_job_names_indexes_that_it_has) {
  struct Row {
    const char *spec, *problem;
  };
  const api::KindInfo& of = kind("batch/v1", "Job");
  for (const Row& row :
       {Row{"backoffLimitPerIndex: 1, maxFailedIndexes: 4", ""},
        Row{"successPolicy: {rules: [{succeededIndexes: '0-1,3'}, {succeededCount: 4}]}", ""},
        Row{"maxFailedIndexes: 5, backoffLimitPerIndex: 1",
            "spec.maxFailedIndexes: Invalid value: 5: must be less than or equal to completions\n"},
        Row{"backoffLimitPerIndex: -1",
            "spec.backoffLimitPerIndex: Invalid value: -1: must be greater than or equal to 0\n"},
        Row{"completions: 100001, backoffLimitPerIndex: 1",
            "spec.maxFailedIndexes: Required value: must be specified when completions is above 100000\n"},
        Row{"successPolicy: {rules: []}",
            "spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is "
            "specified\n"},
        Row{"successPolicy: {rules: [{}]}",
            "spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be "
            "specified\n"},
        Row{"successPolicy: {rules: [{succeededCount: 5}]}",
            "spec.successPolicy.rules[0].succeededCount: Invalid value: 5: must be less than or equal to 4 (the number "
            "of specified completions)\n"},
        Row{"successPolicy: {rules: [{succeededIndexes: '0,2', succeededCount: 3}]}",
            "spec.successPolicy.rules[0].succeededCount: Invalid value: 3: must be less than or equal to 2 (the number "
            "of indexes in the specified succeededIndexes field)\n"},
        Row{"successPolicy: {rules: [{succeededIndexes: '4'}]}",
            "spec.successPolicy.rules[0].succeededIndexes: Invalid value: \"4\": error parsing succeededIndexes: too "
            "large index: \"4\"\n"},
        Row{"successPolicy: {rules: [{succeededIndexes: '2-1'}]}",
            "spec.successPolicy.rules[0].succeededIndexes: Invalid value: \"2-1\": error parsing succeededIndexes: "
            "non-increasing order, previous: 2, current: 1\n"},
        Row{"successPolicy: {rules: [{succeededIndexes: '1,'}]}",
            "spec.successPolicy.rules[0].succeededIndexes: Invalid value: \"1,\": error parsing succeededIndexes: "
            "cannot convert string to integer for index: \"\"\n"}}) {
    Json job = made(of, kJob, "", "");
    job.edit("spec").set("completionMode", "Indexed");
    job.edit("spec").set("completions", 4);
    const Json more = *api::parse_yaml(base::format("{{{}}}", row.spec));
    for (const Json::Member& member : more.members()) job.edit("spec").set(member.name(), member.value);
    std::vector<base::Cause> causes;
    check_core_create(of, job, causes);
    EXPECT_EQ(problems(causes), row.problem) << row.spec;
  }
}

TEST(Workloads, only_the_minimum_of_a_job_s_gang_may_change) {
  struct Row {
    const char *before, *after, *field;
  };
  const api::KindInfo& of = kind("batch/v1", "Job");
  for (const Row& row :
       {Row{R"({"schedulingPolicy":{"gang":{}}})", R"({"schedulingPolicy":{"gang":{"minCount":1}}})", ""},
        Row{R"({"schedulingPolicy":{"gang":{}}})", R"({"schedulingPolicy":{"basic":{}}})",
            "spec.scheduling.schedulingPolicy"},
        Row{R"({"schedulingPolicy":{"gang":{}}})", "{}", "spec.scheduling.schedulingPolicy"},
        Row{"{}", "null", "spec.scheduling"}, Row{"null", "{}", "spec.scheduling"},
        Row{R"({"schedulingPolicy":{"gang":{}}})", R"({"schedulingPolicy":{"gang":{}},"disruptionMode":{"single":{}}})",
            "spec.scheduling.disruptionMode"}}) {
    Json before = made(of, kJob, "", "");
    Json after = before;
    before.edit("spec").set("scheduling", *api::parse_json(row.before));
    after.edit("spec").set("scheduling", *api::parse_json(row.after));
    std::vector<base::Cause> causes;
    check_core_update(of, "", before, after, causes);
    EXPECT_EQ(causes.empty() ? "" : causes.front().field, row.field) << row.after << problems(causes);
  }
}

// A group may grow and shrink with its Job.
TEST(Workloads, only_the_minimum_of_a_native_group_may_change) {
  struct Row {
    const char *kind, *before, *after, *field;
  };
  for (const Row& row :
       {Row{"PodGroup", R"({"schedulingPolicy":{"gang":{"minCount":2}}})",
            R"({"schedulingPolicy":{"gang":{"minCount":3}}})", ""},
        Row{"PodGroup", R"({"schedulingPolicy":{"gang":{"minCount":2}}})", R"({"schedulingPolicy":{"basic":{}}})",
            "spec.schedulingPolicy"},
        Row{"Workload", R"({"podGroupTemplates":[{"name":"a","schedulingPolicy":{"gang":{"minCount":2}}}]})",
            R"({"podGroupTemplates":[{"name":"a","schedulingPolicy":{"gang":{"minCount":3}}}]})", ""},
        Row{"Workload", R"({"podGroupTemplates":[{"name":"a","schedulingPolicy":{"gang":{"minCount":2}}}]})",
            R"({"podGroupTemplates":[{"name":"b","schedulingPolicy":{"gang":{"minCount":2}}}]})",
            "spec.podGroupTemplates"}}) {
    std::vector<base::Cause> causes;
    const auto with = [](const char* spec) { return Json::object({{"spec", *api::parse_json(spec)}}); };
    check_core_update(kind("scheduling.k8s.io/v1beta1", row.kind), "", with(row.before), with(row.after), causes);
    EXPECT_EQ(causes.empty() ? "" : causes.front().field, row.field) << row.after << problems(causes);
  }
}

TEST(Workloads, a_job_at_rest_may_ask_for_something_else) {
  struct Row {
    std::string_view job, field;
  };
  const Row rows[] = {
      {R"({"spec":{"suspend":false}})", "spec.template"},
      {R"({"spec":{"suspend":true}})", ""},
      {R"({"spec":{"suspend":true},"status":{"startTime":"2026-01-01T00:00:00Z"}})", "spec.template"},
      {R"({"spec":{"suspend":true},"status":{"startTime":"2026-01-01T00:00:00Z","conditions":[{"type":"Suspended","status":"True"}]}})",
       ""},
      {R"({"spec":{"suspend":true},"status":{"active":1}})", "spec.template"},
  };
  const api::KindInfo& of = kind("batch/v1", "Job");
  for (const Row& row : rows) {
    Json before = made(of, kJob, "", "");
    before = api::apply_merge_patch(before, *api::parse_json(row.job));
    Json after = before;
    Json& spec = after.edit_path({"spec", "template", "spec"});
    spec.set("nodeSelector", Json::object({{"a", "b"}}));
    spec.edit("containers").edit(std::size_t{0}).edit_path({"resources", "requests"}).set("cpu", "1");
    after.edit("spec").erase("manualSelector");  // is not fixed
    std::vector<base::Cause> causes;
    check_core_update(of, "", before, after, causes);
    EXPECT_EQ(causes.empty() ? "" : causes.front().field, row.field) << row.job << problems(causes);
  }
}

// Sysctls of the host's namespaces were stored before they were refused.
TEST(Workloads, what_was_let_in_before_may_stay) {
  constexpr std::string_view kHost =
      R"({"hostNetwork":true,"securityContext":{"sysctls":[{"name":"net.core.somaxconn","value":"1"}]},
          "containers":[{"name":"c","image":"i"}]})";
  const api::KindInfo& of = kind("apps/v1", "Deployment");
  const Json plain = made(of, kDeployment, "", ""), host = made(of, kDeployment, "spec.template.spec", kHost);
  const auto problems_of = [&](const Json& before, const Json& after) {
    std::vector<base::Cause> causes;
    check_core_update(of, "", before, after, causes);
    return problems(causes);
  };
  constexpr const char* kRefused =
      "spec.template.spec.securityContext.sysctls[0].name: Invalid value: \"net.core.somaxconn\": may not be specified "
      "when 'hostNetwork' is true\n";
  EXPECT_EQ(problems_of(plain, host), kRefused);
  EXPECT_EQ(problems_of(host, host), "");
}

TEST(Workloads, a_job_selects_its_own_pods) {
  const Json job = made(kind("batch/v1", "Job"), kJob, "", "");
  EXPECT_EQ(api::selector_text(job["spec"]["selector"]), "batch.kubernetes.io/controller-uid=u");
  EXPECT_EQ(api::selector_text(job["spec"]["template"]["metadata"]["labels"]),
            "batch.kubernetes.io/controller-uid=u,batch.kubernetes.io/job-name=pi,controller-uid=u,job-name=pi");
  EXPECT_EQ(job["spec"]["completions"].as_int(), 1);
  EXPECT_EQ(job["spec"]["backoffLimit"].as_int(), 6);
}

TEST(Workloads, a_template_from_protobuf_is_as_one_from_json) {
  const api::KindInfo& of = kind("apps/v1", "Deployment");
  const Json zeros = made(of, kDeployment, "spec.template.spec.containers",
                          R"([{"name": "c", "image": "i", "stdin": false, "stdinOnce": false, "tty": false}])");
  EXPECT_EQ(zeros, made(of, kDeployment, "", ""));
}

TEST(Workloads, selectors_as_text) {
  EXPECT_EQ(api::selector_text(*api::parse_json(R"({"matchLabels": {"b": "2", "a": "1"}, "matchExpressions": [
      {"key": "c", "operator": "In", "values": ["x", "y"]}, {"key": "d", "operator": "DoesNotExist"}]})")),
            "a=1,b=2,c in (x,y),!d");
  EXPECT_EQ(api::selector_text(*api::parse_json(R"({"app": "web"})")), "app=web");
}

}  // namespace
}  // namespace apiserver

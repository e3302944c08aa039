// Labels of namespaces, and what becomes of pods, templates and namespaces that are written under them.
#include <gtest/gtest.h>

#include "apiserver/kinds/pods/pod_security_labels.h"
#include "apiserver/pipeline/api_for_tests.h"
#include "base/format.h"

namespace apiserver {
namespace {

using api::Json;
using base::Code;
using base::format;

Json json(std::string_view text) {
  auto parsed = api::parse_json(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : Json();
}

constexpr std::string_view kPrivileged = R"j({"containers": [{"name": "c", "image": "i",
    "securityContext": {"privileged": true}}]})j";
constexpr std::string_view kPlain = R"j({"containers": [{"name": "c", "image": "i"}]})j";
constexpr std::string_view kProblem = R"(privileged (container "c" must not set securityContext.privileged=true))";

struct Bench : ApiForTests {
  std::shared_ptr<std::vector<std::string>> audit_annotations = std::make_shared<std::vector<std::string>>();

  base::Result<Answer> call(Verb verb, const api::ResourceId& id, Json body, std::string subresource = "") {
    Request r;
    r.verb = verb;
    r.kind = api::find_kind(id);
    r.resource = static_cast<std::uint32_t>(r.kind - api::all_kinds().data());
    if (r.kind->namespaced) r.ns = "default";
    r.subresource = std::move(subresource);
    if (verb != Verb::kCreate) r.name = api::name_of(body);
    r.body = std::move(body);
    r.user = {"anna", {"system:masters"}};
    r.decided_annotations = audit_annotations;
    audit_annotations->clear();
    std::optional<base::Result<Answer>> answer;
    api.call(std::move(r), [&](base::Result<Answer> a) { answer.emplace(std::move(a)); });
    env.settle();
    EXPECT_TRUE(answer.has_value());
    return *std::move(answer);
  }
  // `labels`: R"("enforce": "baseline")".
  base::Result<Answer> label(std::string_view labels, const char* name = "default", Verb verb = Verb::kPatch) {
    Json all = Json::object();
    const Json given = json(format("{{{}}}", labels));
    for (const Json::Member& one : given.members())
      all.set("pod-security.kubernetes.io/" + std::string(one.name()), one.value);
    return call(verb, api::resources::kNamespaces,
                Json::object({{"metadata", Json::object({{"name", name}, {"labels", all}})}}));
  }
  base::Result<Answer> pod(const char* name, std::string_view spec) {
    return call(Verb::kCreate, api::resources::kPods,
                json(format(R"({{"metadata": {{"name": "{}"}}, "spec": {}}})", name, spec)));
  }
};

std::string warnings_of(const base::Result<Answer>& answer) {
  if (!answer.ok()) return answer.error().message;
  std::string all;
  for (const std::string& one : answer->warnings) all += (all.empty() ? "" : "\n") + one;
  return all;
}

TEST(PodSecurityLabels, say_which_standards_hold) {
  struct Case {
    const char* labels;
    const char* expected;  // enforce, audit, warn
    const char* problems;
  };
  const Case cases[] = {
      {"{}", "privileged:latest privileged:latest privileged:latest", ""},
      {R"({"enforce": "baseline"})", "baseline:latest privileged:latest baseline:latest", ""},
      {R"({"enforce": "baseline", "enforce-version": "v1.30"})", "baseline:v1.30 privileged:latest baseline:v1.30", ""},
      {R"({"enforce": "baseline", "warn": "restricted", "audit": "restricted", "audit-version": "v1.0"})",
       "baseline:latest restricted:v1.0 restricted:latest", ""},
      {R"({"enforce": "restricted", "warn": "privileged"})", "restricted:latest privileged:latest privileged:latest",
       ""},
      {R"({"enforce": "Baseline"})", "restricted:latest privileged:latest privileged:latest",
       R"(metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "Baseline": must be one of privileged, )"
       "baseline, restricted\n"},
      {R"({"audit": "", "warn": "x"})", "privileged:latest privileged:latest privileged:latest",
       R"(metadata.labels[pod-security.kubernetes.io/audit]: Invalid value: "": must be one of privileged, baseline, )"
       "restricted\n"
       R"(metadata.labels[pod-security.kubernetes.io/warn]: Invalid value: "x": must be one of privileged, baseline, )"
       "restricted\n"},
      {R"({"warn": "baseline", "warn-version": "1.30"})", "privileged:latest privileged:latest baseline:latest",
       R"(metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: "1.30": must be "latest" or "v1.x")"
       "\n"},
  };
  for (const Case& one : cases) {
    Json labels = Json::object();
    const Json given = json(one.labels);
    for (const Json::Member& member : given.members())
      labels.set("pod-security.kubernetes.io/" + std::string(member.name()), member.value);
    std::vector<base::Cause> causes;
    const SecurityPolicy policy = read_security_policy(labels, causes);
    EXPECT_EQ(policy.enforce.text() + " " + policy.audit.text() + " " + policy.warn.text(), one.expected) << one.labels;
    std::string problems;
    for (const base::Cause& cause : causes) problems += cause.field + ": " + cause.message + "\n";
    EXPECT_EQ(problems, one.problems) << one.labels;
  }
  for (const char* version : {"v1.", "v1.01", "v1.-1", "v1.+1", "v1.1a", "v2.1", "v1.2147483647", "v1.99999999999"}) {
    std::vector<base::Cause> causes;
    read_security_policy(Json::object({{"pod-security.kubernetes.io/enforce-version", version}}), causes);
    EXPECT_EQ(causes.size(), 1u) << version;
  }
}

TEST(PodSecurityLabels, are_checked_where_they_are_written) {
  Bench bench;
  const auto refused = bench.label(R"("enforce": "none")", "fresh", Verb::kCreate);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kInvalid);
  EXPECT_EQ(
      refused.error().message,
      R"(Namespace "fresh" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "none": )"
      "must be one of privileged, baseline, restricted");
  EXPECT_NE(warnings_of(bench.label(R"("warn-version": "1")")).find(R"(must be "latest" or "v1.x")"),
            std::string::npos);
  EXPECT_EQ(warnings_of(bench.label(R"("enforce": "baseline", "enforce-version": "v1.36")", "fresh", Verb::kCreate)),
            "");
}

TEST(PodSecurityLabels, refuse_pods) {
  Bench bench;
  EXPECT_EQ(warnings_of(bench.pod("before", kPrivileged)), "");
  ASSERT_TRUE(bench.label(R"("enforce": "baseline", "audit": "baseline")").ok());
  const auto refused = bench.pod("p", kPrivileged);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kForbidden);
  EXPECT_EQ(refused.error().message,
            format(R"(pods "p" is forbidden: violates PodSecurity "baseline:latest": {})", kProblem));
  EXPECT_EQ(refused.error().name, "p");
  EXPECT_EQ(
      *bench.audit_annotations,
      std::vector<std::string>{format(
          R"(pod-security.kubernetes.io/audit-violations=would violate PodSecurity "baseline:latest": {})", kProblem)});
  EXPECT_EQ(warnings_of(bench.pod("plain", kPlain)), "");
  EXPECT_TRUE(bench.audit_annotations->empty());
  // A pod that is there already changes as before, but for what it runs.
  EXPECT_EQ(warnings_of(bench.call(Verb::kPatch, api::resources::kPods,
                                   json(R"({"metadata": {"name": "before", "labels": {"a": "b"}}})"))),
            "");
  Json image = json(R"({"metadata": {"name": "before"}})");
  image.set("spec", json(format(R"({{"containers": [{{"name": "c", "image": "other",
      "securityContext": {{"privileged": true}}}}]}})")));
  EXPECT_NE(warnings_of(bench.call(Verb::kPatch, api::resources::kPods, image)).find("violates PodSecurity"),
            std::string::npos);
}

TEST(PodSecurityLabels, refuse_containers_that_join_a_pod) {
  Bench bench;
  ASSERT_TRUE(bench.label(R"("enforce": "baseline")").ok());
  ASSERT_TRUE(bench.pod("p", kPlain).ok());
  const auto join = [&](const char* context) {
    return bench.call(Verb::kPatch, api::resources::kPods,
                      json(format(R"({{"metadata": {{"name": "p"}}, "spec": {{"ephemeralContainers": [{{"name": "e",
                        "image": "i", "securityContext": {}}}]}}}})",
                                  context)),
                      "ephemeralcontainers");
  };
  EXPECT_EQ(warnings_of(join(R"({"privileged": true})")),
            R"(pods "p" is forbidden: violates PodSecurity "baseline:latest": privileged (container "e" must not set )"
            "securityContext.privileged=true)");
  EXPECT_EQ(warnings_of(join(R"({"privileged": false})")), "");
}

TEST(PodSecurityLabels, warn_of_templates) {
  Bench bench;
  ASSERT_TRUE(bench.label(R"("enforce": "baseline", "audit": "baseline")").ok());
  const std::string meta = R"("metadata": {"name": "w"})";
  const std::string pod = format(R"("template": {{"metadata": {{"labels": {{"a": "b"}}}}, "spec": {}}})", kPrivileged);
  const std::string once = format(R"("template": {{"spec": {{"restartPolicy": "Never", {}}})", kPrivileged.substr(1));
  const std::string selected = R"("selector": {"matchLabels": {"a": "b"}}, )" + pod;
  struct Case {
    api::ResourceId id;
    std::string body;
    const char* whose;
  };
  const Case cases[] = {
      {{"apps", "v1", "deployments"}, selected, ""},
      {{"apps", "v1", "replicasets"}, selected, ""},
      {{"apps", "v1", "daemonsets"}, selected, ""},
      {{"apps", "v1", "statefulsets"}, R"("serviceName": "s", )" + selected, ""},
      {{"", "v1", "replicationcontrollers"}, R"("selector": {"a": "b"}, )" + pod, ""},
      {{"batch", "v1", "jobs"}, once, ""},
      {{"batch", "v1", "cronjobs"}, R"("schedule": "* * * * *", "jobTemplate": {"spec": {)" + once + "}}", ""},
      {api::resources::kJobs, R"("tasks": [{"name": "t", "replicas": 1, )" + once + "}]", "task \"t\" "},
  };
  for (const Case& one : cases) {
    const auto answer = bench.call(Verb::kCreate, one.id, json(format("{{{}, \"spec\": {{{}}}}}", meta, one.body)));
    ASSERT_TRUE(answer.ok()) << one.id.plural << ": " << answer.error().message;
    EXPECT_EQ(warnings_of(answer), format(R"({}would violate PodSecurity "baseline:latest": {})", one.whose, kProblem))
        << one.id.plural;
    EXPECT_EQ(bench.audit_annotations->size(), 1u) << one.id.plural;
  }
}

TEST(PodSecurityLabels, tell_of_pods_that_are_there) {
  Bench bench;
  for (const char* name : {"b", "a", "d"}) ASSERT_TRUE(bench.pod(name, kPrivileged).ok());
  ASSERT_TRUE(bench.pod("plain", kPlain).ok());
  EXPECT_EQ(warnings_of(bench.label(R"("warn": "restricted")")), "");
  EXPECT_EQ(warnings_of(bench.label(R"("enforce": "baseline")")),
            "existing pods in namespace \"default\" violate the new PodSecurity enforce level \"baseline:latest\"\n"
            "a (and 2 other pods): privileged");
  EXPECT_EQ(warnings_of(bench.label(R"("warn": "baseline")")), "");
  EXPECT_EQ(warnings_of(bench.label(R"("enforce": "privileged")")), "");
  for (int i = 0; i < 600; ++i) ASSERT_TRUE(bench.pod(format("m{}", i).c_str(), kPlain).ok());
  EXPECT_EQ(warnings_of(bench.label(R"("enforce": "baseline")")),
            "new PodSecurity enforce level only checked against the first 500 of 604 existing pods\n"
            "existing pods in namespace \"default\" violate the new PodSecurity enforce level \"baseline:latest\"\n"
            "a (and 2 other pods): privileged");
}

// Its refusal would be many times as large as what was sent.
TEST(PodSecurityLabels, bound_what_they_say) {
  Bench bench;
  ASSERT_TRUE(bench.label(R"("enforce": "restricted", "audit": "restricted")").ok());
  Json containers = Json::array();
  for (int i = 0; i < 2000; ++i)
    containers.push_back(Json::object({{"name", format("container-with-a-long-name-{}", i)}, {"image", "i"}}));
  const auto refused = bench.call(Verb::kCreate, api::resources::kPods,
                                  Json::object({{"metadata", Json::object({{"name", "p"}})},
                                                {"spec", Json::object({{"containers", std::move(containers)}})}}));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kForbidden);
  EXPECT_LT(refused.error().message.size(), 4000u);
  ASSERT_EQ(bench.audit_annotations->size(), 1u);
  EXPECT_LT(bench.audit_annotations->front().size(), 4000u);
}

}  // namespace
}  // namespace apiserver

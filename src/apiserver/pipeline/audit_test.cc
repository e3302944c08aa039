// Which rule decides, and what an event says.
#include "apiserver/pipeline/audit.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace apiserver {
namespace {

using api::Json;

AuditPolicy policy(const std::string& rules) {
  const auto read = read_audit_policy(
      *api::parse_json(base::format(R"({{"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":[{}]}})", rules)));
  EXPECT_TRUE(read.ok()) << rules;
  return read.ok() ? *read : AuditPolicy();
}

TEST(Audit, the_first_rule_that_fits_decides) {
  struct Row {
    const char* rules;
    Attributes of;
    AuditLevel level;
  };
  const Attributes get{"get", "", "pods", "", "n", "p", ""}, log{"get", "", "pods", "log", "n", "p", ""},
      node{"list", "", "nodes", "", "", "", ""}, path{"get", "", "", "", "", "", "/healthz/x"},
      secret{"create", "", "secrets", "", "n", "", ""}, token{"create", "", "serviceaccounts", "token", "n", "s", ""};
  const Row rows[] = {
      {R"({"level":"Request"})", get, AuditLevel::kRequest},
      {R"({"level":"None","verbs":["get"]},{"level":"Metadata"})", get, AuditLevel::kNone},
      {R"({"level":"None","users":["ann"]},{"level":"Metadata"})", get, AuditLevel::kMetadata},
      {R"({"level":"Request","userGroups":["dev"]})", get, AuditLevel::kRequest},
      {R"({"level":"Request","userGroups":["ops"]})", get, AuditLevel::kNone},
      {R"({"level":"Request","resources":[{"group":"","resources":["pods"]}]})", log, AuditLevel::kNone},
      {R"({"level":"Request","resources":[{"group":"","resources":["pods/*"]}]})", log, AuditLevel::kRequest},
      {R"({"level":"Request","resources":[{"group":"","resources":["*/log"]}]})", log, AuditLevel::kRequest},
      {R"({"level":"Request","resources":[{"group":""}]})", log, AuditLevel::kRequest},
      {R"({"level":"Request","resources":[{"group":"apps"}]})", get, AuditLevel::kNone},
      {R"({"level":"Request","resources":[{"resources":["pods"],"resourceNames":["q"]}]})", get, AuditLevel::kNone},
      {R"({"level":"Request","namespaces":["n"]})", get, AuditLevel::kRequest},
      {R"({"level":"Request","namespaces":["n"]})", node, AuditLevel::kNone},
      {R"({"level":"Request","namespaces":[""]})", node, AuditLevel::kRequest},
      {R"({"level":"Request","namespaces":["n"]})", path, AuditLevel::kNone},
      {R"({"level":"Request","nonResourceURLs":["/healthz*"]})", path, AuditLevel::kRequest},
      {R"({"level":"Request","nonResourceURLs":["/healthz*"]})", get, AuditLevel::kNone},
      {R"({"level":"RequestResponse"})", secret, AuditLevel::kMetadata},
      {R"({"level":"RequestResponse"})", token, AuditLevel::kMetadata},
      {R"({"level":"Request","omitStages":["ResponseComplete"]})", get, AuditLevel::kNone},
      {R"({"level":"Request","omitStages":["RequestReceived"]})", get, AuditLevel::kRequest},
  };
  for (const Row& row : rows)
    EXPECT_EQ(policy(row.rules).choose({"jane", {"dev"}}, row.of).level, row.level) << row.rules << row.of.resource;
}

TEST(Audit, a_policy_that_makes_no_sense_is_named) {
  const auto problem_of = [](const std::string& text) {
    const auto read = read_audit_policy(*api::parse_json(text));
    return read.ok() ? "" : read.error().message;
  };
  const auto rules = [&problem_of](const std::string& list) {
    return problem_of(R"({"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":[)" + list + "]}");
  };
  EXPECT_EQ(problem_of(R"({"kind":"Policy","rules":[]})"),
            R"(the policy: it is "Policy" of null, not Policy of "audit.k8s.io/v1")");
  EXPECT_EQ(rules(""), "rules: there are none");
  EXPECT_EQ(rules(R"({"level":"All"})"), "rules[0].level: \"All\" is none of None, Metadata, Request, RequestResponse");
  EXPECT_EQ(rules(R"({"level":"None","verb":["get"]})"), "rules[0]: unknown field \"verb\"");
  // Taken for no list, these would be rules of everybody's requests.
  EXPECT_EQ(rules(R"({"level":"None","users":"ann"})"), "rules[0].users: \"ann\" is not a list");
  EXPECT_EQ(rules(R"({"level":"None","verbs":["get",5]})"), "rules[0].verbs: 5 is not a text");
  EXPECT_EQ(rules(R"({"level":"None","resources":{"group":""}})"), R"(rules[0].resources: {"group":""} is not a list)");
  EXPECT_EQ(rules(R"({"level":"None","resources":[{"group":5}]})"), "rules[0].resources.group: 5 is not a text");
  EXPECT_EQ(rules(R"({"level":"None","resources":[{"resources":"pods"}]})"),
            "rules[0].resources.resources: \"pods\" is not a list");
  EXPECT_EQ(rules(R"({"level":"None","omitStages":"Panic"})"), "rules[0].omitStages: \"Panic\" is not a list");
  EXPECT_EQ(rules(R"({"level":"None","omitManagedFields":"no"})"),
            "rules[0].omitManagedFields: \"no\" is neither true nor false");
  EXPECT_EQ(problem_of(R"({"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":"x"})"),
            "rules: \"x\" is not a list");
  EXPECT_EQ(rules(R"({"level":"None","omitStages":["End"]})"), "rules[0].omitStages: \"End\" is not a stage");
  EXPECT_EQ(rules(R"({"level":"None","namespaces":["n"],"nonResourceURLs":["/x"]})"),
            "rules[0].nonResourceURLs: rules cannot apply to both regular resources and non-resource URLs");
}

TEST(Audit, sources_are_those_of_proxies_and_the_peer) {
  using Ips = std::vector<std::string>;
  const struct {
    const char *forwarded_for, *real_ip, *peer;
    Ips expected;
  } rows[] = {
      {"", "", "127.0.0.1", {"127.0.0.1"}},
      {"", "", "", {}},
      {"10.0.0.7", "", "127.0.0.1", {"10.0.0.7", "127.0.0.1"}},
      {"10.0.0.7, 2001:db8::1,10.0.0.8", "10.0.0.9", "::1", {"10.0.0.7", "2001:db8::1", "10.0.0.8", "::1"}},
      {"10.0.0.7, 127.0.0.1", "", "127.0.0.1", {"10.0.0.7", "127.0.0.1"}},
      {"", "10.0.0.9", "127.0.0.1", {"10.0.0.9", "127.0.0.1"}},
      {"unknown,,{\"a\":1},10.0.0.300", "x", "127.0.0.1", {"127.0.0.1"}},
  };
  for (const auto& row : rows)
    EXPECT_EQ(source_ips({row.forwarded_for, row.real_ip}, row.peer), row.expected) << row.forwarded_for;
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "10.0.0.7,";
  EXPECT_EQ(source_ips({many, ""}, "127.0.0.1").size(), 33u);
}

TEST(Audit, an_event_says_who_asked_what_and_how_it_ended) {
  AuditRecord record{.choice = {AuditLevel::kRequest, true},
                     .id = "1",
                     .uri = "/api/v1/namespaces/n/pods",
                     .source_ips = {"10.0.0.7", "127.0.0.1"},
                     .user_agent = "kubectl",
                     .user = {"jane", {"dev"}},
                     .of = {"create", "", "pods", "", "n", "", ""},
                     .version = "v1",
                     .code = 201,
                     .request_object = *api::parse_json(R"({"metadata":{"name":"p","managedFields":[]}})"),
                     .response_object = *api::parse_json(R"({"metadata":{"name":"p","uid":"U"}})"),
                     .audit_annotations = {"policy/key=value"}};
  EXPECT_EQ(
      audit_event(record).dump(),
      R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","auditID":"1","stage":"ResponseComplete",)"
      R"("requestURI":"/api/v1/namespaces/n/pods","verb":"create","user":{"username":"jane","groups":["dev"]},)"
      R"("sourceIPs":["10.0.0.7","127.0.0.1"],"userAgent":"kubectl","objectRef":{"resource":"pods","namespace":"n","name":"p","uid":"U","apiVersion":"v1"},)"
      R"("responseStatus":{"metadata":{},"code":201},"annotations":{"authorization.k8s.io/decision":"allow",)"
      R"("policy/key":"value"},"requestObject":{"metadata":{"name":"p"}},)"
      R"("requestReceivedTimestamp":"1970-01-01T00:00:00.000000Z","stageTimestamp":"1970-01-01T00:00:00.000000Z"})");
}

}  // namespace
}  // namespace apiserver

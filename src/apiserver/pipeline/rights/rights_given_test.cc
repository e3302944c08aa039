// Writers of objects that give rights, or read for them, must have those rights.
#include <gtest/gtest.h>

#include "api/json/json.h"
#include "api/meta/resource.h"
#include "api/policies/policy.h"
#include "apiserver/pipeline/api_for_tests.h"
#include "base/format.h"

namespace apiserver {
namespace {

using api::Json;

const api::ResourceId kClusterRoles{"rbac.authorization.k8s.io", "v1", "clusterroles"};
const api::ResourceId kClusterBindings{"rbac.authorization.k8s.io", "v1", "clusterrolebindings"};

struct Bench : ApiForTests {
  // Jane writes roles and policies, and reads ConfigMaps.
  Bench() {
    EXPECT_EQ(as("anna", Verb::kCreate, kClusterRoles, R"j({"metadata": {"name": "writes"}, "rules": [
      {"apiGroups": ["*"], "resources": ["clusterroles", "validatingadmissionpolicies",
        "validatingadmissionpolicybindings"], "verbs": ["get", "create", "update", "patch"]},
      {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]})j"),
              "");
    EXPECT_EQ(as("anna", Verb::kCreate, kClusterBindings, R"j({"metadata": {"name": "writes"}, "roleRef":
      {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "writes"}, "subjects":
      [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "jane"}]})j"),
              "");
    EXPECT_EQ(as("anna", Verb::kCreate, kClusterRoles, R"j({"metadata": {"name": "all"}, "rules": [
      {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]})j"),
              "");
  }
  // The refusal; empty: it is taken.
  std::string as(const std::string& user, Verb verb, const api::ResourceId& id, std::string_view body) {
    Request r;
    r.verb = verb;
    r.kind = api::find_kind(id);
    r.resource = static_cast<std::uint32_t>(r.kind - api::all_kinds().data());
    r.body = *api::parse_json(body);
    r.default_manager = "test";
    r.user = {user, {}};
    if (user == "anna") r.user.groups = {"system:masters"};
    if (verb != Verb::kCreate) r.name = api::name_of(r.body);
    if (verb == Verb::kPatch) r.patch_type = PatchType::kMerge;
    std::string outcome = "no answer";
    api.call(std::move(r), [&](base::Result<Answer> answer) { outcome = answer.ok() ? "" : answer.error().message; });
    env.settle();
    return outcome;
  }
};

// A label can make a role part of another one that gathers by labels.
TEST(RightsGiven, a_role_is_labelled_by_who_has_its_rights) {
  Bench bench;
  const char* label =
      R"j({"metadata": {"name": "all", "labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}}})j";
  EXPECT_NE(bench.as("jane", Verb::kPatch, kClusterRoles, label).find("is attempting to grant RBAC permissions"),
            std::string::npos);
  EXPECT_EQ(
      bench.as("jane", Verb::kPatch, kClusterRoles, R"j({"metadata": {"name": "all", "finalizers": ["a.b/c"]}})j"), "");
  EXPECT_EQ(bench.as("anna", Verb::kPatch, kClusterRoles, label), "");
}

TEST(RightsGiven, parameters_of_policies_are_read_by_who_may_get_them) {
  const auto policy = [](std::string_view name, std::string_view kind) {
    return base::format(R"j({{"metadata": {{"name": "{}"}}, "spec": {{"paramKind": {{"apiVersion": "v1", "kind": "{}"}},
      "matchConstraints": {{"resourceRules": [{{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
        "resources": ["pods"]}}]}}, "validations": [{{"expression": "false"}}]}}}})j",
                        name, kind);
  };
  const auto binding = [](std::string_view name, std::string_view of) {
    return base::format(R"j({{"metadata": {{"name": "{}"}}, "spec": {{"policyName": "{}", "validationActions": ["Deny"],
      "paramRef": {{"name": "x", "namespace": "kube-system", "parameterNotFoundAction": "Deny"}}}}}})j",
                        name, of);
  };
  const std::string refused = "permission on the object referenced by";
  Bench bench;
  const auto& policies = api::policies::kValidatingPolicies;
  const auto& bindings = api::policies::kValidatingBindings;
  EXPECT_NE(bench.as("jane", Verb::kCreate, policies, policy("secret", "Secret")).find(refused), std::string::npos);
  EXPECT_EQ(bench.as("jane", Verb::kCreate, policies, policy("map", "ConfigMap")), "");
  EXPECT_EQ(bench.as("anna", Verb::kCreate, policies, policy("secret", "Secret")), "");
  EXPECT_NE(bench.as("jane", Verb::kCreate, bindings, binding("a", "secret")).find(refused), std::string::npos);
  EXPECT_NE(bench.as("jane", Verb::kCreate, bindings, binding("a", "later")).find(refused), std::string::npos);
  EXPECT_EQ(bench.as("jane", Verb::kCreate, bindings, binding("a", "map")), "");
}

}  // namespace
}  // namespace apiserver

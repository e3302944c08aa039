// Profiles against the specification (kubeflow.md 5.1), line by line.
#include "controllers/notebooks/profile.h"

#include <gtest/gtest.h>

#include "api/kubeflow/v1/profile.h"
#include "base/format.h"
#include "controllers/framework/trial_for_tests.h"
#include "controllers/notebooks/profile_objects.h"

namespace controllers::notebooks {
namespace {

using api::Json;
namespace resources = api::resources;

Json profile_of(std::string_view patch = "{}") {
  Json profile = *api::parse_json(R"({"apiVersion": "kubeflow.org/v1", "kind": "Profile", "metadata": {"name": "ann",
      "uid": "u"}, "spec": {"owner": {"kind": "User", "name": "ann@x"}, "resourceQuotaSpec": {"hard": {"cpu": "4"}}}})");
  merge_patch(profile, *api::parse_json(patch));
  return profile;
}

struct Bench {
  explicit Bench(std::string_view patch = "{}", Options options = {})
      : controller(make_profile_controller(std::move(options))) {
    world.use_indexes_of(*controller);
    world.put(resources::kProfiles, profile_of(patch));
  }
  void settle() {
    for (int i = 0; i < 6; ++i) world.turn(*controller, "ann");
  }
  const Json& conditions() const { return (*world.find(resources::kProfiles, "ann"))["status"]["conditions"]; }

  TestWorld world;
  std::unique_ptr<Controller> controller;
};

TEST(Profile, is_a_namespace_with_accounts_rights_and_limits) {
  Bench bench;
  bench.settle();
  const Json& space = *bench.world.find(resources::kNamespaces, "ann");
  EXPECT_EQ(space["metadata"]["annotations"].dump(), R"({"owner":"ann@x"})");
  EXPECT_EQ(space["metadata"]["labels"].sorted().dump(),
            R"({"app.kubernetes.io/part-of":"kubeflow-profile","istio-injection":"enabled",)"
            R"("katib.kubeflow.org/metrics-collector-injection":"enabled","pipelines.kubeflow.org/enabled":"true",)"
            R"("serving.kubeflow.org/inferenceservice":"enabled"})");
  EXPECT_EQ(api::controller_of(space)["kind"].as_string(), "Profile");
  for (const auto& [name, role] : {std::pair{"default-editor", "kubeflow-edit"}, {"default-viewer", "kubeflow-view"}}) {
    const std::string key = base::format("ann/{}", name);
    EXPECT_NE(bench.world.find(resources::kServiceAccounts, key), nullptr);
    const Json& binding = *bench.world.find(kRoleBindings, key);
    EXPECT_EQ(binding["roleRef"]["name"].as_string(), role);
    EXPECT_EQ(binding["subjects"].dump(),
              base::format(R"([{{"kind":"ServiceAccount","name":"{}","namespace":"ann"}}])", name));
  }
  const Json& admin = *bench.world.find(kRoleBindings, "ann/namespaceAdmin");
  EXPECT_EQ(admin["roleRef"]["name"].as_string(), "kubeflow-admin");
  EXPECT_EQ(admin["subjects"].dump(), R"([{"kind":"User","name":"ann@x","apiGroup":"rbac.authorization.k8s.io"}])");
  EXPECT_EQ(api::annotation_of(admin, "user"), "ann@x");
  EXPECT_EQ(api::annotation_of(admin, "role"), "admin");
  EXPECT_EQ((*bench.world.find(resources::kResourceQuotas, "ann/kf-resource-quota"))["spec"].dump(),
            R"({"hard":{"cpu":"4"}})");
  EXPECT_EQ((*bench.world.find(resources::kProfiles, "ann"))["metadata"]["finalizers"].dump(),
            R"(["profile-finalizer"])");
  EXPECT_EQ(bench.conditions().dump(), R"([{"type":"Successful","status":"True"}])");
  EXPECT_TRUE(bench.world.all(kClusterRoles).empty());
  EXPECT_EQ(bench.world.turn(*bench.controller, "ann"), "");
}

TEST(Profile, limits_come_and_go) {
  Bench bench;
  bench.settle();
  bench.world.edit(resources::kProfiles, "ann")->edit("spec").erase("resourceQuotaSpec");
  bench.settle();
  EXPECT_EQ(bench.world.find(resources::kResourceQuotas, "ann/kf-resource-quota"), nullptr);
}

TEST(Profile, a_namespace_of_somebody_else_is_left_alone) {
  Bench bench;
  bench.world.put_text(resources::kNamespaces,
                       R"({"kind": "Namespace", "metadata": {"name": "ann", "annotations": {"owner": "bob@x"}}})");
  bench.settle();
  EXPECT_EQ(
      bench.conditions().dump(),
      R"([{"type":"Failed","status":"True","message":"namespace already exist, but not owned by profile creator ann@x"}])");
  EXPECT_TRUE(bench.world.all(kRoleBindings).empty());
  EXPECT_EQ(bench.world.events.size(), 1U) << "said once";
  bench.world.edit(resources::kNamespaces, "ann")->edit_path({"metadata", "annotations"}).set("owner", "ann@x");
  bench.settle();
  EXPECT_EQ(bench.conditions().dump(), R"([{"type":"Successful","status":"True"}])");
}

TEST(Profile, labels_that_are_there_stay) {
  Bench bench;
  bench.world.put_text(resources::kNamespaces, R"({"kind": "Namespace", "metadata": {"name": "ann", "annotations":
      {"owner": "ann@x"}, "labels": {"pipelines.kubeflow.org/enabled": "false"}}})");
  bench.settle();
  const Json& labels = (*bench.world.find(resources::kNamespaces, "ann"))["metadata"]["labels"];
  EXPECT_EQ(labels["pipelines.kubeflow.org/enabled"].as_string(), "false");
  EXPECT_EQ(labels["app.kubernetes.io/part-of"].as_string(), "kubeflow-profile");
}

TEST(Profile, without_an_owner_or_at_its_end_nothing_is_made) {
  Bench none(R"({"spec": {"owner": {"name": ""}}})");
  none.settle();
  EXPECT_EQ(none.conditions()[std::size_t{0}]["message"].as_string(), "spec.owner.name is empty");
  Bench ends(
      R"({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["profile-finalizer", "x"]}})");
  ends.settle();
  EXPECT_TRUE(ends.world.all(resources::kNamespaces).empty());
  EXPECT_EQ((*ends.world.find(resources::kProfiles, "ann"))["metadata"]["finalizers"].dump(), R"(["x"])");
}

TEST(Profile, roles_and_policies_where_they_are_wanted) {
  Bench bench("{}", {.makes_roles = true});
  api::KindInfo kind;
  kind.resource = {"security.istio.io", "v1", "authorizationpolicies"};
  kind.kind = "AuthorizationPolicy";
  bench.controller->kind_comes(kind);
  bench.settle();
  for (const char* role : {"kubeflow-admin", "kubeflow-edit", "kubeflow-view"})
    EXPECT_NE(bench.world.find(kClusterRoles, role), nullptr) << role;
  const Json* policy = bench.world.find(kind.resource, "ann/ns-owner-access-istio");
  ASSERT_NE(policy, nullptr);
  EXPECT_EQ((*policy)["spec"]["rules"][std::size_t{0}].dump(),
            R"({"when":[{"key":"request.headers[kubeflow-userid]","values":["ann@x"]}]})");
}

TEST(Profile, comes_to_rest_whatever_fails) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Trial trial(seed, [] { return make_profile_controller({.makes_roles = true}); });
    trial.world.put(resources::kProfiles, profile_of());
    for (int round = 0; round < 20; ++round) trial.look("ann");
    EXPECT_TRUE(trial.comes_to_rest("ann")) << seed;
    EXPECT_NE(trial.world.find(kRoleBindings, "ann/namespaceAdmin"), nullptr) << seed;
  }
}

}  // namespace
}  // namespace controllers::notebooks

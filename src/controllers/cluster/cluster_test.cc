// Owners, namespaces, endpoints, and jobs whose time is over.
#include "controllers/cluster/cluster.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/cluster/stage_for_tests.h"
#include "controllers/gc/controller.h"

namespace controllers::cluster {
namespace {

using api::Json;
namespace resources = api::resources;

constexpr std::string_view kOwned =
    R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "ns",
  "uid": "C", "ownerReferences": [{"apiVersion": "v1", "kind": "Service", "name": "s", "uid": "S", "blockOwnerDeletion": true}]}})";

TEST(Owners, a_dependent_goes_when_its_last_owner_is_gone) {
  Stage stage(make_owner_controller());
  stage.world.put_text(resources::kConfigMaps, kOwned);
  EXPECT_EQ(stage.turn("configmaps|ns/c"), "require-gone Service ns/s\n--\ndelete ConfigMap ns/c\n");
  EXPECT_EQ(stage.world.find(resources::kConfigMaps, "ns/c"), nullptr);
}

TEST(Owners, a_dependent_stays_with_its_owner) {
  Stage stage(make_owner_controller());
  stage.world.put_text(resources::kConfigMaps, kOwned);
  stage.world.put_text(resources::kServices,
                       R"({"kind": "Service", "metadata": {"name": "s", "namespace": "ns", "uid": "S"}})");
  EXPECT_EQ(stage.turn("configmaps|ns/c"), "");
}

TEST(Owners, what_has_no_namespace_is_not_lost_by_an_owner_that_has_one) {
  Stage stage(make_owner_controller());
  stage.world.put_text(resources::kQueues, R"({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
    "metadata": {"name": "q", "uid": "Q",
      "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "C"}]}})");
  EXPECT_EQ(stage.turn("queues.scheduling.volcano.sh|q"), "");
}

// A kind that a definition adds.
api::KindInfo widgets() {
  api::KindInfo kind;
  kind.resource = {"example.com", "v1", "widgets"};
  kind.kind = "Widget";
  kind.namespaced = true;
  return kind;
}

std::unique_ptr<Controller> knowing_widgets(std::unique_ptr<Controller> controller) {
  controller->kind_comes(widgets());
  return controller;
}

TEST(Owners, kinds_of_strangers_own_and_are_owned) {
  Stage stage(knowing_widgets(make_owner_controller()));
  stage.world.put_text(
      widgets().resource,
      R"({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "ns",
     "uid": "W", "ownerReferences": [{"apiVersion": "v1", "kind": "Service", "name": "s", "uid": "S"}]}})");
  EXPECT_EQ(stage.turn("widgets.example.com|ns/w"), "require-gone Service ns/s\n--\ndelete Widget ns/w\n");
  // This holds whatever version of it a reference names.
  stage.world.put_text(resources::kConfigMaps, R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c",
     "namespace": "ns", "uid": "C",
     "ownerReferences": [{"apiVersion": "example.com/v1beta1", "kind": "Widget", "name": "w", "uid": "W"}]}})");
  EXPECT_EQ(stage.turn("configmaps|ns/c"), "require-gone Widget ns/w\n--\ndelete ConfigMap ns/c\n");
}

TEST(Owners, an_owner_that_only_this_view_misses_saves_the_dependent) {
  Stage stage(make_owner_controller());
  stage.world.put_text(resources::kConfigMaps, kOwned);
  const Plan plan = stage.controller->step(stage.world, "configmaps|ns/c", {.now = stage.world.now});
  stage.world.put_text(resources::kServices,
                       R"({"kind": "Service", "metadata": {"name": "s", "namespace": "ns", "uid": "S"}})");
  EXPECT_FALSE(stage.world.apply(plan).succeeded);
  EXPECT_NE(stage.world.find(resources::kConfigMaps, "ns/c"), nullptr);
}

TEST(Owners, foreground_deletion_waits_for_dependents) {
  Stage stage(make_owner_controller());
  stage.world.put_text(resources::kConfigMaps, kOwned);
  stage.world.put_text(resources::kServices,
                       R"({"kind": "Service", "metadata": {"name": "s", "namespace": "ns", "uid": "S",
     "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["foregroundDeletion"]}})");
  EXPECT_EQ(stage.turn("services|ns/s"), "delete ConfigMap ns/c\n");
  EXPECT_TRUE(stage.turn("services|ns/s").starts_with("patch Service ns/s {\"metadata\":{\"finalizers\":null,"));
  stage.world.gone();
  EXPECT_EQ(stage.world.find(resources::kServices, "ns/s"), nullptr);
}

TEST(Owners, foreground_deletion_waits_for_nothing_in_other_namespaces) {
  Stage stage(make_owner_controller());
  Json owned = *api::parse_json(kOwned);
  owned.edit("metadata").set("namespace", "elsewhere");
  stage.world.put(resources::kConfigMaps, owned);
  stage.world.put_text(resources::kServices,
                       R"({"kind": "Service", "metadata": {"name": "s", "namespace": "ns", "uid": "S",
     "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["foregroundDeletion"]}})");
  EXPECT_TRUE(stage.turn("services|ns/s").starts_with("patch Service ns/s {\"metadata\":{\"finalizers\":null,"));
  // An owner without a namespace owns in all of them.
  owned.edit("metadata").set("ownerReferences", Json::array({*api::parse_json(R"({"kind": "Queue", "name": "q",
      "apiVersion": "scheduling.volcano.sh/v1beta1", "uid": "Q", "blockOwnerDeletion": true})")}));
  stage.world.put(resources::kConfigMaps, owned);
  stage.world.put_text(resources::kQueues, R"({"kind": "Queue", "metadata": {"name": "q", "uid": "Q",
      "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["foregroundDeletion"]}})");
  EXPECT_EQ(stage.turn("queues.scheduling.volcano.sh|q"), "delete ConfigMap elsewhere/c\n");
}

// As with a Deployment, its ReplicaSet and a pod that still runs.
TEST(Owners, foreground_deletion_waits_for_dependents_of_dependents) {
  Stage stage(make_owner_controller());
  const auto put = [&](const api::ResourceId& resource, std::string_view kind, std::string_view name,
                       std::string_view rest) {
    stage.world.put_text(
        resource, base::format(R"({{"kind": "{}", "metadata": {{"name": "{}", "namespace": "ns", "uid": "{}", {}}}}})",
                               kind, name, name, rest));
  };
  const auto owned_by = [](std::string_view version, std::string_view kind, std::string_view name) {
    return base::format(
        R"("ownerReferences": [{{"apiVersion": "{}", "kind": "{}", "name": "{}", "uid": "{}", "blockOwnerDeletion": true}}])",
        version, kind, name, name);
  };
  const api::ResourceId deployments{"apps", "v1", "deployments"};
  put(deployments, "Deployment", "d",
      R"("deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["foregroundDeletion"])");
  put(resources::kReplicaSets, "ReplicaSet", "r", owned_by("apps/v1", "Deployment", "d"));
  put(resources::kPods, "Pod", "p", owned_by("apps/v1", "ReplicaSet", "r"));
  stage.world.edit(resources::kPods, "ns/p")->edit("spec").set("nodeName", "n");
  EXPECT_EQ(stage.turn("deployments.apps|ns/d"), "delete ReplicaSet ns/r\n");
  stage.world.gone();
  EXPECT_EQ(stage.turn("deployments.apps|ns/d"), "") << "the set waits for its pod";
  EXPECT_EQ(stage.turn("replicasets.apps|ns/r"), "delete Pod ns/p\n");
  EXPECT_EQ(stage.turn("replicasets.apps|ns/r"), "") << "the pod still runs";
  EXPECT_EQ(stage.turn("deployments.apps|ns/d"), "");
  stage.world.gone();
  EXPECT_TRUE(stage.turn("replicasets.apps|ns/r").starts_with("patch ReplicaSet ns/r {\"metadata\":{\"finalizers\":"));
  stage.world.gone();
  EXPECT_TRUE(stage.turn("deployments.apps|ns/d").starts_with("patch Deployment ns/d {\"metadata\":{\"finalizers\":"));
}

TEST(Owners, foreground_deletion_leaves_what_another_owner_keeps) {
  const auto map = [](std::string_view state) {
    return base::format(
        R"({{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {{"name": "other", "namespace": "ns", "uid": "O"{}}}}})",
        state);
  };
  Stage stage(make_owner_controller());
  stage.world.put_text(resources::kConfigMaps, kOwned);
  stage.world.edit(resources::kConfigMaps, "ns/c")
      ->edit("metadata")
      .edit("ownerReferences")
      .push_back(Json::object({{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "other"}, {"uid", "O"}}));
  stage.world.put_text(resources::kServices,
                       R"({"kind": "Service", "metadata": {"name": "s", "namespace": "ns", "uid": "S",
     "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["foregroundDeletion"]}})");
  EXPECT_EQ(stage.turn("services|ns/s"), "") << "nobody has asked yet whether the other owner is there";
  stage.world.put_text(resources::kConfigMaps,
                       map(R"(, "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["foregroundDeletion"])"));
  const auto text = [&] { return stage.controller->step(stage.world, "services|ns/s", {}).text(); };
  EXPECT_EQ(text(), "delete ConfigMap ns/c\n") << "the other owner waits, too";
  stage.world.put_text(resources::kConfigMaps, map(""));
  EXPECT_TRUE(text().starts_with("patch ConfigMap ns/c {\"metadata\":{\"ownerReferences\":[{")) << text();
}

// Each of two waits for the other; and one for itself.
TEST(Owners, who_own_each_other_in_a_circle_do_not_wait_for_ever) {
  const auto map = [](std::string_view name, std::string_view owner) {
    return base::format(
        R"({{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {{"name": "{0}", "namespace": "ns", "uid": "{0}",
      "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["foregroundDeletion"], "ownerReferences": [
      {{"apiVersion": "v1", "kind": "ConfigMap", "name": "{1}", "uid": "{1}", "blockOwnerDeletion": true}}]}}}})",
        name, owner);
  };
  for (const auto& [one, other] : {std::pair{"a", "b"}, {"a", "a"}}) {
    Stage stage(make_owner_controller());
    stage.world.put_text(resources::kConfigMaps, map("a", other));
    stage.world.put_text(resources::kConfigMaps, map(other, one));
    for (int turn = 0; turn < 3; ++turn)
      for (const char* key : {"configmaps|ns/a", "configmaps|ns/b"}) {
        stage.turn(key);
        stage.world.gone();
      }
    EXPECT_EQ(stage.world.all(resources::kConfigMaps).size(), 0u) << other;
  }
  // One that is too large to be looked at as a whole.
  Stage large(make_owner_controller());
  for (int i = 0; i < 1100; ++i)
    large.world.put_text(resources::kConfigMaps, map(std::to_string(i), std::to_string((i + 1) % 1100)));
  EXPECT_TRUE(large.turn("configmaps|ns/0").starts_with("patch ConfigMap ns/0 "));
  // A chain is none: what is below goes first.
  Stage stage(make_owner_controller());
  stage.world.put_text(resources::kConfigMaps, map("a", "gone"));
  stage.world.put_text(resources::kConfigMaps, map("b", "a"));
  stage.world.put_text(resources::kConfigMaps, map("c", "b"));
  EXPECT_EQ(stage.turn("configmaps|ns/a"), "");
}

// Each is owned by all before it: few objects, and many references. Too many to look at count as a circle.
TEST(Owners, of_each_other_are_looked_at_within_a_limit) {
  for (const int count : {10, 100}) {
    Stage stage(make_owner_controller());
    for (int i = 0; i <= count; ++i) {
      Json references = Json::array();
      for (int owner = 0; owner < i; ++owner)
        references.push_back(Json::object({{"apiVersion", "v1"},
                                           {"kind", "ConfigMap"},
                                           {"name", std::to_string(owner)},
                                           {"uid", std::to_string(owner)},
                                           {"blockOwnerDeletion", true}}));
      Json metadata = Json::object({{"name", std::to_string(i)}, {"namespace", "ns"}, {"uid", std::to_string(i)}});
      metadata.set("deletionTimestamp", "2026-01-01T00:00:00Z");
      metadata.set("finalizers", Json::array({"foregroundDeletion"}));
      metadata.set("ownerReferences", std::move(references));
      stage.world.put(resources::kConfigMaps,
                      Json::object({{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", std::move(metadata)}}));
    }
    EXPECT_EQ(stage.turn("configmaps|ns/0"), "") << "it holds up nobody";
    const std::string text = stage.turn("configmaps|ns/1");
    const bool is_let_go = text.starts_with("patch ConfigMap ns/1 ") && text.find("true") == std::string::npos;
    EXPECT_EQ(is_let_go, count == 100) << text;
    EXPECT_EQ(text.empty(), count == 10) << text;
  }
}

TEST(Owners, orphaning_cuts_the_references) {
  Stage stage(make_owner_controller());
  stage.world.put_text(resources::kConfigMaps, kOwned);
  stage.world.put_text(resources::kServices,
                       R"({"kind": "Service", "metadata": {"name": "s", "namespace": "ns", "uid": "S",
     "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["orphan"]}})");
  stage.turn("services|ns/s");
  EXPECT_FALSE((*stage.world.find(resources::kConfigMaps, "ns/c"))["metadata"].has("ownerReferences"));
  EXPECT_FALSE((*stage.world.find(resources::kServices, "ns/s"))["metadata"].has("finalizers"));
}

TEST(Namespaces, have_the_certificate_of_the_authority) {
  Stage stage(make_namespace_controller("PEM"));
  stage.world.put_text(resources::kNamespaces, R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"},
                                                   "spec": {"finalizers": ["kubernetes"]}})");
  EXPECT_EQ(stage.turn("ns"), "create ServiceAccount ns/default\ncreate ConfigMap ns/kube-root-ca.crt\n");
  EXPECT_EQ(stage.turn("ns"), "");
}

TEST(Namespaces, have_a_service_account_and_are_emptied_at_their_end) {
  Stage stage(make_namespace_controller());
  stage.world.put_text(resources::kNamespaces, R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"},
                                                   "spec": {"finalizers": ["kubernetes"]}})");
  EXPECT_EQ(stage.turn("ns"), "create ServiceAccount ns/default\n");
  EXPECT_EQ(stage.turn("ns"), "");
  stage.world.put_text(resources::kConfigMaps,
                       R"({"kind": "ConfigMap", "metadata": {"name": "c", "namespace": "ns"}})");
  stage.world.edit(resources::kNamespaces, "ns")->edit("metadata").set("deletionTimestamp", "2026-01-01T00:00:00Z");
  EXPECT_EQ(stage.turn("ns"), "delete ConfigMap ns/c\ndelete ServiceAccount ns/default\n");
  EXPECT_EQ(stage.turn("ns"), "delete-all Event ns/\n--\nupdate Namespace ns\n");
  EXPECT_EQ(stage.world.find(resources::kNamespaces, "ns"), nullptr);
}

// The conditions that kubectl shows of a namespace that does not go.
TEST(Namespaces, say_what_is_left_in_them) {
  Stage stage(make_namespace_controller());
  stage.world.put_text(resources::kNamespaces, R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns",
     "deletionTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"finalizers": ["kubernetes"]}})");
  const auto map = [&](std::string_view name, std::string_view finalizers) {
    stage.world.put_text(resources::kConfigMaps,
                         base::format(R"({{"kind": "ConfigMap", "metadata": {{"name": "{}", "namespace": "ns",
      "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": [{}]}}}})",
                                      name, finalizers));
  };
  const auto message = [&](std::string_view type) {
    for (const Json& one : (*stage.world.find(resources::kNamespaces, "ns"))["status"]["conditions"].items())
      if (one["type"].as_string() == type) return one["status"].str() + " " + one["message"].str();
    return std::string();
  };
  map("a", R"("x.io/keep")");
  map("b", R"("x.io/keep", "a.io/b")");
  EXPECT_TRUE(stage.turn("ns").starts_with("patch Namespace ns {\"status\""));
  EXPECT_EQ(message("NamespaceContentRemaining"),
            "True Some resources are remaining: configmaps. has 2 resource instances");
  EXPECT_EQ(
      message("NamespaceFinalizersRemaining"),
      "True Some content in the namespace has finalizers remaining: a.io/b in 1 resource instances, x.io/keep in 2 "
      "resource instances");
  EXPECT_EQ(message("NamespaceDeletionContentFailure"),
            "False All content successfully deleted, may be waiting on finalization");
  EXPECT_EQ(stage.turn("ns"), "") << "it is said once";
  stage.world.erase(resources::kConfigMaps, "ns/a");
  stage.world.erase(resources::kConfigMaps, "ns/b");
  stage.world.edit(resources::kNamespaces, "ns")->edit("spec").set("finalizers", Json::array({"other.io/x"}));
  EXPECT_TRUE(stage.turn("ns").starts_with("patch Namespace ns {\"status\""));
  EXPECT_EQ(message("NamespaceContentRemaining"), "False All content successfully removed");
}

TEST(Roles, gather_the_rules_of_those_they_choose) {
  const api::ResourceId roles{"rbac.authorization.k8s.io", "v1", "clusterroles"};
  Stage stage(make_role_controller());
  const auto role = [&](std::string_view name, std::string_view rest) {
    stage.world.put_text(roles, base::format(R"({{"kind": "ClusterRole", "metadata": {{"name": "{}", {})", name, rest));
  };
  role("all", R"("labels": {"to": "all"}}, "rules": [{"verbs": ["own"]}],
       "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"to": "all"}}, {"matchLabels": {"also": "all"}}]}})");
  role("b", R"("labels": {"also": "all"}}, "rules": [{"verbs": ["get"]}, {"verbs": ["list"]}]})");
  role("a", R"("labels": {"to": "all"}}, "rules": [{"verbs": ["list"]}]})");
  role("other", R"("labels": {"to": "none"}}, "rules": [{"verbs": ["*"]}]})");
  EXPECT_EQ(stage.turn("all"), "update ClusterRole all\n");
  EXPECT_EQ((*stage.world.find(roles, "all"))["rules"].dump(), R"([{"verbs":["list"]},{"verbs":["get"]}])");
  EXPECT_EQ(stage.turn("all"), "");
  EXPECT_EQ(stage.turn("a"), "");
  stage.world.erase(roles, "b");
  EXPECT_EQ(stage.turn("all"), "update ClusterRole all\n");
  EXPECT_EQ((*stage.world.find(roles, "all"))["rules"].dump(), R"([{"verbs":["list"]}])");
  EXPECT_EQ(stage.world.events, std::vector<std::string>());
}

TEST(Namespaces, take_objects_of_strangers_kinds_along) {
  Stage stage(knowing_widgets(make_namespace_controller()));
  stage.world.put_text(resources::kNamespaces, R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns",
     "deletionTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"finalizers": ["kubernetes"]}})");
  stage.world.put_text(widgets().resource, R"({"kind": "Widget", "metadata": {"name": "w", "namespace": "ns"}})");
  EXPECT_EQ(stage.turn("ns"), "delete Widget ns/w\n");
  EXPECT_EQ(stage.turn("ns"), "delete-all Event ns/\ndelete-all Widget ns/\n--\nupdate Namespace ns\n");
}

TEST(Claims, are_made_from_templates_and_named_in_the_pods_status) {
  Stage stage(make_claim_controller());
  stage.world.put_text(resources::kPods,
                       R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns",
      "uid": "1234-5678-9"}, "spec": {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}]}})");
  EXPECT_EQ(
      stage.turn("pod ns/p"),
      "event Pod ns/p Warning FailedResourceClaimCreation: PodResourceClaim gpu: resource claim template \"t\" not "
      "found\n");
  stage.world.put_text({"resource.k8s.io", "v1", "resourceclaimtemplates"},
                       R"({"kind": "ResourceClaimTemplate", "metadata": {"name": "t", "namespace": "ns"},
      "spec": {"metadata": {"labels": {"a": "b"}}, "spec": {"devices": {"requests": [{"name": "r"}]}}}})");
  const std::string text = stage.turn("pod ns/p");
  EXPECT_TRUE(text.starts_with("create ResourceClaim ns/p-gpu-12345678\n--\n")) << text;
  const Json* claim = stage.world.find(resources::kResourceClaims, "ns/p-gpu-12345678");
  ASSERT_NE(claim, nullptr);
  EXPECT_EQ(api::controller_of(*claim)["uid"].as_string(), "1234-5678-9");
  EXPECT_EQ(api::label_of(*claim, "a"), "b");
  EXPECT_EQ((*claim)["spec"]["devices"]["requests"].size(), 1u);
}

TEST(Claims, are_free_once_their_pods_are_gone) {
  Stage stage(make_claim_controller());
  stage.world.put_text(resources::kResourceClaims, R"({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
      "metadata": {"name": "c", "namespace": "ns", "uid": "C", "finalizers": ["resource.kubernetes.io/delete-protection"]},
      "spec": {}, "status": {"allocation": {}, "reservedFor": [{"resource": "pods", "name": "p", "uid": "P"}]}})");
  stage.world.put_text(resources::kPods, R"({"kind": "Pod", "metadata": {"name": "p", "namespace": "ns", "uid": "P"},
      "spec": {"nodeName": "n"}, "status": {"phase": "Running"}})");
  EXPECT_EQ(stage.turn("claim ns/c"), "");
  stage.world.edit(resources::kPods, "ns/p")->edit("status").set("phase", "Succeeded");
  stage.turn("claim ns/c");
  EXPECT_FALSE((*stage.world.find(resources::kResourceClaims, "ns/c"))["status"].has("reservedFor"));
  EXPECT_FALSE((*stage.world.find(resources::kResourceClaims, "ns/c"))["status"].has("allocation"));
  EXPECT_EQ(stage.turn("claim ns/c"), "update ResourceClaim ns/c\n");
  EXPECT_TRUE((*stage.world.find(resources::kResourceClaims, "ns/c"))["metadata"]["finalizers"].empty());
}

TEST(Endpoints, list_the_pods_behind_a_service) {
  Stage stage(make_endpoints_controller());
  stage.world.put_text(resources::kServices, R"({"kind": "Service", "metadata": {"name": "s", "namespace": "ns"},
    "spec": {"clusterIP": "None", "selector": {"app": "x"}, "ports": [{"name": "http", "port": 80, "targetPort": "web"}]}})");
  const auto pod = [&](std::string_view name, std::string_view ip, std::string_view ready, std::string_view phase) {
    stage.world.put(
        resources::kPods,
        *api::parse_json(base::format(
            R"({{"kind": "Pod", "metadata": {{"name": "{0}", "namespace": "ns", "uid": "{0}", "labels": {{"app": "x"}}}},
             "spec": {{"hostname": "{0}", "subdomain": "s", "nodeName": "n",
                       "containers": [{{"ports": [{{"name": "web", "containerPort": 8080}}]}}]}},
             "status": {{"phase": "{3}", "podIP": "{1}", "conditions": [{{"type": "Ready", "status": "{2}"}}]}}}})",
            name, ip, ready, phase)));
  };
  pod("a", "10.0.0.1", "True", "Running");
  pod("b", "10.0.0.2", "False", "Running");
  pod("c", "10.0.0.3", "True", "Succeeded");
  pod("d", "", "True", "Pending");
  EXPECT_EQ(stage.turn("ns/s"), "create Endpoints ns/s\n");
  EXPECT_EQ((*stage.world.find(resources::kEndpoints, "ns/s"))["subsets"].sorted().dump(),
            R"([{"addresses":[{"hostname":"a","ip":"10.0.0.1","nodeName":"n","targetRef":{"kind":"Pod","name":"a",)"
            R"("namespace":"ns","uid":"a"}}],"notReadyAddresses":[{"hostname":"b","ip":"10.0.0.2","nodeName":"n",)"
            R"("targetRef":{"kind":"Pod","name":"b","namespace":"ns","uid":"b"}}],"ports":[{"name":"http","port":8080,)"
            R"("protocol":"TCP"}]}])");
  EXPECT_EQ(stage.turn("ns/s"), "");
  pod("b", "10.0.0.2", "True", "Running");
  EXPECT_EQ(stage.turn("ns/s"), "update Endpoints ns/s\n");
  stage.world.erase(resources::kServices, "ns/s");
  EXPECT_EQ(stage.turn("ns/s"), "delete Endpoints ns/s\n");
}

TEST(TimeToLive, deletes_finished_jobs_when_it_is_over) {
  Stage stage(gc::make_gc_controller());
  stage.world.put(
      resources::kJobs,
      *api::parse_json(base::format(
          R"({{"kind": "Job", "metadata": {{"name": "j", "namespace": "ns"}}, "spec": {{"ttlSecondsAfterFinished": 60}},
           "status": {{"state": {{"phase": "Completed", "lastTransitionTime": "{}"}}}}}})",
          base::format_rfc3339(stage.world.now))));
  const Plan early = stage.controller->step(stage.world, "ns/j", {.now = stage.world.now + base::seconds(20)});
  EXPECT_TRUE(writes_nothing(early));
  EXPECT_EQ(*early.look_again(), base::seconds(40));
  stage.world.now = stage.world.now + base::seconds(61);
  EXPECT_EQ(stage.turn("ns/j"), "delete Job ns/j\n");
}

}  // namespace
}  // namespace controllers::cluster

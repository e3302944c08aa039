// The web application for volumes: claims, who uses them, and viewers of what is in them.
#include <algorithm>
#include <array>

#include "api/kubeflow/v1/notebook.h"
#include "api/kubeflow/v1alpha1/pvcviewer.h"
#include "base/format.h"
#include "webapps/apps.h"
#include "webapps/objects.h"

namespace webapps {

using api::Json;
using api::resources::kNotebooks;
using api::resources::kPersistentVolumeClaims;
using api::resources::kPods;
using api::resources::kPvcViewers;

namespace {

constexpr std::string_view kOfFirstUse =
    "Pending: This volume will be bound when its first consumer is created. E.g., when you first browse its contents, "
    "or attach it to a notebook server";

bool mounts(const Json& pod_spec, std::string_view claim) {
  return std::ranges::any_of(pod_spec["volumes"].items(), [&](const Json& volume) {
    return volume["persistentVolumeClaim"]["claimName"].as_string() == claim;
  });
}

// `events`: those about claims of the namespace.
Json claim_status(const Json& claim, const std::vector<Json>& events) {
  if (claim["metadata"].has("deletionTimestamp")) return status("terminating", "Deleting Volume...");
  if (claim["status"]["phase"].as_string() == "Bound") return status("ready", "Bound");
  const auto found = std::ranges::find_if(
      events, [&](const Json& event) { return event["involvedObject"]["name"].as_string() == api::name_of(claim); });
  if (found == events.end()) return status("waiting", "Provisioning Volume...");
  const std::string reason = (*found)["reason"].str();
  const std::string text = "Pending: " + (*found)["message"].str();
  if (reason == "WaitForFirstConsumer") return status("unavailable", kOfFirstUse, reason);
  if (reason == "Provisioning") return status("waiting", text, reason);
  return status((*found)["type"].as_string() == "Warning" || reason == "FailedBinding" ? "warning" : "ready", text,
                reason);
}

std::string_view viewer_phase(const Json* viewer) {
  if (viewer == nullptr || !(*viewer)["status"].has("ready")) return "uninitialized";
  if ((*viewer)["metadata"].has("deletionTimestamp")) return "terminating";
  return (*viewer)["status"]["ready"].as_bool() ? "ready" : "waiting";
}

base::Result<Reply> claims(const Call& call, Facts& facts) {
  const std::string& ns = call.names[0];
  TRY(const auto objects, list(facts, kPersistentVolumeClaims, ns));
  TRY(const auto notebooks, list(facts, kNotebooks, ns));
  TRY(const auto viewers, list(facts, kPvcViewers, ns));
  TRY(const auto events, events_of(facts, ns, "PersistentVolumeClaim"));
  Json rows = Json::array();
  for (const Json& claim : objects) {
    const std::string_view name = api::name_of(claim);
    Json users = Json::array();
    for (const Json& notebook : notebooks)
      if (mounts(notebook["spec"]["template"]["spec"], name)) users.push_back(api::name_of(notebook));
    const auto viewer = std::ranges::find_if(viewers, [&](const Json& one) { return api::name_of(one) == name; });
    const Json* seen = viewer == viewers.end() ? nullptr : &*viewer;
    const Json& capacity = claim["status"]["capacity"]["storage"];
    rows.push_back(Json::object(
        {{"name", name},
         {"namespace", ns},
         {"status", claim_status(claim, events)},
         {"age", claim["metadata"]["creationTimestamp"]},
         {"capacity", capacity.is_null() ? claim["spec"]["resources"]["requests"]["storage"] : capacity},
         {"modes", claim["spec"]["accessModes"]},
         {"class", claim["spec"]["storageClassName"]},
         {"notebooks", std::move(users)},
         {"viewer",
          Json::object({{"status", viewer_phase(seen)}, {"url", seen ? (*seen)["status"]["url"] : Json()}})}}));
  }
  return answer("pvcs", std::move(rows));
}

base::Result<Reply> claim(const Call& call, Facts& facts) {
  TRY(Json object, get(facts, kPersistentVolumeClaims, call.names[0], call.names[1]));
  return answer("pvc", std::move(object));
}

base::Result<std::vector<Json>> pods_of(const Call& call, Facts& facts) {
  TRY(auto pods, list(facts, kPods, call.names[0]));
  std::erase_if(pods, [&](const Json& pod) { return !mounts(pod["spec"], call.names[1]); });
  return pods;
}

base::Result<Reply> claim_pods(const Call& call, Facts& facts) {
  TRY(auto pods, pods_of(call, facts));
  return answer("pods", Json::array(std::move(pods)));
}

base::Result<Reply> claim_events(const Call& call, Facts& facts) {
  TRY(auto events, events_of(facts, call.names[0], "PersistentVolumeClaim", call.names[1]));
  return answer("events", Json::array(std::move(events)));
}

base::Result<Reply> create_claim(const Call& call, Facts& facts) {
  TRY_VOID(check_members(call, {"name", "mode", "class", "size", "type"}));
  Json spec =
      Json::object({{"accessModes", Json::array({call.body["mode"]})},
                    {"resources", Json::object({{"requests", Json::object({{"storage", call.body["size"]}})}})}});
  // {empty} is the default class, {none} no class at all.
  const std::string wanted = call.body["class"].str();
  if (wanted == "{none}") {
    spec.set("storageClassName", "");
  } else if (wanted != "{empty}") {
    spec.set("storageClassName", wanted);
  }
  TRY_VOID(create(facts, kPersistentVolumeClaims, call.names[0],
                  Json::object({{"apiVersion", "v1"},
                                {"kind", "PersistentVolumeClaim"},
                                {"metadata", Json::object({{"name", call.body["name"]}})},
                                {"spec", std::move(spec)}})));
  return message("PVC created successfully.");
}

bool is_of_viewer(const Json& pod) {
  return pod["metadata"]["labels"]["app.kubernetes.io/part-of"].as_string() == "pvc-viewer";
}

base::Result<Reply> delete_claim(const Call& call, Facts& facts) {
  TRY(const auto pods, pods_of(call, facts));
  std::string users;
  for (const Json& pod : pods)
    if (!is_of_viewer(pod)) users += base::format("{}'{}'", users.empty() ? "" : ", ", api::name_of(pod));
  if (!users.empty())
    return base::make_error(
        base::Code::kConflict,
        base::format("Cannot delete PVC '{}' because it is being used by pods: [{}]", call.names[1], users));
  for (const Json& pod : pods) {
    const base::Status gone =
        remove(facts, kPvcViewers, call.names[0], pod["metadata"]["labels"]["app.kubernetes.io/name"].str());
    if (!gone.ok() && (facts.next() || gone.error().code != base::Code::kNotFound)) return base::Error(gone.error());
  }
  TRY_VOID(remove(facts, kPersistentVolumeClaims, call.names[0], call.names[1]));
  return message(base::format("PVC {} successfully deleted.", call.names[1]));
}

base::Result<Reply> create_viewer(const Call& call, Facts& facts) {
  TRY_VOID(check_members(call, {"name"}));
  const std::string ns = call.names[0], name = call.body["name"].str();
  Json networking = Json::object({{"targetPort", 8080},
                                  {"basePrefix", "/pvcviewers"},
                                  {"rewrite", base::format("/pvcviewers/{}/{}/", ns, name)},
                                  {"timeout", "30s"}});
  TRY_VOID(create(
      facts, kPvcViewers, ns,
      Json::object(
          {{"apiVersion", "kubeflow.org/v1alpha1"},
           {"kind", "PVCViewer"},
           {"metadata", Json::object({{"name", name}, {"namespace", ns}})},
           {"spec", Json::object({{"pvc", name}, {"networking", std::move(networking)}, {"rwoScheduling", true}})}})));
  return message("PVCViewer created successfully.");
}

base::Result<Reply> delete_viewer(const Call& call, Facts& facts) {
  TRY_VOID(remove(facts, kPvcViewers, call.names[0], call.names[1]));
  return message(base::format("Viewer {} successfully deleted.", call.names[1]));
}

}  // namespace

std::span<const Route> volumes_routes() {
  static const std::array kRoutes = {
      kInfo,
      kNamespaces,
      kStorageClasses,
      kDefaultStorageClass,
      Route{"GET", "api/namespaces/{}/pvcs", claims},
      Route{"POST", "api/namespaces/{}/pvcs", create_claim},
      Route{"GET", "api/namespaces/{}/pvcs/{}", claim},
      Route{"DELETE", "api/namespaces/{}/pvcs/{}", delete_claim},
      Route{"GET", "api/namespaces/{}/pvcs/{}/pods", claim_pods},
      Route{"GET", "api/namespaces/{}/pvcs/{}/events", claim_events},
      Route{"POST", "api/namespaces/{}/viewers", create_viewer},
      Route{"DELETE", "api/namespaces/{}/viewers/{}", delete_viewer},
  };
  return kRoutes;
}

}  // namespace webapps

// The web application for notebooks.
#include <array>
#include <set>

#include "api/kubeflow/v1/notebook.h"
#include "base/format.h"
#include "base/time.h"
#include "webapps/apps.h"
#include "webapps/notebook_form.h"
#include "webapps/notebook_status.h"
#include "webapps/objects.h"
#include "webapps/spawner_config.h"

namespace webapps {

using api::Json;
using api::resources::kNotebooks;
using api::resources::kPersistentVolumeClaims;

namespace {

constexpr std::string_view kStopped = "kubeflow-resource-stopped";

base::Result<Reply> config(const Call&, Facts& facts) {
  TRY(Json config, spawner_config(facts));
  return answer("config", std::move(config));
}

base::Result<Reply> gpus(const Call&, Facts& facts) {
  TRY(const Json config, spawner_config(facts));
  TRY(const auto nodes, list(facts, api::resources::kNodes, {}));
  Json there = Json::array();
  for (const Json& vendor : config["gpus"]["value"]["vendors"].items())
    for (const Json& node : nodes)
      if (node["status"]["capacity"].has(vendor["limitsKey"].as_string())) {
        there.push_back(vendor["limitsKey"]);
        break;
      }
  return answer("vendors", std::move(there));
}

base::Result<Reply> claims(const Call& call, Facts& facts) {
  TRY(const auto objects, list(facts, kPersistentVolumeClaims, call.names[0]));
  Json rows = Json::array();
  for (const Json& claim : objects)
    rows.push_back(Json::object({{"name", api::name_of(claim)},
                                 {"size", claim["spec"]["resources"]["requests"]["storage"]},
                                 {"mode", claim["spec"]["accessModes"][0]}}));
  return answer("pvcs", std::move(rows));
}

// "2 NVIDIA, 1 AMD"
Json gpus_of(const Json& container, const Json& config) {
  std::int64_t count = 0;
  std::string text;
  for (const Json& vendor : config["gpus"]["value"]["vendors"].items()) {
    const Json& asked = container["resources"]["limits"][vendor["limitsKey"].as_string()];
    if (asked.is_null()) continue;
    const auto amount = api::Quantity::from_json(asked);
    count += amount ? amount->value() : 0;
    text += base::format("{}{} {}", text.empty() ? "" : ", ", amount ? amount->to_string() : "0",
                         vendor["uiName"].as_string());
  }
  return Json::object({{"count", count}, {"message", text}});
}

Json row_of(const Json& notebook, const Json& config, Json status) {
  const Json& container = notebook["spec"]["template"]["spec"]["containers"][0];
  const std::string image = container["image"].str();
  const Json& annotations = notebook["metadata"]["annotations"];
  Json volumes = Json::array();
  for (const Json& mount : container["volumeMounts"].items()) volumes.push_back(mount["name"]);
  return Json::object({{"name", api::name_of(notebook)},
                       {"namespace", api::namespace_of(notebook)},
                       {"serverType", annotations["notebooks.kubeflow.org/server-type"]},
                       {"age", notebook["metadata"]["creationTimestamp"]},
                       {"last_activity", annotations["notebooks.kubeflow.org/last-activity"].as_string()},
                       {"image", image},
                       {"shortImage", image.substr(image.rfind('/') + 1)},
                       {"cpu", container["resources"]["requests"]["cpu"]},
                       {"gpus", gpus_of(container, config)},
                       {"memory", container["resources"]["requests"]["memory"]},
                       {"volumes", std::move(volumes)},
                       {"status", std::move(status)},
                       {"metadata", notebook["metadata"]}});
}

base::Result<Reply> notebooks(const Call& call, Facts& facts) {
  TRY(const auto objects, list(facts, kNotebooks, call.names[0]));
  TRY(const Json config, spawner_config(facts));
  Json rows = Json::array();
  std::optional<std::vector<Json>> events;
  for (const Json& notebook : objects) {
    Json reported = notebook_status(notebook, facts.now());
    if (reported.is_null()) {
      if (!events) {
        TRY(events, events_of(facts, call.names[0], "Notebook"));
      }
      reported = notebook_status_by_events(notebook, *events);
    }
    rows.push_back(row_of(notebook, config, std::move(reported)));
  }
  return answer("notebooks", std::move(rows));
}

base::Result<Reply> notebook(const Call& call, Facts& facts) {
  TRY(Json object, get(facts, kNotebooks, call.names[0], call.names[1]));
  Json reported = notebook_status(object, facts.now());
  if (reported.is_null()) {
    TRY(const auto events, events_of(facts, call.names[0], "Notebook", call.names[1]));
    reported = notebook_status_by_events(object, events);
  }
  object.set("processed_status", std::move(reported));
  return answer("notebook", std::move(object));
}

base::Result<Reply> notebook_pod(const Call& call, Facts& facts) {
  TRY(auto pods, list(facts, api::resources::kPods, call.names[0], {.labels = "notebook-name=" + call.names[1]}));
  if (pods.empty()) return base::make_error(base::Code::kNotFound, "No pod detected.");
  return answer("pod", std::move(pods[0]));
}

// The lines come from the API as text, which the server puts into the answer.
base::Result<Reply> notebook_logs(const Call& call, Facts&) {
  Reply reply;
  reply.pass = base::format("/api/v1/namespaces/{}/pods/{}/log?container={}", rt::percent_encode(call.names[0]),
                            rt::percent_encode(call.names[2]), rt::percent_encode(call.names[1]));
  return reply;
}

base::Result<Reply> notebook_events(const Call& call, Facts& facts) {
  TRY(auto events, events_of(facts, call.names[0], "Notebook", call.names[1]));
  return answer("events", Json::array(std::move(events)));
}

// All is tried before anything is made.
base::Result<Reply> create_notebook(const Call& call, Facts& facts) {
  const std::string& ns = call.names[0];
  TRY(Json config, spawner_config(facts));
  TRY(WantedNotebook wanted, wanted_notebook({ns, call.user, call.body, std::move(config)}));
  TRY_VOID(create(facts, kNotebooks, ns, wanted.notebook, true));
  for (const FormVolume& volume : wanted.volumes)
    if (volume.new_claim.is_object()) TRY_VOID(create(facts, kPersistentVolumeClaims, ns, volume.new_claim, true));
  for (const FormVolume& volume : wanted.volumes) {
    std::string claim;
    if (volume.new_claim.is_object()) {
      TRY(const Json made, create(facts, kPersistentVolumeClaims, ns, volume.new_claim));
      claim = api::name_of(made);
    }
    add_volume(wanted.notebook, volume, claim);
  }
  TRY_VOID(create(facts, kNotebooks, ns, std::move(wanted.notebook)));
  return message("Notebook created successfully.");
}

base::Result<Reply> change_notebook(const Call& call, Facts& facts) {
  const Json& stopped = call.body["stopped"];
  if (!stopped.is_bool()) return bad_request("Request body must include at least one supported key: ['stopped']");
  const Json mark = stopped.as_bool() ? Json(base::format_rfc3339(facts.now())) : Json();
  TRY_VOID(merge(facts, kNotebooks, call.names[0], call.names[1],
                 Json::object({{"metadata", Json::object({{"annotations", Json::object({{kStopped, mark}})}})}})));
  return Reply();
}

base::Result<Reply> delete_notebook(const Call& call, Facts& facts) {
  TRY_VOID(remove(facts, kNotebooks, call.names[0], call.names[1]));
  return message(base::format("Notebook {} successfully deleted.", call.names[1]));
}

}  // namespace

std::span<const Route> jupyter_routes() {
  static const std::array kRoutes = {
      kInfo,
      kNamespaces,
      kStorageClasses,
      kDefaultStorageClass,
      kPodDefaults,
      Route{"GET", "api/config", config},
      Route{"GET", "api/gpus", gpus},
      Route{"GET", "api/namespaces/{}/pvcs", claims},
      Route{"GET", "api/namespaces/{}/notebooks", notebooks},
      Route{"POST", "api/namespaces/{}/notebooks", create_notebook},
      Route{"GET", "api/namespaces/{}/notebooks/{}", notebook},
      Route{"PATCH", "api/namespaces/{}/notebooks/{}", change_notebook},
      Route{"DELETE", "api/namespaces/{}/notebooks/{}", delete_notebook},
      Route{"GET", "api/namespaces/{}/notebooks/{}/pod", notebook_pod},
      Route{"GET", "api/namespaces/{}/notebooks/{}/pod/{}/logs", notebook_logs},
      Route{"GET", "api/namespaces/{}/notebooks/{}/events", notebook_events},
  };
  return kRoutes;
}

}  // namespace webapps

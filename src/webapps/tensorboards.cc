// The web application for TensorBoards.
#include <array>

#include "api/kubeflow/v1alpha1/tensorboard.h"
#include "base/format.h"
#include "webapps/apps.h"
#include "webapps/objects.h"

namespace webapps {

using api::Json;
using api::resources::kTensorboards;

namespace {

base::Result<Reply> boards(const Call& call, Facts& facts) {
  TRY(const auto objects, list(facts, kTensorboards, call.names[0]));
  Json rows = Json::array();
  for (const Json& object : objects) {
    const bool is_ready = object["status"]["readyReplicas"].as_int() == 1;
    rows.push_back(
        Json::object({{"name", api::name_of(object)},
                      {"namespace", api::namespace_of(object)},
                      {"logspath", object["spec"]["logspath"]},
                      {"age", object["metadata"]["creationTimestamp"]},
                      {"status", is_ready ? status("ready", "The Tensorboard server is ready to connect")
                                          : status("unavailable", "The Tensorboard server is currently unavailble")}}));
  }
  return answer("tensorboards", std::move(rows));
}

base::Result<Reply> create_board(const Call& call, Facts& facts) {
  TRY_VOID(check_members(call, {"name", "logspath"}));
  Json metadata = Json::object({{"name", call.body["name"]}, {"namespace", call.names[0]}});
  const Json& configurations = call.body["configurations"];
  if (!configurations.is_array() && !configurations.is_null())
    return bad_request("configurations is not a list of labels");
  for (const Json& label : configurations.items()) metadata.edit("labels").set(label.as_string(), "true");
  TRY_VOID(create(facts, kTensorboards, call.names[0],
                  Json::object({{"apiVersion", "tensorboard.kubeflow.org/v1alpha1"},
                                {"kind", "Tensorboard"},
                                {"metadata", std::move(metadata)},
                                {"spec", Json::object({{"logspath", call.body["logspath"]}})}})));
  return message("Tensorboard created successfully.");
}

base::Result<Reply> delete_board(const Call& call, Facts& facts) {
  TRY_VOID(remove(facts, kTensorboards, call.names[0], call.names[1]));
  return message(base::format("Tensorboard {} successfully deleted.", call.names[1]));
}

// The form wants their names alone.
base::Result<Reply> claim_names(const Call& call, Facts& facts) {
  TRY(const auto claims, list(facts, api::resources::kPersistentVolumeClaims, call.names[0]));
  Json names = Json::array();
  for (const Json& claim : claims) names.push_back(api::name_of(claim));
  return answer("pvcs", std::move(names));
}

}  // namespace

std::span<const Route> tensorboards_routes() {
  static const std::array kRoutes = {
      kInfo,
      kNamespaces,
      kStorageClasses,
      kDefaultStorageClass,
      kPodDefaults,
      Route{"GET", "api/namespaces/{}/pvcs", claim_names},
      Route{"GET", "api/namespaces/{}/tensorboards", boards},
      Route{"POST", "api/namespaces/{}/tensorboards", create_board},
      Route{"DELETE", "api/namespaces/{}/tensorboards/{}", delete_board},
  };
  return kRoutes;
}

}  // namespace webapps

// The volume, where it is mounted, and who wants none.
#include "apiserver/kinds/pods/service_account_hook.h"

#include <algorithm>

#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

constexpr std::string_view kMountPath = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr int kTokenSeconds = 3607;

Json access_volume(std::string_view name) {
  Json token = Json::object({{"expirationSeconds", kTokenSeconds}, {"path", "token"}});
  Json authority = Json::object(
      {{"name", "kube-root-ca.crt"}, {"items", Json::array({Json::object({{"key", "ca.crt"}, {"path", "ca.crt"}})})}});
  Json field = Json::object({{"apiVersion", "v1"}, {"fieldPath", "metadata.namespace"}});
  Json space =
      Json::object({{"items", Json::array({Json::object({{"fieldRef", std::move(field)}, {"path", "namespace"}})})}});
  Json sources = Json::array();
  sources.push_back(Json::object({{"serviceAccountToken", std::move(token)}}));
  sources.push_back(Json::object({{"configMap", std::move(authority)}}));
  sources.push_back(Json::object({{"downwardAPI", std::move(space)}}));
  return Json::object(
      {{"name", name}, {"projected", Json::object({{"defaultMode", 0644}, {"sources", std::move(sources)}})}});
}

bool wants_token(const Json& pod, const std::optional<Json>& account) {
  const Json& own = pod["spec"]["automountServiceAccountToken"];
  if (own.is_bool()) return own.as_bool();
  return !account || (*account)["automountServiceAccountToken"].as_bool(true);
}

// True if the container has something there already.
bool has_mount(const Json& container) {
  return std::ranges::any_of(container["volumeMounts"].items(),
                             [](const Json& mount) { return mount["mountPath"].as_string() == kMountPath; });
}

void add_token(Json& pod, std::string_view name) {
  bool used = false;
  Json& spec = pod.edit("spec");
  for (const char* list : {"initContainers", "containers"}) {
    for (std::size_t i = 0; i < spec[list].size(); ++i) {
      if (!spec[list][i].is_object() || has_mount(spec[list][i])) continue;
      Json& container = spec.edit(list).edit(i);
      Json mounts = container["volumeMounts"].is_array() ? container["volumeMounts"] : Json::array();
      mounts.push_back(Json::object({{"name", name}, {"readOnly", true}, {"mountPath", kMountPath}}));
      container.set("volumeMounts", std::move(mounts));
      used = true;
    }
  }
  // A copy of a pod brings the volume along.
  const bool there =
      std::ranges::any_of(spec["volumes"].items(), [&](const Json& one) { return one["name"].as_string() == name; });
  if (!used || there) return;
  Json volumes = spec["volumes"].is_array() ? spec["volumes"] : Json::array();
  volumes.push_back(access_volume(name));
  spec.set("volumes", std::move(volumes));
}

api::AdmissionAnswer review(const api::AdmissionRequest& request, const api::ObjectReader& objects) {
  api::AdmissionAnswer answer;
  Json pod = request.object;
  if (!pod["spec"].is_object()) return answer;
  const std::string_view name = pod["spec"]["serviceAccountName"].as_string();
  const std::string account_name(name.empty() ? "default" : name);
  const auto account = objects.find(api::resources::kServiceAccounts, request.ns, account_name);
  if (!account && account_name != "default") {
    answer.allowed = false;
    answer.message = base::format("error looking up service account {}/{}: serviceaccount \"{}\" not found", request.ns,
                                  account_name, account_name);
    return answer;
  }
  pod.edit("spec").set("serviceAccountName", account_name);
  pod.edit("spec").set("serviceAccount", account_name);
  if (account && pod["spec"]["imagePullSecrets"].empty() && !(*account)["imagePullSecrets"].empty())
    pod.edit("spec").set("imagePullSecrets", (*account)["imagePullSecrets"]);
  // The name of a volume matters to its pod only.
  if (wants_token(pod, account)) add_token(pod, "kube-api-access");
  answer.object = std::move(pod);
  return answer;
}

}  // namespace

api::AdmissionHook service_account_hook() {
  return {.path = {},
          .mutating = true,
          .resource = api::resources::kPods,
          .kind = "Pod",
          .operations = {api::Operation::kCreate},
          .review = review};
}

}  // namespace apiserver

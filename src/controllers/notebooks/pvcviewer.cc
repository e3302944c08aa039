// The pod is the one that the viewer names, or a file browser.
#include "controllers/notebooks/pvcviewer.h"

#include <map>

#include "api/kubeflow/v1alpha1/pvcviewer.h"
#include "base/format.h"
#include "controllers/notebooks/claims.h"
#include "controllers/notebooks/notebook_objects.h"
#include "controllers/notebooks/server.h"
#include "controllers/workloads/pods.h"

namespace controllers::notebooks {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::size_t kNameMax = 53;  // "pvcviewer-" and the name are a label and the name of a service
constexpr std::int64_t kPort = 8080;
constexpr std::string_view kPartOf = "app.kubernetes.io/part-of", kPart = "pvc-viewer";

std::string made_name(const Json& viewer) { return base::format("pvcviewer-{}", api::name_of(viewer)); }

std::string url_of(const Json& viewer) {
  return base::format("{}/{}/{}/", viewer["spec"]["networking"]["basePrefix"].as_string(), api::namespace_of(viewer),
                      api::name_of(viewer));
}

Json browser(const Json& viewer) {
  const Json env = Json::array({Json::object({{"name", "FB_ADDRESS"}, {"value", "0.0.0.0"}}),
                                Json::object({{"name", "FB_PORT"}, {"value", std::to_string(kPort)}}),
                                Json::object({{"name", "FB_DATABASE"}, {"value", "/tmp/filebrowser.db"}}),
                                Json::object({{"name", "FB_NOAUTH"}, {"value", "true"}}),
                                Json::object({{"name", "FB_BASEURL"}, {"value", url_of(viewer)}})});
  const Json container = Json::object(
      {{"name", "pvcviewer"},
       {"image", "filebrowser/filebrowser:latest"},
       {"env", env},
       {"ports", Json::array({Json::object({{"containerPort", kPort}, {"protocol", "TCP"}})})},
       {"workingDir", "/data"},
       {"volumeMounts", Json::array({Json::object({{"name", "viewer-volume"}, {"mountPath", "/data"}})})}});
  return Json::object({{"containers", Json::array({container})}});
}

bool has_claim(const Json& pod, std::string_view claim) {
  for (const Json& volume : pod["volumes"].items())
    if (volume["persistentVolumeClaim"]["claimName"].as_string() == claim) return true;
  return false;
}

// COMPAT(pvcviewer-defaults)
Json pod_of(const Json& viewer, const Options& options) {
  const Json& own = viewer["spec"]["podSpec"];
  if (!own.empty()) return own;
  Json pod = options.viewer_pod.empty() ? browser(viewer) : options.viewer_pod;
  const std::string claim = viewer["spec"]["pvc"].str();
  if (has_claim(pod, claim)) return pod;
  Json volumes = pod["volumes"].is_array() ? pod["volumes"] : Json::array();
  volumes.push_back(
      Json::object({{"name", "viewer-volume"}, {"persistentVolumeClaim", Json::object({{"claimName", claim}})}}));
  pod.set("volumes", std::move(volumes));
  return pod;
}

class PvcViewerController final : public Controller {
 public:
  explicit PvcViewerController(Options options) : options_(std::move(options)) {}

  std::string_view name() const override { return "pvcviewer-controller"; }
  std::string_view component() const override { return name(); }

  std::vector<Write> writes() const override {
    return with_server_writes(
        {{workloads::kDeployments, "create update"}, {resources::kPvcViewers, "update", "status"}}, options_);
  }
  std::vector<Wake> wakes_on() const override {
    const auto owner = owner_of_kind("PVCViewer");
    const auto nobody = [](const View&, const Json&) { return Keys{}; };
    std::vector<Wake> wakes = {{.resource = resources::kPvcViewers,
                                .keys = [](const View&, const Json& one) { return Keys{api::key_of(one)}; },
                                .may_be_absent = true},
                               {workloads::kDeployments, owner},
                               {resources::kServices, owner},
                               {resources::kPods, nobody},
                               {resources::kPersistentVolumeClaims, nobody}};
    if (options_.isolates) wakes.push_back({resources::kNetworkPolicies, owner});
    return wakes;
  }
  std::vector<IndexBy> indexes() const override { return {pods_by_claim()}; }

  bool follows_definitions() const override { return true; }
  void kind_comes(const api::KindInfo& kind) override { virtual_services_.comes(kind); }
  void kind_goes(const api::ResourceId& resource) override { virtual_services_.goes(resource); }
  std::vector<Wake> wakes_on_kind(const api::ResourceId& resource) override {
    if (!virtual_services_.is(resource)) return {};
    return {{resource, owner_of_kind("PVCViewer")}};
  }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    Plan plan;
    const Json* viewer = view.find(resources::kPvcViewers, key);
    if (viewer == nullptr) {
      reported_.erase(key);
      return plan;
    }
    plan.set_subject(*viewer);
    ServerStep look(plan, view, *viewer, owned_, reported_[key]);
    const std::string name = made_name(*viewer);
    if (!api::is_deleting(*viewer)) keep_objects(view, *viewer, look);
    plan.begin_stage();
    workloads::write_status(plan, resources::kPvcViewers, *viewer, status(*viewer, look.deployment(name)), turn);
    return plan;
  }

 private:
  void keep_objects(const View& view, const Json& viewer, ServerStep& look) const {
    const std::string name = made_name(viewer), claim = viewer["spec"]["pvc"].str();
    Json pod = pod_of(viewer, options_);
    std::string problem = problem_of_name(api::name_of(viewer), kNameMax);
    if (problem.empty() && !has_claim(pod, claim))
      problem = base::format("spec.podSpec.volumes: claim {} must be one of them", claim);
    if (!problem.empty()) return look.warn("Refused", problem);
    if (Json affinity = affinity_of(view, viewer, look.deployment(name)); !affinity.is_null())
      pod.set("affinity", std::move(affinity));
    const Json labels = Json::object(
        {{"app.kubernetes.io/name", api::name_of(viewer)}, {"app.kubernetes.io/instance", name}, {kPartOf, kPart}});
    const Json port = port_of(viewer, pod);
    if (options_.isolates) look.keep(resources::kNetworkPolicies, policy_of(viewer, name, labels));
    const bool ours = look.keep(
        workloads::kDeployments,
        deployment_of(viewer,
                      {.name = name, .labels = labels, .selector = labels, .pod = std::move(pod), .recreates = true}));
    const Json& networking = viewer["spec"]["networking"];
    if (!ours || networking.empty()) return;
    look.keep(resources::kServices, service_of(viewer, name, labels, "http", port));
    const std::string prefix = url_of(viewer), rewrite = networking["rewrite"].str();
    look.route(virtual_services_,
               {.name = name,
                .prefix = prefix,
                .rewrite = rewrite.empty() ? prefix : rewrite,
                .service = name,
                .timeout = networking["timeout"].str()},
               options_);
  }

  static Json port_of(const Json& viewer, const Json& pod) {
    const Json& reported = viewer["spec"]["networking"]["targetPort"];
    if (!reported.is_null()) return reported;
    return pod["containers"][std::size_t{0}]["ports"][std::size_t{0}]["containerPort"].as_int(kPort);
  }

  // A viewer that runs keeps its place.
  static Json affinity_of(const View& view, const Json& viewer, const Json* there) {
    if (!viewer["spec"]["rwoScheduling"].as_bool()) return {};
    if (there != nullptr) return (*there)["spec"]["template"]["spec"]["affinity"];
    const std::string_view ns = api::namespace_of(viewer), claim = viewer["spec"]["pvc"].as_string();
    if (!is_for_one_node(view, ns, claim)) return {};
    const std::string node = node_with_claim(view, ns, claim, kPartOf, kPart);
    return node.empty() ? Json() : affinity_to(node);
  }

  static Json status(const Json& viewer, const Json* deployment) {
    Json condition;
    bool ready = false;
    if (deployment != nullptr) {
      condition = (*deployment)["status"]["conditions"][std::size_t{0}];
      ready = (*deployment)["spec"]["replicas"].as_int(1) == (*deployment)["status"]["readyReplicas"].as_int();
    }
    Json status = Json::object({{"ready", ready}});
    if (!viewer["spec"]["networking"].empty()) status.set("url", url_of(viewer));
    status.set("conditions", with_condition(viewer["status"]["conditions"], "type", std::move(condition)));
    return status;
  }

  Options options_;
  OwnedObjects owned_;
  KindOfStranger virtual_services_ = notebooks::virtual_services();
  std::map<std::string, std::set<std::string>> reported_;
};

}  // namespace

std::unique_ptr<Controller> make_pvcviewer_controller(Options options) {
  return std::make_unique<PvcViewerController>(std::move(options));
}

}  // namespace controllers::notebooks

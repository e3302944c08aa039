// The place of the logs decides about volumes; one Deployment and one Service follow.
#include "controllers/notebooks/tensorboard.h"

#include <algorithm>
#include <map>

#include "api/kubeflow/v1alpha1/tensorboard.h"
#include "base/format.h"
#include "controllers/notebooks/claims.h"
#include "controllers/notebooks/notebook_objects.h"
#include "controllers/notebooks/server.h"
#include "controllers/workloads/pods.h"

namespace controllers::notebooks {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::size_t kNameMax = 58;  // "http-" and the name are the name of a port
constexpr std::int64_t kPort = 6006;

Json volumes_of(const Logs& logs) {
  if (!logs.claim.empty())
    return Json::array(
        {Json::object({{"name", "tbpd"}, {"persistentVolumeClaim", Json::object({{"claimName", logs.claim}})}})});
  if (logs.google)
    return Json::array(
        {Json::object({{"name", "gcp-creds"}, {"secret", Json::object({{"secretName", "user-gcp-sa"}})}})});
  return Json::array();
}

Json mounts_of(const Logs& logs) {
  if (!logs.claim.empty()) {
    Json mount = Json::object({{"name", "tbpd"}, {"readOnly", true}, {"mountPath", logs.mount_path}});
    if (!logs.sub_path.empty()) mount.set("subPath", logs.sub_path);
    return Json::array({std::move(mount)});
  }
  if (logs.google)
    return Json::array({Json::object({{"name", "gcp-creds"}, {"readOnly", true}, {"mountPath", "/secret/gcp"}})});
  return Json::array();
}

Json pod_of(const Logs& logs, const std::string& image, Json affinity) {
  const Json container =
      Json::object({{"name", "tensorboard"},
                    {"image", image},
                    {"imagePullPolicy", "IfNotPresent"},
                    {"command", Json::array({Json("/usr/local/bin/tensorboard")})},
                    {"args", Json::array({Json("--logdir=" + logs.argument), Json("--bind_all")})},
                    {"workingDir", "/"},
                    {"ports", Json::array({Json::object({{"containerPort", kPort}, {"protocol", "TCP"}})})},
                    {"volumeMounts", mounts_of(logs)}});
  Json pod = Json::object(
      {{"restartPolicy", "Always"}, {"containers", Json::array({container})}, {"volumes", volumes_of(logs)}});
  if (!affinity.is_null()) pod.set("affinity", std::move(affinity));
  return pod;
}

class TensorboardController final : public Controller {
 public:
  explicit TensorboardController(Options options) : options_(std::move(options)) {}

  std::string_view name() const override { return "tensorboard-controller"; }
  std::string_view component() const override { return name(); }

  std::vector<Write> writes() const override {
    return with_server_writes(
        {{workloads::kDeployments, "create update"}, {resources::kTensorboards, "update", "status"}}, options_);
  }
  std::vector<Wake> wakes_on() const override {
    const auto owner = owner_of_kind("Tensorboard");
    const auto nobody = [](const View&, const Json&) { return Keys{}; };
    std::vector<Wake> wakes = {{.resource = resources::kTensorboards,
                                .keys = [](const View&, const Json& one) { return Keys{api::key_of(one)}; },
                                .may_be_absent = true},
                               {workloads::kDeployments, owner},
                               {resources::kServices, owner}};
    if (options_.isolates) wakes.push_back({resources::kNetworkPolicies, owner});
    if (options_.rwo_scheduling) {
      wakes.push_back({resources::kPods, nobody});
      wakes.push_back({resources::kPersistentVolumeClaims, nobody});
    }
    return wakes;
  }
  std::vector<IndexBy> indexes() const override {
    return options_.rwo_scheduling ? std::vector{pods_by_claim()} : std::vector<IndexBy>{};
  }

  bool follows_definitions() const override { return true; }
  void kind_comes(const api::KindInfo& kind) override { virtual_services_.comes(kind); }
  void kind_goes(const api::ResourceId& resource) override { virtual_services_.goes(resource); }
  std::vector<Wake> wakes_on_kind(const api::ResourceId& resource) override {
    if (!virtual_services_.is(resource)) return {};
    return {{resource, owner_of_kind("Tensorboard")}};
  }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    Plan plan;
    const Json* board = view.find(resources::kTensorboards, key);
    if (board == nullptr || api::is_deleting(*board)) {
      reported_.erase(key);
      return plan;
    }
    plan.set_subject(*board);
    ServerStep look(plan, view, *board, owned_, reported_[key]);
    const std::string name(api::name_of(*board)), ns(api::namespace_of(*board));
    const Logs logs = logs_of((*board)["spec"]["logspath"].as_string());
    std::string problem = problem_of_name(name, kNameMax);
    if (problem.empty() && logs.claim.empty() && logs.argument.empty())
      problem = base::format("spec.logspath: {:?} names no place", (*board)["spec"]["logspath"].as_string());
    const Json labels = Json::object({{"app", name}});
    if (problem.empty() && options_.isolates)
      look.keep(resources::kNetworkPolicies, policy_of(*board, "tensorboard-" + name, labels));
    if (!problem.empty()) {
      look.warn("Refused", problem);
    } else if (look.keep(workloads::kDeployments, deployment(view, *board, logs, look.deployment(name)))) {
      look.keep(resources::kServices, service_of(*board, name, labels, "http-" + name, kPort));
      look.route(
          virtual_services_,
          {.name = name, .prefix = base::format("/tensorboard/{}/{}/", ns, name), .rewrite = "/", .service = name},
          options_);
    }
    plan.begin_stage();
    workloads::write_status(plan, resources::kTensorboards, *board, status(*board, look.deployment(name)), turn);
    return plan;
  }

 private:
  Json deployment(const View& view, const Json& board, const Logs& logs, const Json* there) const {
    const std::string name(api::name_of(board));
    Json labels = Json::object();
    for (const Json::Member& label : board["metadata"]["labels"].members()) labels.set(label.name(), label.value);
    labels.set("app", name);
    return deployment_of(board, {.name = name,
                                 .labels = std::move(labels),
                                 .selector = Json::object({{"app", name}}),
                                 .pod = pod_of(logs, options_.tensorboard_image, affinity(view, board, logs, there))});
  }

  // A claim that nobody else has mounted now leaves the wish as it is: to change it would start the server again.
  Json affinity(const View& view, const Json& board, const Logs& logs, const Json* there) const {
    const std::string_view ns = api::namespace_of(board);
    if (!options_.rwo_scheduling || logs.claim.empty() || !is_for_one_node(view, ns, logs.claim)) return {};
    const std::string node = node_with_claim(view, ns, logs.claim, "app", api::name_of(board));
    if (!node.empty()) return affinity_to(node);
    return there != nullptr ? (*there)["spec"]["template"]["spec"]["affinity"] : Json();
  }

  static Json status(const Json& board, const Json* deployment) {
    Json condition;
    if (deployment != nullptr)
      if (const Json& first = (*deployment)["status"]["conditions"][std::size_t{0}]; first.is_object()) {
        condition = Json::object({{"deploymentState", first["type"]}});
        if (first["lastUpdateTime"].is_string()) condition.set("lastProbeTime", first["lastUpdateTime"]);
      }
    const std::int64_t ready = deployment != nullptr ? (*deployment)["status"]["readyReplicas"].as_int() : 0;
    return Json::object(
        {{"conditions", with_condition(board["status"]["conditions"], "deploymentState", std::move(condition))},
         {"readyReplicas", std::clamp<std::int64_t>(ready, 0, 1)}});
  }

  Options options_;
  OwnedObjects owned_;
  KindOfStranger virtual_services_ = notebooks::virtual_services();
  std::map<std::string, std::set<std::string>> reported_;
};

}  // namespace

Logs logs_of(std::string_view path) {
  constexpr std::string_view kClaim = "pvc://", kMount = "/tensorboard_logs/";
  const std::string whole(path);
  if (path.starts_with("gs://")) return {.argument = whole, .google = true};
  if (path.starts_with("s3://") || path.starts_with("/cns/")) return {.argument = whole};
  if (!path.starts_with(kClaim)) return {.claim = "tb-volume", .mount_path = whole, .argument = whole};
  path.remove_prefix(kClaim.size());
  const std::size_t slash = path.find('/');
  Logs logs{.claim = std::string(path.substr(0, slash))};
  if (logs.claim.empty()) return {};
  if (slash != std::string_view::npos) logs.sub_path = path.substr(slash + 1);
  logs.mount_path = kMount;
  logs.argument = kMount;
  return logs;
}

std::unique_ptr<Controller> make_tensorboard_controller(Options options) {
  return std::make_unique<TensorboardController>(std::move(options));
}

}  // namespace controllers::notebooks

// training-operator: training jobs on a cluster (training.md 10.1).
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "api/json/yaml.h"
#include "base/format.h"
#include "controllers/training/controller.h"
#include "controllers/training/job.h"
#include "main/host/controller_host.h"
#include "rt/files.h"

namespace volcano_main {
namespace {

constexpr std::string_view kAccepted = "accepted; has no effect here";
constexpr std::string_view kWebhook = "accepted; admission is that of the API server or of vc-webhook-manager";

struct TrainingFlags {
  std::string metrics_address = ":8080";
  std::string probe_address = ":8081";
  std::vector<std::string> schemes;
  std::string gang_scheduler;
  bool gang = false;
  std::string only_namespace;
  std::string init_image = "alpine:3.10";
  std::string init_template = "/etc/config/initContainer.yaml";
  int init_tries_max = 100;
  std::string delivery_image = "kubeflow/kubectl-delivery:latest";
  int threads = 1;
  int webhook_port = 9443;
  std::string webhook_service = "training-operator", webhook_secret = "training-operator-webhook-cert";
  bool zap_switch = false;
  std::string zap_value;
  std::string lease = "1ca428e5.training-operator.kubeflow.org";

  std::vector<Flag> rows() {
    return {{"metrics-bind-address", &metrics_address, "address of the metrics server; 0: none"},
            {"health-probe-bind-address", &probe_address, "address of the health server; 0: none"},
            {"leader-election-id", &lease, "name of the lease"},
            {"enable-scheme", &schemes, "a kind that is run; may be repeated (default: all)"},
            {"gang-scheduler-name", &gang_scheduler, "volcano: PodGroups; empty or none: no gangs"},
            {"enable-gang-scheduling", &gang, "as releases 1.3 to 1.5 said it: gangs of volcano"},
            {"namespace", &only_namespace, "the namespace that is looked at; empty: all"},
            {"pytorch-init-container-image", &init_image, "image in which PyTorch workers wait for their master"},
            {"pytorch-init-container-template-file", &init_template, "init containers in their place, if it exists"},
            {"pytorch-init-container-max-tries", &init_tries_max, "how often they look for it"},
            {"mpi-kubectl-delivery-image", &delivery_image, "image that brings kubectl to launchers"},
            {"controller-threads", &threads, "accepted; one loop serves all jobs"},
            {"webhook-server-port", &webhook_port, kWebhook},
            {"webhook-service-name", &webhook_service, kWebhook},
            {"webhook-secret-name", &webhook_secret, kWebhook},
            {"zap-devel", &zap_switch, kAccepted},
            {"zap-encoder", &zap_value, kAccepted},
            {"zap-log-level", &zap_value, kAccepted},
            {"zap-stacktrace-level", &zap_value, kAccepted},
            {"zap-time-encoding", &zap_value, kAccepted}};
  }
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

base::Error wrong(std::string text) { return base::make_error(base::Code::kInvalid, std::move(text)); }

// The controllers of the kinds that are named, in any case.
base::Result<std::vector<std::string>> controllers_of(const std::vector<std::string>& kinds) {
  if (kinds.empty()) return controllers::training::controller_names();
  std::vector<std::string> names;
  for (const std::string& kind : kinds) {
    const std::string name = controllers::training::lower_case(kind) + "-controller";
    const auto all = controllers::training::controller_names();
    if (std::ranges::find(all, name) == all.end()) return wrong(base::format("scheme {} is not supported yet", kind));
    names.push_back(name);
  }
  return names;
}

base::Result<bool> wants_gangs(const TrainingFlags& flags) {
  const std::string name = controllers::training::lower_case(flags.gang_scheduler);
  if (name == "volcano") return true;
  if (name == "none") return false;
  if (name.empty()) return flags.gang;
  return wrong(base::format("--gang-scheduler-name: \"{}\" is none of volcano, none", flags.gang_scheduler));
}

base::Status use(const TrainingFlags& flags, ControllerFlags& host) {
  const auto serves = [](const std::string& address) { return address != "0" && !address.empty(); };
  host.enable_metrics = serves(flags.metrics_address);
  host.listen_address = flags.metrics_address;
  host.enable_healthz = serves(flags.probe_address);
  host.healthz_address = flags.probe_address;
  if (const std::string ns = variable("MY_POD_NAMESPACE"); !ns.empty()) host.lease_namespace = ns;
  host.lease_name = flags.lease;
  TRY(host.enabled, controllers_of(flags.schemes));
  controllers::training::Options options;
  TRY(options.gang, wants_gangs(flags));
  options.only_namespace = flags.only_namespace.empty() ? variable("KUBEFLOW_NAMESPACE") : flags.only_namespace;
  options.init_image = flags.init_image;
  options.init_tries_max = flags.init_tries_max;
  if (auto text = rt::read_file(flags.init_template); text.ok()) {
    const auto parsed = api::parse_yaml(*text);
    if (!parsed.ok() || !parsed->is_array())
      return wrong(base::format("--pytorch-init-container-template-file {}: not a list of containers{}{}",
                                flags.init_template, parsed.ok() ? "" : ": ",
                                parsed.ok() ? "" : parsed.error().message));
    options.init_template = *std::move(text);
  }
  options.delivery_image = flags.delivery_image;
  options.cluster_domain = variable("CUSTOM_CLUSTER_DOMAIN");
  options.gives_roles = true;
  host.training = std::move(options);
  return {};
}

}  // namespace

int run_training_operator(const Arguments& arguments) {
  TrainingFlags flags;
  return run_controllers(
      {.name = "training-operator",
       .flags = {"master", "kubeconfig", "kube-api-qps", "kube-api-burst", "leader-elect", "version", "v"},
       .preset =
           [](ControllerFlags& host) {
             host.leader_elect = false;
             host.lease_namespace = "kubeflow";
             host.kube_api_qps = "20";
             host.kube_api_burst = 30;
           },
       .own_flags = flags.rows(),
       .settle = [&flags](ControllerFlags& host) { return use(flags, host); }},
      arguments);
}

}  // namespace volcano_main

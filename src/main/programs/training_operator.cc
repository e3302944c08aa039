// training-operator: training jobs on a cluster (training.md 10.1).
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/format.h"
#include "base/letters.h"
#include "controllers/training/controller.h"
#include "controllers/training/job.h"
#include "controllers/training/mpi_objects.h"
#include "controllers/training/pods.h"
#include "main/host/base/lease.h"
#include "main/host/base/mpi_version.h"
#include "main/host/hosts/controller_host.h"
#include "rt/files/files.h"

namespace volcano_main {
namespace {

constexpr std::string_view kAccepted = "accepted; has no effect here";

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
  int webhook_port = 9443;
  std::string mpi_version = "v1";
  std::string webhook_service = "training-operator", webhook_secret = "training-operator-webhook-cert";
  std::string lease = "1ca428e5.training-operator.kubeflow.org";

  std::vector<base::Flag> rows() {
    return {
        {"metrics-bind-address", &metrics_address, "address of the metrics server; 0: none"},
        {"health-probe-bind-address", &probe_address, "address of the health server; 0: none"},
        {"leader-election-id", &lease, "name of the lease"},
        {"enable-scheme", &schemes, "a kind that is run; may be repeated (default: all)"},
        {"gang-scheduler-name", &gang_scheduler,
         "volcano: PodGroups; another name: those of scheduler-plugins, for that scheduler; empty or none: no gangs"},
        {"enable-gang-scheduling", &gang, "as releases 1.3 to 1.5 said it: gangs of volcano"},
        {"namespace", &only_namespace, "the namespace that is looked at; empty: all"},
        {"pytorch-init-container-image", &init_image, "image in which PyTorch workers wait for their master"},
        {"pytorch-init-container-template-file", &init_template, "init containers in their place, if it exists"},
        {"pytorch-init-container-max-tries", &init_tries_max, "how often they look for it"},
        {"mpi-kubectl-delivery-image", &delivery_image, "image that brings kubectl to launchers"},
        {"controller-threads", base::Accepted::kNumber, "accepted; one loop serves all jobs"},
        {"mpi-job-version", &mpi_version, kMpiVersionHelp},
        {"webhook-server-port", &webhook_port, "port of the admission webhook; 0: none"},
        {"webhook-service-name", &webhook_service, "its service, which its certificate is for"},
        {"webhook-secret-name", &webhook_secret, "the Secret that keeps its certificate"},
        {"zap-devel", base::Accepted::kSwitch, kAccepted},
        {"zap-encoder", base::Accepted::kText, kAccepted},
        {"zap-log-level", base::Accepted::kText, kAccepted},
        {"zap-stacktrace-level", base::Accepted::kText, kAccepted},
        {"zap-time-encoding", base::Accepted::kText, kAccepted}};
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
    const std::string name = base::lower(kind) + "-controller";
    const auto all = controllers::training::controller_names();
    if (std::ranges::find(all, name) == all.end()) return wrong(base::format("scheme {} is not supported yet", kind));
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

void set_gangs(const TrainingFlags& flags, controllers::training::Options& options) {
  const std::string name = base::lower(flags.gang_scheduler);
  options.gang = name.empty() ? flags.gang : name != "none";
  if (options.gang && !name.empty() && name != "volcano") options.plugin_scheduler = flags.gang_scheduler;
}

// The replacement on a cluster without one of these.
base::Status learn(ControllerFlags& host, const std::set<api::ResourceId>& absent) {
  namespace training = controllers::training;
  training::Options& options = *host.training;
  options.launcher_jobs = !absent.contains(training::kBatchJobs);
  options.autoscalers = !absent.contains(training::kAutoscalers);
  const api::ResourceId& groups = training::group_resource(options);
  if (options.gang && absent.contains(groups))
    return base::make_error(base::Code::kNotFound, base::format("{}.{}: crd might be missing, please install crd",
                                                                groups.plural, groups.group));
  return {};
}

std::optional<TrainingWebhookOptions> webhook_of(const TrainingFlags& flags) {
  if (flags.webhook_port == 0) return std::nullopt;
  return TrainingWebhookOptions{.port = static_cast<std::uint16_t>(flags.webhook_port),
                                .service = flags.webhook_service,
                                .secret = flags.webhook_secret,
                                .ns = pod_namespace()};
}

base::Status use(const TrainingFlags& flags, ControllerFlags& host) {
  const auto serves = [](const std::string& address) { return address != "0" && !address.empty(); };
  host.enable_metrics = serves(flags.metrics_address);
  host.listen_address = flags.metrics_address;
  host.enable_healthz = serves(flags.probe_address);
  host.healthz_address = flags.probe_address;
  host.lease_namespace = pod_namespace();
  if (flags.webhook_port < 0 || flags.webhook_port > 65535)
    return wrong(base::format("--webhook-server-port: {} is not between 0 and 65535", flags.webhook_port));
  TRY_VOID(check_mpi_version(flags.mpi_version));
  host.lease_name = flags.lease;
  TRY(host.enabled, controllers_of(flags.schemes));
  controllers::training::Options options;
  set_gangs(flags, options);
  options.mpi_version = flags.mpi_version;
  host.only_namespace = flags.only_namespace.empty() ? variable("KUBEFLOW_NAMESPACE") : flags.only_namespace;
  options.init_image = flags.init_image;
  options.init_tries_max = flags.init_tries_max;
  if (auto text = rt::read_file(flags.init_template); text.ok()) {
    options.init_template = *std::move(text);
    if (const auto read = controllers::training::containers_of_template(options, "master"); !read.ok())
      return wrong(
          base::format("--pytorch-init-container-template-file {}: {}", flags.init_template, read.error().message));
  } else if (text.error().code != base::Code::kNotFound) {
    return wrong(base::format("--pytorch-init-container-template-file: {}", text.error().message));
  }
  options.delivery_image = flags.delivery_image;
  options.cluster_domain = variable("CUSTOM_CLUSTER_DOMAIN");
  host.training = std::move(options);
  return {};
}

}  // namespace

int run_training_operator(const Arguments& arguments) {
  TrainingFlags flags;
  return run_controllers({.name = "training-operator",
                          .flags = {"master", "kubeconfig", "kube-api-qps", "kube-api-burst", "leader-elect", "version",
                                    "v", "log-format"},
                          .preset =
                              [](ControllerFlags& host) {
                                host.leader_elect = false;
                                host.counts_interval = controllers::training::kCountsInterval;
                                host.lease_namespace = "kubeflow";
                              },
                          .own_flags = flags.rows(),
                          .settle = [&flags](ControllerFlags& host) { return use(flags, host); },
                          .asked_for = {controllers::training::kBatchJobs, controllers::training::kAutoscalers,
                                        controllers::training::kPluginGroups, api::resources::kPodGroups},
                          .learn = learn,
                          .webhook = [&flags] { return webhook_of(flags); }},
                         arguments);
}

}  // namespace volcano_main

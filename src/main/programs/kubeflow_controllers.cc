// kubeflow-controllers: notebooks, TensorBoards, viewers, profiles, runs of pipelines and Workflows on a cluster, and
// the REST API of pipelines (kubeflow.md 2 to 6).
#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "base/format.h"
#include "base/split.h"
#include "controllers/notebooks/all.h"
#include "controllers/pipelines/all.h"
#include "controllers/workflows/workflow.h"
#include "main/host/base/lease.h"
#include "main/host/flags/notebook_settings.h"
#include "main/host/hosts/controller_host.h"
#include "main/pipelines/cluster_pipelines.h"

namespace volcano_main {
namespace {

struct KubeflowFlags {
  std::string metrics_address = ":8080";
  std::string probe_address = ":8081";
  std::vector<std::string> enabled;
  bool leads = false;
  std::string lease_namespace;
  std::string lease = "kubeflow-notebook-controller";
  std::string only_namespace;
  ClusterPipelineOptions pipelines = {.address = "0"};
  std::string report_address;

  std::vector<base::Flag> rows() {
    return {
        {"metrics-addr", &metrics_address, "address of the metrics server; 0: none"},
        {"probe-addr", &probe_address, "address of the health server; 0: none"},
        {"enable-leader-election", &leads, "run under a lease, so that one of several replicas works"},
        {"leader-election-namespace", &lease_namespace, "namespace of the lease (default: the pod's own)"},
        {"leader-election-id", &lease, "name of the lease"},
        {"enable", &enabled, "a controller that is run, such as notebook-controller; may be repeated (default: all)"},
        {"namespace", &only_namespace, "the namespace that is looked at; empty: all"},
        {"pipelines-addr", &pipelines.address,
         "address of the REST API of pipelines (the Service ml-pipeline), such as :8888; 0: none"},
        {"pipelines-tls-cert-file", &pipelines.tls_cert_file, "PEM certificate of that API; without it: plain HTTP"},
        {"pipelines-tls-private-key-file", &pipelines.tls_private_key_file, "its key"},
        {"pipelines-userid-header", &pipelines.headers.user,
         "header in which an authenticating proxy names the user, such as kubeflow-userid; whoever can reach the "
         "address can send it; empty: no header is believed"},
        {"pipelines-userid-prefix", &pipelines.headers.user_prefix, "taken from the begin of that header"},
        {"pipelines-groups-header", &pipelines.headers.groups, "header with the user's groups, apart by commas"},
        {"web-apps", &pipelines.web_apps,
         "serve the REST back ends of Kubeflow's web applications there, too (/jupyter/, /volumes/, /tensorboards/, "
         "/kfam/)"},
        {"pipelines-report-addr", &report_address,
         "ADDRESS:PORT, plain HTTP, to which steps send outputs over 4 KiB (default: that of the Service "
         "ml-pipeline)"}};
  }
};

// The address of the Service, which pods of its namespace have as variables.
std::string report_address_of(const KubeflowFlags& flags) {
  if (!flags.report_address.empty() || flags.pipelines.address == "0" || !flags.pipelines.tls_cert_file.empty())
    return flags.report_address;
  const char *host = std::getenv("ML_PIPELINE_SERVICE_HOST"), *port = std::getenv("ML_PIPELINE_SERVICE_PORT");
  // The launcher speaks IPv4 alone.
  if (host == nullptr || port == nullptr || std::string_view(host).find('.') == std::string_view::npos) return {};
  return base::format("{}:{}", host, port);
}

base::Status use(const KubeflowFlags& flags, ControllerFlags& host) {
  std::vector<std::string> all = controllers::notebooks::controller_names();
  std::ranges::copy(controllers::pipelines::controller_names(), std::back_inserter(all));
  all.emplace_back(controllers::workflows::kController);
  if (flags.pipelines.web_apps && flags.pipelines.address == "0")
    return base::make_error(base::Code::kInvalid, "--web-apps: they are served at --pipelines-addr, which is missing");
  for (const std::string& name : flags.enabled)
    if (std::ranges::find(all, name) == all.end())
      return base::make_error(base::Code::kInvalid,
                              base::format("--enable: {:?} is none of {}", name, base::join(all, ", ")));
  host.enabled = flags.enabled.empty() ? all : flags.enabled;
  const auto serves = [](const std::string& address) { return address != "0" && !address.empty(); };
  host.enable_metrics = serves(flags.metrics_address);
  host.listen_address = flags.metrics_address;
  host.enable_healthz = serves(flags.probe_address);
  host.healthz_address = flags.probe_address;
  host.leader_elect = flags.leads;
  host.lease_name = flags.lease;
  host.lease_namespace = !flags.lease_namespace.empty() ? flags.lease_namespace : pod_namespace();
  host.only_namespace = flags.only_namespace;
  host.workflows = true;
  TRY(host.notebooks, notebook_settings_of_environment());
  host.pipelines.emplace();
  host.pipelines->report_address = report_address_of(flags);
  return {};
}

}  // namespace

int run_kubeflow_controllers(const Arguments& arguments) {
  KubeflowFlags flags;
  return run_controllers(
      {.name = "kubeflow-controllers",
       .flags = {"master", "kubeconfig", "kube-api-qps", "kube-api-burst", "version", "v", "log-format"},
       .preset = [](ControllerFlags& host) { host.leader_elect = false; },
       .own_flags = flags.rows(),
       .settle = [&flags](ControllerFlags& host) { return use(flags, host); },
       .beside = [&flags](const client::ServerAccess& access) -> base::Result<std::shared_ptr<void>> {
         if (flags.pipelines.address == "0") return std::shared_ptr<void>();
         ClusterPipelineOptions options = flags.pipelines;
         options.ns = flags.only_namespace;
         TRY(auto served, ClusterPipelines::start(access, options));
         return std::shared_ptr<void>(std::move(served));
       }},
      arguments);
}

}  // namespace volcano_main

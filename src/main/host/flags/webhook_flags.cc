// Rows of the webhook flags and what they mean for admission.
#include "main/host/flags/webhook_flags.h"

#include <optional>

#include "base/format.h"
#include "base/split.h"
#include "base/time_zone.h"
#include "rt/files/bounded_files.h"

namespace volcano_main {
namespace {

bool knows_time_zone(const std::string& zone) { return base::TimeZone::load(zone).ok(); }

}  // namespace

std::vector<base::Flag> WebhookFlags::rows() {
  std::vector<base::Flag> rows = {
      {"scheduler-name", &scheduler_names, "schedulers whose pods are looked at (default volcano)"},
      {"enabled-admission", &enabled, "comma list of the paths that answer"},
      {"admission-conf", &admission_conf, "pod-mutation configuration file"},
      {"feature-gates", &feature_gates, "Name=true|false,..."},
      {"enable-queue-allocated-pods-check", &allocated_pods_check, "refuse deletion of a queue with allocated pods"},
      {"enable-root-queue-protection", &root_protection, "freeze capability, deserved and guarantee of queue root"},
      {"max-queue-depth", &queue_depth_max, "the most levels of the queue tree"},
      {"master", &master, "API server URL, overrides the kubeconfig"},
      {"kubeconfig", &kubeconfig, "kubeconfig; empty: in a cluster"},
      {"tls-cert-file", &tls_cert_file, "serving certificate"},
      {"tls-private-key-file", &tls_private_key_file, "serving key"},
      {"ca-cert-file", &ca_cert_file, "CA bundle, also put into the webhook configurations"},
      {"listen-address", &listen_address, "address to listen on"},
      {"port", &port, "port to listen on"},
      {"webhook-namespace", &webhook_namespace, "namespace of the webhook service"},
      {"webhook-service-name", &webhook_service_name, "name of the webhook service"},
      {"webhook-url", &webhook_url, "URL of the webhook"},
      {"tls-secret-name", &tls_secret_name,
       "Secret in --webhook-namespace that has the keys: made, mended and renewed while this runs; empty: the files "
       "alone"},
      {"graceful-shutdown-time", &graceful_shutdown_time,
       "how long answers that are under way are waited for at the end"},
      {"v", &v, "log verbosity; 4 and more: debug lines too"},
      {"log-format", &log_format, "text or json"},
      {"kube-api-qps", &kube_api_qps, "requests a second to the API server"},
      {"kube-api-burst", &kube_api_burst, "burst of requests to the API server"},
      {"healthz-address", &healthz_address, "address of the health server"},
      {"enable-healthz", &enable_healthz, "serve /healthz and /readyz"},
      {"version", &version, "print the version and exit"}};
  rows.insert(rows.end(), base::klog_flags().begin(), base::klog_flags().end());
  return rows;
}

base::Result<admission::Options> WebhookFlags::admission() const {
  admission::Options options;
  if (!scheduler_names.empty()) options.scheduler_names = scheduler_names;
  options.enabled.emplace();
  for (const std::string_view path : base::split_words(enabled, ',')) options.enabled->emplace_back(path);
  for (const std::string& path : *options.enabled)
    if (admission::webhook_name(path).empty())
      return base::make_error(base::Code::kInvalid,
                              base::format("enabled admission {} not found on the admission registered map", path));
  options.knows_time_zone = knows_time_zone;
  options.queue_depth_max = queue_depth_max;
  options.queue_allocated_pods_check = allocated_pods_check;
  options.root_queue_protection = root_protection;
  for (const std::string_view gate : base::split_words(feature_gates, ',')) {
    const std::size_t equals = gate.find('=');
    const std::string_view value = equals == std::string::npos ? "" : gate.substr(equals + 1);
    const std::optional<bool> on = base::parse_bool(value);
    if (!on)
      return base::make_error(base::Code::kInvalid,
                              base::format("--feature-gates: \"{}\" is not Name=true|false", gate));
    if (gate.substr(0, equals) == "PodLevelResources") options.pod_level_resources = *on;
    if (gate.substr(0, equals) == "SchedulingGatesQueueAdmission") options.scheduling_gates_queue_admission = *on;
  }
  return options;
}

base::Result<std::optional<std::vector<admission::PodGroupRule>>> WebhookFlags::pod_rules() const {
  if (admission_conf.empty()) return std::optional<std::vector<admission::PodGroupRule>>();
  TRY(const std::string text, rt::read_bounded_file(admission_conf, std::size_t{4} << 20, base::seconds(10)));
  auto rules = admission::parse_pod_rules(text);
  if (!rules.ok()) return base::within(rules.take_error(), admission_conf);
  return std::optional(*std::move(rules));
}

}  // namespace volcano_main

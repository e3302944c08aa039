// vc-controller-manager, and the discovery of HyperNodes as a program of its own.
#include "base/format.h"
#include "main/host/base/address.h"
#include "main/host/hosts/controller_host.h"

namespace volcano_main {

int run_controller_manager(const Arguments& arguments) {
  return run_controllers({.name = "vc-controller-manager", .app = "volcano-controller", .flags = {}, .preset = {}},
                         arguments);
}

namespace {

// The texts are those of install.md 4, which scripts know; what was given follows.
base::Status check_rates_and_addresses(const ControllerFlags& flags) {
  const auto wrong = [](std::string text) { return base::make_error(base::Code::kInvalid, std::move(text)); };
  if (flags.names_qps && !(flags.kube_api_qps > 0))
    return wrong(base::format("kube-api-qps must be greater than zero, not {}", flags.kube_api_qps));
  if (flags.kube_api_burst <= 0)
    return wrong(base::format("kube-api-burst must be greater than zero, not {}", flags.kube_api_burst));
  const auto health = parse_host_port(flags.healthz_address);
  if (flags.enable_healthz && !health.ok())
    return wrong(base::format("invalid healthz-address: {}", health.error().message));
  const auto metrics = parse_host_port(flags.listen_address);
  if (flags.enable_metrics && !metrics.ok())
    return wrong(base::format("invalid listen-address: {}", metrics.error().message));
  if (!flags.enable_healthz || !flags.enable_metrics) return {};
  const bool overlap =
      health->port == metrics->port && (health->host == metrics->host || health->host.empty() || metrics->host.empty());
  if (overlap)
    return wrong(
        base::format("healthz-address and listen-address must be different when both endpoints are enabled; {} and {} "
                     "overlap",
                     flags.healthz_address, flags.listen_address));
  return {};
}

}  // namespace

// controllers.md 1.6.
int run_hypernode_controller_manager(const Arguments& arguments) {
  return run_controllers({.name = "vc-hypernode-controller-manager",
                          .flags = {"master",
                                    "kubeconfig",
                                    "kube-api-qps",
                                    "kube-api-burst",
                                    "healthz-address",
                                    "enable-healthz",
                                    "enable-metrics",
                                    "listen-address",
                                    "ca-cert-file",
                                    "tls-cert-file",
                                    "tls-private-key-file",
                                    "version",
                                    "leader-elect",
                                    "leader-elect-lease-duration",
                                    "leader-elect-renew-deadline",
                                    "leader-elect-retry-period",
                                    "leader-elect-resource-lock",
                                    "leader-elect-resource-name",
                                    "leader-elect-resource-namespace",
                                    "v",
                                    "log-format"},
                          .preset = [](ControllerFlags& flags) { flags = hypernode_controller_flags(); },
                          .check = check_rates_and_addresses,
                          .not_ready = "HyperNode controller is not ready"},
                         arguments);
}

}  // namespace volcano_main

// The flags of `volcano up`.
#include "main/host/flags/up_flags.h"

#include <algorithm>

#include "api/schema/names.h"
#include "base/format.h"
#include "base/number.h"
#include "base/split.h"
#include "base/time_zone.h"
#include "main/host/base/address.h"
#include "main/host/base/mpi_version.h"
#include "main/host/data/object_store.h"
#include "main/host/flags/notebook_settings.h"
#include "node/devices/gpu_shares.h"
#include "node/machine/container_text.h"
#include "rt/tls/tls.h"
#include "scheduler/framework/config.h"
#include "scheduler/options.h"
#include "ui/notebooks/notebook_headers.h"

namespace volcano_main {
namespace {

constexpr std::string_view kComponents[] = {"apiserver", "controllers", "scheduler", "node"};

base::Status check_components(const UpOptions& options) {
  for (const std::string_view word : base::split_words(options.components, ','))
    if (word != "*" && std::ranges::find(kComponents, word) == std::end(kComponents))
      return base::make_error(
          base::Code::kInvalid,
          base::format("--components: \"{}\" is none of *, apiserver, controllers, scheduler, node", word));
  if (!runs(options, "apiserver"))
    return base::make_error(base::Code::kInvalid,
                            base::format("--components: \"{}\" is without apiserver, which the others need; on a "
                                         "cluster they are programs of their own (vc-scheduler and so on)",
                                         options.components));
  return {};
}

base::Status check_node_ip(const std::string& ip) {
  if (ip.empty()) return {};
  TRY_VOID(check_ip("--node-ip", ip));
  const std::vector<std::string> own = own_addresses();
  if (std::ranges::find(own, rt::usual_ip(ip).value_or(ip)) != own.end()) return {};
  return base::make_error(
      base::Code::kInvalid,
      base::format("--node-ip: \"{}\" is not an address of this machine, which has {}", ip, base::join(own, ", ")));
}

std::vector<base::Flag> ports_of(UpOptions& options) {
  return {{"address", &options.address, "address the API server listens on"},
          {"port", &options.port, "port the API server listens on; 0: a free one"},
          {"notebook-ports", &options.notebook_ports, "notebooks' ports, one a namespace: FIRST-LAST, or 0: free ones"},
          {"ingress-http", &options.ingress_http, "port of Ingresses, open while there is one of our class; 0: none"},
          {"ingress-https", &options.ingress_https, "the same for Ingresses with TLS; 0: none"}};
}

}  // namespace

std::vector<base::Flag> up_flags(UpOptions& options) {
  std::vector<base::Flag> rows = {
      {"data", &options.data, "folder of everything kept: objects, keys, pods (default ~/.local/share/volcano)"},
      {"kubeconfig", &options.kubeconfig, "where to write the administrator's kubeconfig (default DATA/kubeconfig)"},
      {"node-name", &options.node_name, "name of this machine's Node (default: the host name)"},
      {"node-ip", &options.node_ip, "address of the Node, and pods' hostIP (default: one that others reach)"},
      {"storage-gib", &options.storage_gib, "the most that objects and their history may take on disk"},
      {"objects-mib", &options.objects_mib,
       "the most that all objects may take in memory; writes beyond are 507; 0: a quarter of the machine's memory"},
      {"event-ttl", &options.event_ttl, "how long an Event is kept after it was last written, such as 1h or 30m"},
      {"encryption-key-file", &options.encryption_key_file,
       "encrypt Secrets on the disk: lines NAME:KEY (32 bytes, base64); the first encrypts, all decrypt"},
      {"audit-log", &options.audit_log,
       "write down every request, a line of JSON each, in this file (SIGHUP: open it again)"},
      {"audit-policy-file", &options.audit_policy_file,
       "an audit.k8s.io/v1 Policy: which requests, and how much of them (default: the metadata of all)"},
      {"audit-strict", &options.audit_strict, "stop when a line of the audit log cannot be written"},
      {"host-rootfs", &options.host_rootfs,
       "the host's files stand in for images that are not imported: who may create pods can read the host"},
      {"runtime", &options.runtime, "how pods run: runc, process, or auto"},
      {"runtime-handlers", &options.runtime_handlers,
       "further OCI runtimes for pods of a RuntimeClass, as HANDLER=PROGRAM, such as crun=/usr/bin/crun; runc is there "
       "anyway"},
      {"service-cluster-ip-range", &options.service_range,
       "addresses that Services get; the first is the API server's own. Services keep those they have"},
      {"nvidia-driver-root", &options.nvidia_driver_root,
       "where the files and device nodes of the NVIDIA driver are, such as / or /run/nvidia/driver; none: its GPUs are "
       "left alone"},
      {"gpu-sharing", &options.gpu_sharing,
       "how GPUs are offered: none (whole, nvidia.com/gpu), gpu-share or vgpu (as the scheduler's deviceshare shares)"},
      {"device-plugin-dir", &options.device_plugin_dir,
       "where device plugins register, with their sockets (default DATA/device-plugins; they expect "
       "/var/lib/kubelet/device-plugins)"},
      {"plugins-registry-dir", &options.plugins_registry_dir,
       "where drivers of Dynamic Resource Allocation register (default DATA/plugins_registry; they expect "
       "/var/lib/kubelet/plugins_registry)"},
      {"cdi-spec-dirs", &options.cdi_spec_dirs, "folders of CDI specifications; the last one wins"},
      {"leave-pods", &options.leave_pods, "leave pods running when volcano stops; the next start finds them"},
      {"components", &options.components,
       "what runs here of apiserver (always), controllers, scheduler and node; the rest is left to others, such as a "
       "kube-controller-manager"},
      {"training-operator", &options.training, "run training jobs of kubeflow.org; false: another program does"},
      {"kubeflow-controllers", &options.notebooks, "run Kubeflow's notebooks and profiles; false: others do"},
      {"web-apps", &options.web_apps, "serve the REST APIs of Kubeflow's web applications, such as /jupyter/"},
      {"controllers", &options.controllers,
       "controllers of Kubernetes that run here, as kube-controller-manager names them, such as *,-deployment,-job"},
      {"terminated-pod-gc-threshold", &options.finished_pods,
       "finished pods that are kept; beyond them the oldest go. 0: all stay"},
      {"terminated-pods-per-namespace", &options.finished_pods_in_namespace, "the same for the pods of each namespace"},
      {"mpi-job-version", &options.mpi_version, kMpiVersionHelp},
      {"scheduler-conf", &options.scheduler_conf,
       "the scheduler's configuration file, read again when it changes (default: the built-in configuration)"},
      {"default-scheduler", &options.default_scheduler,
       "also schedule pods of default-scheduler, one by one; false: a program beside this one does"},
      {"agent-scheduler", &options.agent_scheduler,
       "also run the scheduler for single pods in a hurry, those whose schedulerName is agent-scheduler"},
      {"colocation", &options.colocation,
       "lend what is idle to offline pods (volcano.sh/qos-level: BE, vsub --offline)"},
      {"agent-scheduler-conf", &options.agent_scheduler_conf, "its configuration file, as --scheduler-conf"},
      {"scheduler-sharding-mode", &options.sharding_mode,
       "how nodes are shared between the schedulers: none, hard or soft; not none runs the sharding controller"},
      {"cache-dump-dir", &options.cache_dump_dir, "where SIGUSR1 writes the scheduler's dump, for schedule --as-is"},
      {"systemd", &options.systemd, "start nothing; print a unit of systemd that does so with the other flags"},
      {"v", &options.v, "log verbosity; 4 and more: debug lines too"},
      {"log-format", &options.log_format, "text or json"}};
  const std::vector<base::Flag> ports = ports_of(options);
  rows.insert(rows.begin() + 2, ports.begin(), ports.end());
  rows.insert(rows.end(), base::klog_flags().begin(), base::klog_flags().end());
  return rows;
}

bool runs(const UpOptions& options, std::string_view component) {
  const std::vector<std::string_view> words = base::split_words(options.components, ',');
  return std::ranges::any_of(words, [&](std::string_view word) { return word == "*" || word == component; });
}

std::string sharing_config(const UpOptions& options) {
  const auto sharing = node::gpu_sharing_from(options.gpu_sharing);
  if (!sharing.ok() || *sharing == node::GpuSharing::kNone) return {};
  return std::string(scheduler::default_config_text()) +
         base::format("  - name: deviceshare\n    arguments: {{deviceshare.{}: true}}\n",
                      *sharing == node::GpuSharing::kVgpu ? "VGPUEnable" : "GPUSharingEnable");
}

std::string node_address(const UpOptions& options) {
  if (!options.node_ip.empty()) return options.node_ip;
  const auto usual = rt::usual_ip(options.address);
  const bool at_home = !usual || usual->starts_with("127.") || *usual == "::1" || is_any_address(*usual);
  return at_home ? outward_address() : *usual;
}

node::Mode mode_of(const UpOptions& options) {
  if (options.runtime == "process") return node::Mode::kProcess;
  return options.runtime == "runc" ? node::Mode::kRunc : node::Mode::kAuto;
}

std::function<std::unique_ptr<node::ingress::Router>(rt::Env& env, client::Client& client)> router_of(
    const UpOptions& options) {
  node::ingress::RouterOptions of{.address = node_address(options),
                                  .http_port = static_cast<std::uint16_t>(options.ingress_http),
                                  .https_port = static_cast<std::uint16_t>(options.ingress_https),
                                  .is_own_cookie = ui::is_own_cookie};
  return
      [of](rt::Env& env, client::Client& client) { return std::make_unique<node::ingress::Router>(env, client, of); };
}

controllers::workloads::Options workloads_of(const UpOptions& options) {
  controllers::workloads::Options workloads{
      .enabled = {},
      .local_zone = base::TimeZone::local(),
      .finished_pods = {.everywhere = options.finished_pods, .in_namespace = options.finished_pods_in_namespace}};
  for (const std::string_view word : base::split_words(options.controllers, ',')) workloads.enabled.emplace_back(word);
  return workloads;
}

base::Result<std::pair<std::uint16_t, std::uint16_t>> notebook_ports_of(const UpOptions& options) {
  const std::string_view text = options.notebook_ports;
  if (text == "0") return std::pair<std::uint16_t, std::uint16_t>();
  const std::size_t dash = text.find('-');
  const auto first = base::parse_number<std::uint16_t>(text.substr(0, dash));
  const auto last = dash == text.npos ? first : base::parse_number<std::uint16_t>(text.substr(dash + 1));
  if (first && last && *first > 0 && *first <= *last) return std::pair{*first, *last};
  return base::make_error(base::Code::kInvalid,
                          base::format("--notebook-ports: {:?} is not FIRST-LAST, such as 6500-6699", text));
}

base::Result<apiserver::ServiceNetwork> services_of(const UpOptions& options) {
  const auto range = api::parse_ipv4_range(options.service_range);
  if (!range || range->prefix_length < 12 || range->prefix_length > 30)
    return base::make_error(base::Code::kInvalid,
                            base::format("--service-cluster-ip-range: \"{}\" is not an IPv4 range of 4 to 1048576 "
                                         "addresses, such as 10.96.0.0/12",
                                         options.service_range));
  return apiserver::ServiceNetwork{.addresses = *range};
}

base::Result<std::map<std::string, std::string>> handlers_of(const UpOptions& options) {
  std::map<std::string, std::string> handlers;
  for (const std::string_view word : base::split_words(options.runtime_handlers, ',')) {
    const std::string_view name = word.substr(0, word.find('='));
    const std::string program(word.substr(std::min(word.size(), name.size() + 1)));
    std::string wrong =
        api::check_dns_label(name).empty() ? std::string() : base::format("\"{}\" is not a handler", name);
    if (program.empty()) wrong = base::format("\"{}\" is not HANDLER=PROGRAM", word);
    if (wrong.empty() && !handlers.emplace(name, program).second) wrong = base::format("\"{}\" is there twice", name);
    if (!wrong.empty()) return base::make_error(base::Code::kInvalid, "--runtime-handlers: " + wrong);
  }
  return handlers;
}

node::DeviceOptions devices_of(const UpOptions& options) {
  node::DeviceOptions devices{.enabled = true};
  devices.driver_root = options.nvidia_driver_root == "none" ? std::string() : options.nvidia_driver_root;
  devices.plugin_folder =
      options.device_plugin_dir.empty() ? options.data + "/device-plugins" : options.device_plugin_dir;
  while (devices.driver_root.size() > 1 && devices.driver_root.ends_with('/')) devices.driver_root.pop_back();
  if (const auto sharing = node::gpu_sharing_from(options.gpu_sharing); sharing.ok()) devices.sharing = *sharing;
  devices.cdi_folders.clear();
  for (const std::string_view folder : base::split_words(options.cdi_spec_dirs, ','))
    devices.cdi_folders.emplace_back(folder);
  return devices;
}

base::Status check_up(const UpOptions& options) {
  const auto wrong = [](std::string message) { return base::make_error(base::Code::kInvalid, std::move(message)); };
  TRY_VOID(check_ip("--address", options.address));
  TRY_VOID(check_node_ip(options.node_ip));
  TRY_VOID(check_mpi_version(options.mpi_version));
  if (const auto keys = read_encryption_keys(options.encryption_key_file); !keys.ok()) return keys.error();
  if (options.runtime != "auto" && options.runtime != "runc" && options.runtime != "process")
    return wrong(base::format("--runtime: \"{}\" is none of auto, runc, process", options.runtime));
  TRY_VOID(services_of(options));
  TRY_VOID(notebook_ports_of(options));
  if (options.notebooks) TRY_VOID(notebook_settings_of_environment());
  TRY_VOID(handlers_of(options));
  TRY_VOID(check_components(options));
  scheduler::Options sharded;
  sharded.sharding_mode = options.sharding_mode;
  TRY_VOID(sharded.check());
  if (const base::Status named = controllers::workloads::check(workloads_of(options)); !named.ok())
    return wrong("--controllers: " + named.error().message);
  if (options.nvidia_driver_root != "none" && !options.nvidia_driver_root.starts_with('/'))
    return wrong(base::format("--nvidia-driver-root: \"{}\" is not an absolute path", options.nvidia_driver_root));
  if (!options.device_plugin_dir.empty() && !options.device_plugin_dir.starts_with('/'))
    return wrong(base::format("--device-plugin-dir: \"{}\" is not an absolute path", options.device_plugin_dir));
  if (!options.plugins_registry_dir.empty() && !options.plugins_registry_dir.starts_with('/'))
    return wrong(base::format("--plugins-registry-dir: \"{}\" is not an absolute path", options.plugins_registry_dir));
  if (const auto sharing = node::gpu_sharing_from(options.gpu_sharing); !sharing.ok())
    return wrong("--gpu-sharing: " + sharing.error().message);
  for (const std::string_view folder : base::split_words(options.cdi_spec_dirs, ','))
    if (!folder.starts_with('/')) return wrong(base::format("--cdi-spec-dirs: \"{}\" is not an absolute path", folder));
  if (options.audit_log.empty() && (options.audit_strict || !options.audit_policy_file.empty()))
    return wrong("--audit-strict and --audit-policy-file need --audit-log");
  if (options.port < 0 || options.port > 65535)
    return wrong(base::format("--port: {} is not between 0 and 65535", options.port));
  for (const auto& [flag, port] :
       {std::pair{"--ingress-http", options.ingress_http}, std::pair{"--ingress-https", options.ingress_https}})
    if (port < 0 || port > 65535) return wrong(base::format("{}: {} is not between 0 and 65535", flag, port));
  if (options.event_ttl < base::seconds(1))
    return wrong(base::format("--event-ttl: {} is less than a second", base::format_go_duration(options.event_ttl)));
  if (options.objects_mib < 0) return wrong(base::format("--objects-mib: {} is less than 0", options.objects_mib));
  if (options.storage_gib < 1 || options.storage_gib > 65536)
    return wrong(base::format("--storage-gib: {} is not between 1 and 65536", options.storage_gib));
  return {};
}

namespace {

// Pods here find no kubectl image, and need none where the host's files stand in for images.
controllers::training::Options training_of(const UpOptions& options) {
  controllers::training::Options training;
  training.mpi_version = options.mpi_version;
  training.autoscalers = true;
  if (options.host_rootfs)
    training.delivery_command = {"sh", "-c", "cp \"$(command -v kubectl)\" \"$TARGET_DIR/kubectl\" || true"};
  return training;
}

}  // namespace

void add_kubeflow(const UpOptions& options, controllers::Options& manager) {
  if (options.training) manager.training = training_of(options);
  if (!options.notebooks) return;
  manager.pipelines.emplace();
  manager.pipelines->report_bytes_max = node::kReportBytesMax;
  if (auto settings = notebook_settings_of_environment(); settings.ok()) manager.notebooks = *std::move(settings);
  if (manager.notebooks) manager.notebooks->makes_roles = manager.notebooks->isolates = true;
  manager.workflows = true;
}

}  // namespace volcano_main

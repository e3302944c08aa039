// The flags of `volcano up`.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/kinds/services/service_network.h"
#include "base/flags.h"
#include "base/result.h"
#include "controllers/all.h"
#include "node/ingress/router.h"
#include "node/machine/machine.h"

namespace volcano_main {

struct UpOptions {
  std::string data;
  std::string kubeconfig;
  std::string address = "127.0.0.1";
  std::string node_name;
  std::string node_ip;
  int port = 6443;
  std::string notebook_ports = "6500-6699";
  int ingress_http = 80;
  int ingress_https = 443;
  int storage_gib = 8;
  int objects_mib = 0;
  bool host_rootfs = false;
  bool leave_pods = false;
  bool training = true;
  bool notebooks = true;
  bool web_apps = false;
  std::string components = "*";
  std::string controllers = "*";
  std::string mpi_version = "v1";
  int finished_pods = 12'500;
  int finished_pods_in_namespace = 2'500;
  base::Duration event_ttl = base::seconds(3600);
  std::string encryption_key_file;
  std::string audit_log;
  std::string audit_policy_file;
  bool audit_strict = false;
  bool systemd = false;
  std::string scheduler_conf;
  bool default_scheduler = true;
  bool agent_scheduler = false;
  bool colocation = false;
  std::string agent_scheduler_conf;
  std::string sharding_mode = "none";
  std::string cache_dump_dir = "/tmp";
  std::string runtime = "auto";
  std::string runtime_handlers;
  std::string service_range = "10.96.0.0/12";
  std::string nvidia_driver_root = "/";
  std::string gpu_sharing = "none";
  std::string device_plugin_dir;
  std::string plugins_registry_dir;
  std::string cdi_spec_dirs = "/etc/cdi,/var/run/cdi";
  int v = 0;
  std::string log_format = "text";
};

// The rows point into `options`.
std::vector<base::Flag> up_flags(UpOptions& options);
// Whether `component` (one of kComponents in up_flags.cc) runs in this process.
bool runs(const UpOptions& options, std::string_view component);
// The scheduler's configuration where cards are shared and no file says how; else empty.
std::string sharing_config(const UpOptions& options);
// The address that the Node and pods on its network have.
std::string node_address(const UpOptions& options);
// How pods run.
node::Mode mode_of(const UpOptions& options);
// Makes the router of Ingresses, with its ports and address.
std::function<std::unique_ptr<node::ingress::Router>(rt::Env& env, client::Client& client)> router_of(
    const UpOptions& options);
// Which controllers of Kubernetes run, and how.
controllers::workloads::Options workloads_of(const UpOptions& options);
// The training operator and the controllers of notebooks, as far as they run.
void add_kubeflow(const UpOptions& options, controllers::Options& manager);
// The first and the last; two zeros: free ones. An error names the flag.
base::Result<std::pair<std::uint16_t, std::uint16_t>> notebook_ports_of(const UpOptions& options);
// An error names the flag.
base::Result<apiserver::ServiceNetwork> services_of(const UpOptions& options);
// How devices of this machine are found and given out, but for the program that asks the driver.
node::DeviceOptions devices_of(const UpOptions& options);
// Further OCI runtimes: handler of a RuntimeClass, program. An error names the flag.
base::Result<std::map<std::string, std::string>> handlers_of(const UpOptions& options);
// Values that a flag's kind takes, and that make no sense.
base::Status check_up(const UpOptions& options);

}  // namespace volcano_main

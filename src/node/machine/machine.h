// This machine as the agent and its runtimes see it: options, facts, and the makers of runtimes, logs and streams.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/pod_logs.h"
#include "api/pod_streams.h"
#include "api/schema/quantity.h"
#include "base/metrics.h"
#include "base/result.h"
#include "base/time.h"
#include "node/machine/device_options.h"
#include "node/machine/runtime.h"

namespace node {

enum class Mode : std::uint8_t { kAuto, kProcess, kRunc };

class ExecTurns;
// The order in which commands begin; `metrics` may be null, else it has metric_rows() and outlives the turns.
std::shared_ptr<ExecTurns> make_exec_turns(base::Metrics* metrics);

struct Options {
  std::string node_name;              // empty: the machine's host name
  std::string data_dir;               // state lies below, one folder a pod
  bool host_rootfs = false;           // the host's root file system stands in for images that are not in the store
  Mode mode = Mode::kAuto;            // kAuto: runc where there is root and runc, else plain processes
  std::string host_ip = "127.0.0.1";  // of the Node, and of pods on the host's network
  // The address at which pods with a network of their own reach the API server, and that for all others (empty:
  // host_ip). Port 0: nowhere.
  std::string api_host = {};
  std::string api_host_of_machine = {};
  int api_port = 0;
  std::string runc = "runc";
  std::map<std::string, std::string> handlers = {};  // further OCI runtimes: handler of a RuntimeClass, program
  std::string conmon = "conmon";
  std::string monitor;        // program that runs the monitor of plain processes; empty: this program
  std::string bridge_subnet;  // "10.244.7.0/24"; empty: a free one below 10.200.0.0/13
  std::string service_range;  // "10.96.0.0/12"; empty: services have no addresses
  int pods_max = 110;
  api::ResourceList capacity;  // overrides what the machine has, by resource name
  std::vector<std::pair<std::string, std::string>> labels;
  bool leave_pods = false;                       // stop() leaves pods running
  base::Duration stop_grace = base::seconds(5);  // at most, when stop() ends pods
  DeviceOptions devices = {};
  std::string plugins_registry = {};           // where drivers of Dynamic Resource Allocation register; empty: nowhere
  base::Metrics* metrics = nullptr;            // with metric_rows(), counted into; may be null; outlives the agent
  std::shared_ptr<ExecTurns> exec_turns = {};  // shared by all that begin commands here; null: each has its own
};

// The facts of the machine; read once at start.
struct MachineFacts {
  std::string hostname;
  std::int64_t cpus = 1;
  std::int64_t memory_bytes = 0;
  std::int64_t disk_bytes = 0;
  std::map<std::int64_t, std::int64_t> huge_pages = {};  // size of a page, and all of that size together, in bytes
  std::string architecture;                              // amd64, arm64
  std::string kernel;
  std::string os_image;
  std::string machine_id;
  std::string boot_id;
};
MachineFacts read_machine_facts(const std::string& data_dir);
// The pages set aside below a folder like /sys/kernel/mm/hugepages; sizes without pages are left out.
std::map<std::int64_t, std::int64_t> read_huge_pages(const std::string& folder);

// The runtime that `options` ask for on this machine. An error says what is missing.
base::Result<std::unique_ptr<Runtime>> make_runtime(const Options& options);

// Reads the containers' output that agents of this data directory keep. Needs no running agent.
std::unique_ptr<api::PodLogs> make_pod_logs(const std::string& data_dir);

// Streams into the pods that agents of this data directory started. Needs no running agent. `for_users`: commands wait
// behind those of probes.
std::unique_ptr<api::PodStreams> make_pod_streams(const Options& options, bool for_users);

// The part that this machine lacks for containers ("root", a program's name), or nothing.
std::string missing_for_containers(const Options& options);
// Why NetworkPolicies have no effect on this machine, or nothing. May load a module of the kernel.
std::string missing_for_policies(const Options& options);
// Whether pods are containers here, and the address by which they reach this machine then.
base::Result<std::optional<std::string>> pod_gateway(const Options& options);

// The monitor of one plain process (`volcano monitor FOLDER`): keeps its output and its exit code. The exit status.
int run_process_monitor(const std::string& folder);

}  // namespace node

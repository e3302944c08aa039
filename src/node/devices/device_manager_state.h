// The device manager's inside, shared by its parts.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "node/devices/device_making.h"
#include "node/devices/device_manager.h"
#include "node/devices/gpu_watch.h"
#include "node/devices/plugin_host.h"

namespace node {

using api::Json;

enum class Progress : std::uint8_t { kMaking, kReady, kFailed };

struct Held {
  HeldPod pod;
  Progress progress = Progress::kReady;
  std::string failure;
};

// A pod whose devices are being made ready.
struct Making {
  struct Call {
    std::size_t container;  // an index of the pod's
    std::string resource;
  };
  GrantWork work;
  std::vector<Call> calls;  // to plugins
  std::size_t next = 0;
};

struct DeviceManager::State : std::enable_shared_from_this<DeviceManager::State> {
  State(rt::Env& e, DeviceOptions o, std::string f, Callbacks c)
      : env(e), options(std::move(o)), folder(std::move(f)), call(std::move(c)) {}

  rt::Env& env;
  DeviceOptions options;
  std::string folder;
  Callbacks call;
  DevicePools pools;
  GpuReport report;
  bool has_driver = false;  // there is something to ask
  bool looked = false;      // and it has answered, or will not
  bool plain_processes = false;
  std::string trouble;               // why the driver does not answer now
  std::map<std::string, Held> held;  // by pod uid
  std::set<std::string> waiting;     // uids of pods that wait for the first look, or whose devices are not as before
  std::unique_ptr<GpuWatch> watch;
  std::unique_ptr<PluginHost> plugins;
  std::set<std::string> awaited;    // resources of plugins that have not registered again since the start
  std::set<std::string> forgotten;  // resources that nobody offers any more, until the Node says so
  bool names_busy = false;          // they are being written down
  bool names_due = false;           // there are more meanwhile
  struct Preparation {              // of a container for its start
    int attempt = 0;
    Progress progress = Progress::kMaking;
    std::string failure;
  };
  std::map<std::string, Preparation> preparations;  // by "UID/CONTAINER"

  void begin_watch();
  void reported(base::Result<GpuReport> gpu_report);
  void silent(const std::string& why);
  void set_pool(const std::string& resource, std::vector<Device> devices);
  void fill_pools();
  void hold(const std::string& uid, const std::vector<ContainerDevices>& devices);
  void let_go(const std::string& uid);
  void warn_of_illness(const GpuReport& before);
  void wake_waiting();
  void first_look_over();
  bool awaits(const Json& pod) const;

  // device_allocation.cc: a pod's way to its devices
  void begin_making(HeldPod wanted, std::map<std::string, SharedCards> shared);
  void prefer(const std::shared_ptr<Making>& making);
  void preferred(const std::shared_ptr<Making>& making, const std::vector<std::string>& ids);
  void allocate(const std::shared_ptr<Making>& making);
  void make(const std::shared_ptr<Making>& making);
  void made(const std::string& uid, base::Result<HeldPod> pod);

  // device_plugins.cc
  void begin_plugins();
  void write_names();
  void plugin_changed(const std::string& resource, std::vector<Device> devices);
  void plugin_forgotten(const std::string& resource);
};

}  // namespace node

// The devices of this machine: what there is, as the Node shows it, and which pod gets which.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "api/schema/quantity.h"
#include "node/devices/device_facts.h"
#include "node/machine/device_options.h"
#include "rt/env.h"

namespace node {

// A few looks at the disk.
bool has_nvidia_driver(const DeviceOptions& options);

// Everything on the loop of `env`.
class DeviceManager {
 public:
  struct Callbacks {
    std::function<void()> node_changed;                                        // amounts or labels did
    std::function<void(const std::string& uid)> pod_changed;                   // admit() may answer otherwise now
    std::function<void(const char* reason, const std::string& message)> warn;  // an event about the node
  };
  // `folder` is DATA/devices.
  DeviceManager(rt::Env& env, DeviceOptions options, std::string folder, Callbacks callbacks);
  ~DeviceManager();
  DeviceManager(const DeviceManager&) = delete;
  DeviceManager& operator=(const DeviceManager&) = delete;

  // `held`: read_held() of the folder. `plain_processes`: containers are, and see all devices anyway.
  void start(std::vector<HeldPod> held, bool plain_processes);
  void stop();

  // The amounts that the Node offers: of capacity, and of allocatable.
  struct Amounts {
    api::ResourceList capacity, allocatable;
  };
  Amounts amounts() const;
  std::map<std::string, std::string> labels() const;
  std::map<std::string, std::string> annotations() const;

  // False until the driver has answered, or is known not to: what the Node said before holds till then.
  bool settled() const;
  // For people: "2 NVIDIA GPUs (NVIDIA H100 80GB HBM3), driver 550.54.15"; empty: nobody knows yet.
  std::string summary() const;

  enum class Admission : std::uint8_t { kThere, kWait, kRefused };
  // Gives the pod its devices. kThere: it has what it asks for, if it asks; kRefused: `why` is for people.
  Admission admit(const api::Json& pod, std::string& why);
  // The plugins' work before each start of a container. As admit(); kRefused: it may be tried again.
  Admission prepare(const std::string& uid, const std::string& container, int attempt, std::string& why);
  // The grant of the container; null: nothing. Valid until the pod is released.
  const DeviceGrant* grant(const std::string& uid, const std::string& container) const;
  // As DevicePools::health_of(). pod_changed is called when it becomes other.
  api::Json health_of(const std::string& uid, std::string_view container) const;
  // The pod runs no more, and never will.
  void release(const std::string& uid);
  // Resources that nobody offers any more, until it is said that the Node has them no more.
  std::vector<std::string> forgotten() const;
  void forgotten_reported(const std::vector<std::string>& resources);
  // The devices of these pods alone stay held of those from before the start.
  void keep_only(const std::function<bool(const std::string& uid)>& is_known);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace node

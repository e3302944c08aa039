// Device plugins of other vendors (Kubernetes' device plugin API v1beta1): their registration, what devices they have,
// and their part in giving them to containers. A plugin may die, hang or lie: that concerns its own resource only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "node/devices/plugin_messages.h"
#include "rt/env.h"

namespace node {

// Everything on the loop of `env`.
class PluginHost {
 public:
  struct Callbacks {
    std::function<void(const std::string& resource, std::vector<Device> devices)> changed;
    std::function<void(const std::string& message)> warn;               // names the resource
    std::function<std::string(const std::string& resource)> objection;  // why nobody may register it; empty: it is free
    std::function<bool(const std::string& resource)> is_held;           // whether some pod has devices of it
    std::function<void(const std::string& resource)> forgotten;         // nobody offers it any more
  };
  // Plugins register at FOLDER/kubelet.sock, and listen beside it.
  PluginHost(rt::Env& env, std::string folder, Callbacks callbacks);
  ~PluginHost();
  PluginHost(const PluginHost&) = delete;
  PluginHost& operator=(const PluginHost&) = delete;

  // Blocking for a moment: makes the folder and the socket.
  base::Status start();
  void stop();

  // A plugin that offered this before is waited for like one that is gone.
  void expect(const std::string& resource);
  bool has(const std::string& resource) const;
  PluginOptions options(const std::string& resource) const;
  // `done` is called once, later, unless the host is gone by then. Errors name the resource.
  void allocate(const std::string& resource, const std::vector<std::string>& ids,
                std::function<void(base::Result<PluginAllocation>)> done);
  void prefer(const std::string& resource, const std::vector<std::string>& available, std::int64_t count,
              std::function<void(base::Result<std::vector<std::string>>)> done);
  void pre_start(const std::string& resource, const std::vector<std::string>& ids,
                 std::function<void(base::Status)> done);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace node

// Plugins that wait in a folder to be found (a kubelet's plugins_registry): each has a socket there and is asked who it
// is, told whether it is wanted, and asked again now and then whether it still lives.
//
//   found -> asked -> registered -> silent, or its socket is gone: deregistered
//              ^  \-> refused, or silent: asked again, later and later
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "node/devices/plugin_calls.h"
#include "node/dra/registration.h"
#include "rt/env.h"

namespace node {

// Everything on the loop of `env`.
class PluginRegistry {
 public:
  struct Callbacks {
    std::function<base::Status(const std::string& socket, const PluginInfo& info)> came;  // an error: it is refused
    std::function<void(const std::string& socket)> gone;
    std::function<void(const std::string& message)> warn;
  };
  // `calls` outlives it.
  PluginRegistry(rt::Env& env, PluginCalls& calls, std::string folder, Callbacks callbacks);
  ~PluginRegistry();
  PluginRegistry(const PluginRegistry&) = delete;
  PluginRegistry& operator=(const PluginRegistry&) = delete;

  // Blocking for a moment: makes the folder.
  base::Status start();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace node

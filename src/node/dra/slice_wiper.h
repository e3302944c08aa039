// Takes away what drivers published of their devices on this node (ResourceSlices) once they are not there to hand them
// out: of a driver that stays away, and of all of them when the agent starts. Drivers publish anew.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "client/client.h"
#include "rt/env.h"

namespace node {

// Everything on the loop of `env`.
class SliceWiper {
 public:
  SliceWiper(rt::Env& env, client::Client& client, std::string node);
  ~SliceWiper();
  SliceWiper(const SliceWiper&) = delete;
  SliceWiper& operator=(const SliceWiper&) = delete;

  // `done` when it was tried once; what fails is tried again.
  void wipe_all(std::function<void()> done);
  void driver_came(const std::string& driver);
  void driver_gone(const std::string& driver);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace node

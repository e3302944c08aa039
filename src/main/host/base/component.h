// A part of `volcano up` with a thread of its own: made, used and destroyed there.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/pipeline/local_client.h"
#include "client/client.h"
#include "rt/env.h"

namespace volcano_main {

// Runs `start` on the loop of `env` and waits for what it passes to its callback.
template <class T>
T on_loop(rt::Env& env, std::function<void(std::function<void(T)>)> start) {
  std::promise<T> promise;
  env.loop().post([&] { start([&promise](T value) { promise.set_value(std::move(value)); }); });
  return promise.get_future().get();
}

// A component with its loop and its client. `part` is made, used and destroyed on the loop.
template <class Part>
struct Component {
  std::unique_ptr<rt::RealEnv> env;
  std::unique_ptr<client::Client> client;
  std::unique_ptr<Part> part;

  template <class Make>
  void start(const std::string& name, apiserver::Api& api, Make make) {
    env = rt::make_real_env(name);
    client = apiserver::make_local_client(api, *env, name);
    on_loop<bool>(*env, [&](auto done) {
      part = make(*env, *client);
      part->start();
      done(true);
    });
  }

  void stop() {
    if (!env) return;
    on_loop<bool>(*env, [this](auto done) {
      part.reset();
      client.reset();
      done(true);
    });
    env->stop();
  }
};

}  // namespace volcano_main

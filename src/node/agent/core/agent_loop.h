// The agent's loop as its parts use it: time, later callbacks, and work for the machine off the loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/time.h"
#include "node/machine/runtime.h"
#include "rt/env.h"
#include "rt/loop/guard.h"

namespace node {

// Owns nothing but its share of the runtime, so that work off the loop may outlive the agent. A callback that it makes
// keeps the agent alive while it runs, and does not run once the agent is gone. Loop thread only.
class AgentLoop {
 public:
  // `runtime` is null on a machine that cannot run pods.
  AgentLoop(rt::Env& env, std::shared_ptr<Runtime> runtime) : env_(env), runtime_(std::move(runtime)) {}
  AgentLoop(const AgentLoop&) = delete;
  AgentLoop& operator=(const AgentLoop&) = delete;

  rt::Guard& guard() { return guard_; }

  rt::Env& env() const { return env_; }
  Runtime* runtime() const { return runtime_.get(); }
  base::Duration uptime() const { return env_.uptime(); }
  base::Time now() const { return env_.now(); }

  template <class F>
  auto while_alive(F done) const {
    return guard_.while_alive(std::move(done));
  }

  void post(rt::Task task) { env_.loop().post(while_alive(std::move(task))); }
  rt::Loop::TimerId after(base::Duration delay, rt::Task task) {
    return env_.loop().after(delay, while_alive(std::move(task)));
  }
  void cancel(rt::Loop::TimerId timer) { env_.loop().cancel(timer); }
  // Runs `work` off the loop and `done` back on it.
  template <class T>
  void off_loop(std::function<T(Runtime&)> work, std::function<void(T)> done) {
    auto [piece, end] = piece_of<T>(std::move(work), std::move(done));
    env_.offload(std::move(piece), std::move(end));
  }
  // Work and its end as tasks that share the result.
  template <class T>
  std::pair<rt::Task, rt::Task> piece_of(std::function<T(Runtime&)> work, std::function<void(T)> done) const {
    auto result = std::make_shared<std::optional<T>>();
    return {[runtime = runtime_, work = std::move(work), result] { result->emplace(work(*runtime)); },
            while_alive([done = std::move(done), result] { done(std::move(**result)); })};
  }

 private:
  rt::Env& env_;
  std::shared_ptr<Runtime> runtime_;
  rt::Guard guard_;
};

}  // namespace node

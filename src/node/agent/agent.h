// The node agent: this machine as a Node, and the pods bound to it as processes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "client/client.h"
#include "node/dra/drivers.h"
#include "node/machine/machine.h"
#include "node/machine/runtime.h"
#include "rt/env.h"

namespace node {

// Everything on the loop of `env`.
class Agent {
 public:
  // `runtime`, `facts` and `drivers` are given by tests and simulation.
  Agent(rt::Env& env, client::Client& client, Options options);
  Agent(rt::Env& env, client::Client& client, Options options, std::unique_ptr<Runtime> runtime, MachineFacts facts,
        std::unique_ptr<DraDrivers> drivers = nullptr);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // `failed` is called at most once, if the machine cannot run pods at all.
  void start(std::function<void(base::Error)> failed = {});
  // Ends pods (unless they are to be left), reports them, takes away what the agent made, then calls `done`.
  void stop(std::function<void()> done);
  const std::string& node_name() const;
  // The machine's GPUs, for people; empty: nobody knows yet.
  std::string gpus() const;
  // Sentences about the pods that stop() ends, with a line each; empty: it ends none. On the agent's loop.
  std::string ends_of_stop() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace node

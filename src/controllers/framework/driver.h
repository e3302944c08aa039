// The one place that writes for controllers: wakes, steps, plans carried out, retries.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/client.h"
#include "client/events/event_recorder.h"
#include "controllers/framework/controller.h"
#include "rt/env.h"

namespace controllers {

struct DriverOptions {
  // At least this long between two statuses of one key that differ in numbers only; zero: no limit.
  base::Duration counts_interval = {};
  // The namespace whose objects are seen; empty: all. Objects of the cluster are seen in any case.
  std::string only_namespace = {};
  // The source of keys; unset: what a cryptographic generator gives.
  std::function<std::string(std::size_t count)> secret_bytes = {};
};

// Shares one informer per resource between its controllers. Loop thread only.
class Driver {
 public:
  Driver(rt::Env& env, client::Client& client, std::string component, DriverOptions options = {});
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  // Before start().
  void add(std::unique_ptr<Controller> controller);
  // Watches begin, and nothing else until start(): no step, no write. Before start().
  void stand_by();
  // Watches begin if they have not; steps begin when every watch has delivered its first list.
  void start();
  // True once every watch has delivered it.
  bool synced() const;
  // The number of keys of which it knows more than what the view shows; bounded, however many come and go.
  std::size_t keys_remembered() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace controllers

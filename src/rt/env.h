// Env: the world outside a component. Time, chance, network, disk, and work off the loop come from here and
// from nowhere else, so that a run in simulation replays from its seed.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "rt/loop.h"

namespace rt {

class HttpClient;
class KvStore;
struct ClientOptions;

class Env {
 public:
  virtual ~Env() = default;

  // Wall clock.
  virtual base::Time now() const = 0;
  // Never goes back; for measuring spans.
  virtual base::Duration uptime() const = 0;
  // This component's dice. Loop thread only.
  virtual base::Random& random() = 0;
  // This component's loop.
  virtual Loop& loop() = 0;
  // Runs `work` off the loop (inline in simulation), then `done` on the loop. For pure, slow work such as
  // making keys, and for blocking system calls.
  virtual void offload(Task work, Task done) = 0;

  // The network: a client of one server (rt/http_client.h), with callbacks on this loop, which must outlive it.
  // Connections are made on demand; an error here means that the options make no sense. An environment without a
  // network says so.
  virtual base::Result<std::unique_ptr<HttpClient>> http_client(ClientOptions options);
  // The disk: a durable store (rt/kv.h) of at most `bytes_max` in the folder `path`, which one process opens at a time.
  virtual base::Result<std::unique_ptr<KvStore>> open_store(const std::string& path, std::size_t bytes_max);
};

// One real environment: a thread with its loop. `name` labels the thread. The destructor stops the loop
// (callbacks not yet run are dropped) and joins the thread.
class RealEnv : public Env {
 public:
  ~RealEnv() override = default;
  // Stops the loop after the callback that runs now and joins. Not from the loop's own thread.
  virtual void stop() = 0;
};
std::unique_ptr<RealEnv> make_real_env(const std::string& name);

}  // namespace rt

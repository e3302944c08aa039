// Env: the world outside a component. Time, chance, network, disk, and work off the loop come from here and
// from nowhere else, so that a run in simulation replays from its seed.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "rt/loop/loop.h"

namespace rt {

class HttpClient;
class KvStore;
struct ClientOptions;

// Does one kind of work off the loop, piece after piece in order, and shares its thread with nobody: work of others
// that hangs does not hold it up. The destructor waits for what is under way and for what waits.
class Worker {
 public:
  virtual ~Worker() = default;
  // Like Env::offload(). Loop thread only.
  virtual void run(Task work, Task done) = 0;
};

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
  // For blocking work that others wait for, such as the commits of a database. `name` labels the thread. It must not
  // outlive the environment. An environment without threads does its work as offload() does.
  virtual std::unique_ptr<Worker> worker(const std::string& name);

  // The network: a client of one server (rt/http/client/http_client.h), with callbacks on this loop, which must outlive
  // it. Connections are made on demand; an error here means that the options make no sense. An environment without a
  // network says so.
  virtual base::Result<std::unique_ptr<HttpClient>> http_client(ClientOptions options);
  // The disk: a durable store (rt/storage/kv.h) of at most `bytes_max` in the folder `path`, which one process opens at
  // a time.
  virtual base::Result<std::unique_ptr<KvStore>> open_store(const std::string& path, std::size_t bytes_max);
};

// One real environment: a thread with its loop. `name` labels the thread. The destructor stops it.
class RealEnv : public Env {
 public:
  ~RealEnv() override = default;
  // Waits until what was posted has run, and what was offloaded with its `done`; work that hangs is waited for ten
  // seconds. Then the loop ends: timers, and what is posted later, are dropped. Not from the loop's own thread.
  virtual void stop() = 0;
};
std::unique_ptr<RealEnv> make_real_env(const std::string& name);

}  // namespace rt

// The API server as a process of the world: it crashes, and comes back with what its disk held.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/admission.h"
#include "apiserver/api.h"
#include "rt/kv.h"
#include "sim/env.h"
#include "sim/truth.h"
#include "store/store.h"

namespace sim {

struct ServerSettings {
  std::uint64_t seed = 0;
  std::vector<api::AdmissionHook> hooks = {};
  store::Options store = {};
  OffloadTime disk = {};
};

class Server {
 public:
  Server(Clock& clock, Truth& truth, ServerSettings settings);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void start();
  // Everything but the disk is lost. Connections break: each `on_broken` runs once, in the order of connecting.
  void crash();
  bool is_up() const { return api_ != nullptr; }
  // Null while down.
  apiserver::Api* api() { return api_.get(); }
  store::Store* store() { return store_.get(); }

  // While up only. The connection is forgotten by disconnect().
  std::uint64_t connect(std::function<void()> on_broken);
  void disconnect(std::uint64_t connection) { connections_.erase(connection); }
  // Ends a watch on the next turn, so that it may be called from inside the watch.
  void discard(std::unique_ptr<apiserver::ApiWatch> watch);

 private:
  Clock& clock_;
  Truth& truth_;
  ServerSettings settings_;
  std::unique_ptr<rt::KvStore> disk_;
  std::unique_ptr<SimEnv> env_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<apiserver::Api> api_;
  std::map<std::uint64_t, std::function<void()>> connections_;
  std::uint64_t next_connection_ = 1;
  std::vector<std::unique_ptr<apiserver::ApiWatch>> discarded_;
  std::uint64_t incarnation_ = 0;
};

}  // namespace sim

// The API server as a process of the world: it crashes, and comes back with what its disk held.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/admission.h"
#include "apiserver/pipeline/api.h"
#include "base/random.h"
#include "rt/storage/kv.h"
#include "sim/world/env.h"
#include "sim/world/truth.h"
#include "store/store.h"

namespace sim {

struct ServerSettings {
  std::uint64_t seed = 0;
  std::vector<api::AdmissionHook> hooks = {};
  store::Options store = {};
  OffloadTime disk = {};
};

// A disk on which some commits fail whole, as on a full one.
class FlakyDisk final : public rt::KvStore {
 public:
  explicit FlakyDisk(std::uint64_t seed) : inner_(rt::make_memory_kv()), dice_(seed) {}

  base::Status commit(const std::function<void(rt::KvWriter&)>& changes) override {
    if (dice_.chance(fails)) return base::make_error(base::Code::kUnavailable, "no space left on device");
    return inner_->commit(changes);
  }
  base::Status scan(std::string_view begin, std::string_view end,
                    const std::function<bool(std::string_view key, std::string_view value)>& visit) const override {
    return inner_->scan(begin, end, visit);
  }

  double fails = 0;  // the chance of one commit

 private:
  std::unique_ptr<rt::KvStore> inner_;
  base::Random dice_;
};

class Server {
 public:
  Server(Clock& clock, ExternalWorld& outside, Truth& truth, ServerSettings settings);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void start();
  // Everything but the disk is lost. Connections break: each `on_broken` runs once, in the order of connecting.
  void crash();
  bool is_up() const { return api_ != nullptr; }
  // As `volcano up` does: nobody is let in before the objects every cluster has are there.
  bool lets_in() const { return is_up() && has_basics_; }
  // Null while down.
  apiserver::Api* api() { return api_.get(); }
  store::Store* store() { return store_.get(); }
  FlakyDisk& disk() { return disk_; }

  // While up only. The connection is forgotten by disconnect().
  std::uint64_t connect(std::function<void()> on_broken);
  void disconnect(std::uint64_t connection) { connections_.erase(connection); }
  // Ends a watch on the next turn, so that it may be called from inside the watch.
  void discard(std::unique_ptr<apiserver::ApiWatch> watch);

 private:
  void bootstrap();  // again until the disk takes it

  Clock& clock_;
  ExternalWorld& outside_;
  Truth& truth_;
  ServerSettings settings_;
  FlakyDisk disk_;
  std::unique_ptr<SimEnv> env_;
  std::unique_ptr<rt::KvStore> opened_disk_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<apiserver::Api> api_;
  std::map<std::uint64_t, std::function<void()>> connections_;
  std::uint64_t next_connection_ = 1;
  std::vector<std::unique_ptr<apiserver::ApiWatch>> discarded_;
  std::uint64_t incarnation_ = 0;
  bool has_basics_ = false;
};

}  // namespace sim

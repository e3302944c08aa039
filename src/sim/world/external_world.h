// The world outside of simulated processes. Hosts that answer HTTP, and disks that outlive their process.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "rt/http/client/http_client.h"
#include "rt/storage/kv.h"
#include "sim/world/clock.h"

namespace sim {

// One thread only; outlives the environments that use it.
class ExternalWorld {
 public:
  // The answer to one request; nothing: the host hangs, and the client's time-out decides.
  using Host = std::function<std::optional<rt::HttpResponse>(const rt::HttpRequest&)>;

  ExternalWorld(Clock& clock, std::uint64_t seed) : clock_(clock), dice_(seed) {}

  void set_host(const std::string& host, std::uint16_t port, Host answer) { hosts_[{host, port}] = std::move(answer); }
  void remove_host(const std::string& host, std::uint16_t port) { hosts_.erase({host, port}); }
  // The disk must outlive what is opened on it.
  void set_disk(const std::string& path, rt::KvStore& disk) { disks_[path] = &disk; }

  // A client whose callbacks belong to `owner`. A request takes 0.1 to 2 ms; a host that does not exist refuses.
  std::unique_ptr<rt::HttpClient> http_client(rt::ClientOptions options, Owner owner);
  base::Result<std::unique_ptr<rt::KvStore>> open_store(const std::string& path);

 private:
  friend class ExternalClient;

  Clock& clock_;
  base::Random dice_;
  std::map<std::pair<std::string, std::uint16_t>, Host> hosts_;
  std::map<std::string, rt::KvStore*> disks_;
};

}  // namespace sim

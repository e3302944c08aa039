// The world outside a simulated component: virtual time, dice from the world's seed, hosts and disks of the world, and
// a pool that takes time.
#pragma once

#include <cstdint>
#include <string_view>

#include "rt/env.h"
#include "sim/world/clock.h"
#include "sim/world/external_world.h"

namespace sim {

// A seed of its own for each named thing, so that adding one thing does not change the dice of the others.
std::uint64_t seed_for(std::uint64_t seed, std::string_view name);

// How long work off the loop takes: uniform between the two.
struct OffloadTime {
  base::Duration min = base::microseconds(50);
  base::Duration max = base::milliseconds(2);
};

// One process. When it is destroyed, all its callbacks are dropped: a crash. Work that was offloaded and has not run is
// lost; work that has run keeps its effect, and nobody hears of it.
class SimEnv final : public rt::Env {
 public:
  // Without an `outside` there is neither network nor disk.
  SimEnv(Clock& clock, std::uint64_t seed, ExternalWorld* outside = nullptr, OffloadTime offload_time = {});
  ~SimEnv() override;
  SimEnv(const SimEnv&) = delete;
  SimEnv& operator=(const SimEnv&) = delete;

  base::Time now() const override { return clock_.now(); }
  base::Duration uptime() const override { return clock_.elapsed(); }
  base::Random& random() override { return random_; }
  rt::Loop& loop() override { return loop_; }
  void offload(rt::Task work, rt::Task done) override;
  base::Result<std::unique_ptr<rt::HttpClient>> http_client(rt::ClientOptions options) override;
  base::Result<std::unique_ptr<rt::KvStore>> open_store(const std::string& path, std::size_t bytes_max) override;

  Owner owner() const { return loop_.owner; }

 private:
  struct SimLoop final : rt::Loop {
    SimLoop(Clock& clock, Owner owner) : clock(clock), owner(owner) {}
    void post(rt::Task task) override { clock.add(owner, {}, std::move(task)); }
    TimerId after(base::Duration delay, rt::Task task) override { return clock.add(owner, delay, std::move(task)); }
    void cancel(TimerId timer) override { clock.cancel(timer); }

    Clock& clock;
    Owner owner;
  };

  Clock& clock_;
  SimLoop loop_;
  base::Random random_;
  base::Random pool_dice_;
  ExternalWorld* outside_;
  OffloadTime offload_time_;
};

}  // namespace sim

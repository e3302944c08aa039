// Seeds and offloaded work of simulated components.
#include "sim/world/env.h"

namespace sim {

std::uint64_t seed_for(std::uint64_t seed, std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ull ^ seed;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return base::Random(hash).next();
}

SimEnv::SimEnv(Clock& clock, std::uint64_t seed, ExternalWorld* outside, OffloadTime offload_time)
    : clock_(clock),
      loop_(clock, clock.make_owner()),
      random_(seed),
      pool_dice_(seed_for(seed, "pool")),
      outside_(outside),
      offload_time_(offload_time) {}

SimEnv::~SimEnv() { clock_.drop(loop_.owner); }

void SimEnv::offload(rt::Task work, rt::Task done) {
  const std::int64_t spread = offload_time_.max.ns - offload_time_.min.ns;
  const base::Duration before{
      offload_time_.min.ns +
      (spread > 0 ? static_cast<std::int64_t>(pool_dice_.below(static_cast<std::uint64_t>(spread))) : 0)};
  clock_.add(loop_.owner, before, [this, work = std::move(work), done = std::move(done)]() mutable {
    work();
    // A crash between the effect and its report is the interesting one, so there is time for it.
    clock_.add(loop_.owner, base::microseconds(static_cast<std::int64_t>(10 + pool_dice_.below(200))), std::move(done));
  });
}

base::Result<std::unique_ptr<rt::HttpClient>> SimEnv::http_client(rt::ClientOptions options) {
  if (outside_ == nullptr) return Env::http_client(std::move(options));
  return outside_->http_client(std::move(options), loop_.owner);
}

base::Result<std::unique_ptr<rt::KvStore>> SimEnv::open_store(const std::string& path, std::size_t bytes_max) {
  return outside_ == nullptr ? Env::open_store(path, bytes_max) : outside_->open_store(path);
}

}  // namespace sim

// A reading every so often; the last two are what is known.
#include "node/machine/usage_source.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "node/machine/usage.h"
#include "node/machine/usage_history.h"
#include "node/os/usage_reader.h"

namespace node {

namespace {

// As often as a kubelet looks, so that means are over about as long.
constexpr auto kPeriod = std::chrono::seconds(10);

class UsageSource final : public api::NodeUsageSource {
 public:
  explicit UsageSource(const Options& options)
      : reader_(options.data_dir,
                options.node_name.empty() ? read_machine_facts(options.data_dir).hostname : options.node_name),
        devices_(options.devices.in_use),
        thread_([this] { run(); }) {}
  ~UsageSource() override {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  std::shared_ptr<const api::NodeUsage> latest() const override {
    const std::lock_guard lock(mutex_);
    return latest_;
  }

  std::optional<api::NodePage> page(std::string_view path) const override {
    constexpr const char* kText = "text/plain; version=0.0.4; charset=utf-8";
    if (path == "/healthz") return api::NodePage{"text/plain; charset=utf-8", "ok"};
    if (path != "/stats/summary" && path != "/metrics/resource" && path != "/metrics/cadvisor") return std::nullopt;
    const auto usage = latest();
    const api::NodeUsage nothing;
    const api::NodeUsage& shown = usage ? *usage : nothing;
    if (path == "/stats/summary") return api::NodePage{"application/json", stats_summary(shown).dump() + "\n"};
    if (path == "/metrics/resource") return api::NodePage{kText, resource_metrics(shown)};
    return api::NodePage{kText, container_metrics(shown)};
  }

  std::string history() const override {
    const std::lock_guard lock(mutex_);
    return history_.json().dump();
  }

 private:
  void run() {
    api::NodeUsage before;
    std::unique_lock lock(mutex_);
    while (!closing_) {
      lock.unlock();
      api::NodeUsage now = reader_.read();
      if (devices_) now.devices = *devices_;
      auto shown = std::make_shared<const api::NodeUsage>(before.at.is_set() ? usage_since(before, now) : now);
      before = std::move(now);
      lock.lock();
      latest_ = std::move(shown);
      history_.add(*latest_);
      changed_.wait_for(lock, kPeriod, [this] { return closing_; });
    }
  }

  const UsageReader reader_;
  const std::shared_ptr<const std::atomic<std::int64_t>> devices_;  // null: there are none
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;
  std::shared_ptr<const api::NodeUsage> latest_;
  UsageHistory history_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace

std::unique_ptr<api::NodeUsageSource> make_usage_source(const Options& options) {
  return std::make_unique<UsageSource>(options);
}

}  // namespace node

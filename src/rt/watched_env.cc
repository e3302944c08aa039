// Callbacks with a clock around them.
#include "rt/watched_env.h"

#include <atomic>

#include "rt/http/client/http_client.h"
#include "rt/storage/kv.h"

namespace rt {
namespace {

class RealWatchedEnv final : public WatchedEnv, private Loop {
 public:
  RealWatchedEnv(std::unique_ptr<RealEnv> env, std::function<void(base::Duration)> on_callback)
      : env_(std::move(env)), on_callback_(std::move(on_callback)) {}
  ~RealWatchedEnv() override { env_->stop(); }  // callbacks look at us

  base::Time now() const override { return env_->now(); }
  base::Duration uptime() const override { return env_->uptime(); }
  base::Random& random() override { return env_->random(); }
  Loop& loop() override { return *this; }
  void offload(Task work, Task done) override { env_->offload(std::move(work), timed(std::move(done))); }
  std::unique_ptr<Worker> worker(const std::string& name) override {
    return std::make_unique<WatchedWorker>(*this, env_->worker(name));
  }
  base::Result<std::unique_ptr<HttpClient>> http_client(ClientOptions options) override {
    return env_->http_client(std::move(options));
  }
  base::Result<std::unique_ptr<KvStore>> open_store(const std::string& path, std::size_t bytes_max) override {
    return env_->open_store(path, bytes_max);
  }
  void stop() override { env_->stop(); }

  base::Duration held() const override {
    const std::int64_t begun = begun_.load(std::memory_order_relaxed);
    return begun == kIdle ? base::Duration{} : env_->uptime() - base::Duration{begun};
  }

 private:
  static constexpr std::int64_t kIdle = INT64_MIN;

  class WatchedWorker final : public Worker {
   public:
    WatchedWorker(RealWatchedEnv& env, std::unique_ptr<Worker> worker) : env_(env), worker_(std::move(worker)) {}
    void run(Task work, Task done) override { worker_->run(std::move(work), env_.timed(std::move(done))); }

   private:
    RealWatchedEnv& env_;
    std::unique_ptr<Worker> worker_;
  };

  void post(Task task) override { env_->loop().post(timed(std::move(task))); }
  TimerId after(base::Duration delay, Task task) override { return env_->loop().after(delay, timed(std::move(task))); }
  void cancel(TimerId timer) override { env_->loop().cancel(timer); }

  Task timed(Task task) {
    return [this, task = std::move(task)] {
      const base::Duration begun = env_->uptime();
      begun_.store(begun.ns, std::memory_order_relaxed);
      task();
      begun_.store(kIdle, std::memory_order_relaxed);
      on_callback_(env_->uptime() - begun);
    };
  }

  std::unique_ptr<RealEnv> env_;
  std::function<void(base::Duration)> on_callback_;
  std::atomic<std::int64_t> begun_{kIdle};
};

}  // namespace

std::unique_ptr<WatchedEnv> watch_loop(std::unique_ptr<RealEnv> env, std::function<void(base::Duration)> on_callback) {
  return std::make_unique<RealWatchedEnv>(std::move(env), std::move(on_callback));
}

}  // namespace rt

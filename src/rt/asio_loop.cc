// The real Env: a thread with an Asio loop, the system's clocks, a small pool, and threads for single purposes.
#include <pthread.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <system_error>
#include <thread>
#include <vector>

#include "base/format.h"
#include "base/log.h"
#include "rt/env.h"
#include "rt/http/client/http_client.h"
#include "rt/loop/rest.h"
#include "rt/storage/kv.h"

namespace rt {
namespace {

namespace asio = boost::asio;

// An environment's own, so that work that hangs holds up nobody else's. Some of it waits for other programs. The first
// threads are there from the start, because later the process may have none left; most environments need no others.
constexpr std::size_t kPoolThreads = 8, kPoolThreadsAtStart = 2;

// How long an environment that stops waits for its work on the pool, which may refer to what is destroyed next.
constexpr std::chrono::seconds kWorkGrace{10};

// The longest delay of a timer: the sum of the clock and a longer one may be in the past.
constexpr base::Duration kDelayMax = base::hours(100 * 365 * 24);

// Timers due at the same instant fire in the order of their ids.
class AsioLoop : public Loop {
 public:
  AsioLoop() : timer_(context_) {}

  void post(Task task) override { asio::post(context_, std::move(task)); }

  TimerId after(base::Duration delay, Task task) override {
    const TimerId id = next_id_++;
    const std::int64_t ns = std::clamp<std::int64_t>(delay.ns, 0, kDelayMax.ns);
    const auto due = std::chrono::steady_clock::now() + std::chrono::nanoseconds(ns);
    due_.emplace(id, due);
    tasks_.emplace(std::pair{due, id}, std::move(task));
    arm();
    return id;
  }

  void cancel(TimerId timer) override {
    const auto found = due_.find(timer);
    if (found == due_.end()) return;
    tasks_.erase({found->second, timer});
    due_.erase(found);
  }

  asio::io_context& context() { return context_; }

 private:
  using Due = std::chrono::steady_clock::time_point;

  void arm() {
    if (tasks_.empty()) return;
    const Due due = tasks_.begin()->first.first;
    if (armed_for_ && *armed_for_ <= due) return;
    armed_for_ = due;
    timer_.expires_at(due);
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      armed_for_.reset();
      fire();
      arm();
    });
  }

  void fire() {
    const Due now = std::chrono::steady_clock::now();
    while (!tasks_.empty() && tasks_.begin()->first.first <= now) {
      auto first = tasks_.extract(tasks_.begin());
      due_.erase(first.key().second);
      first.mapped()();
    }
  }

  asio::io_context context_{1};
  asio::steady_timer timer_;
  std::optional<Due> armed_for_;
  std::map<std::pair<Due, TimerId>, Task> tasks_;
  std::map<TimerId, Due> due_;
  TimerId next_id_ = 1;
};

// The loop, and how much work is under way; work that hangs keeps it beyond its environment.
struct LoopWithWork {
  AsioLoop loop;
  std::mutex mutex;
  std::condition_variable changed;
  int outstanding = 0;  // guarded by mutex

  void begin() {
    const std::lock_guard lock(mutex);
    ++outstanding;
  }
  // `done` is posted before the work counts as ended: whoever waits for that finds it on the loop.
  void end(Task done) {
    loop.post(std::move(done));
    const std::lock_guard lock(mutex);
    --outstanding;
    changed.notify_all();
  }
};

void label(std::thread& thread, const std::string& name) {
  pthread_setname_np(thread.native_handle(), name.substr(0, 15).c_str());
}

class ThreadWorker final : public Worker {
 public:
  ThreadWorker(std::shared_ptr<LoopWithWork> shared, const std::string& name) : shared_(std::move(shared)) {
    thread_ = std::thread([this] { serve(); });
    label(thread_, name);
  }
  ~ThreadWorker() override {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  void run(Task work, Task done) override {
    shared_->begin();
    {
      const std::lock_guard lock(mutex_);
      waiting_.emplace_back(std::move(work), std::move(done));
    }
    changed_.notify_one();
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto wakes = [this] { return ended_ || !waiting_.empty(); };
      if (!changed_.wait_for(lock, kQuietSpan, wakes)) {
        lock.unlock();
        give_back_memory();
        lock.lock();
        changed_.wait(lock, wakes);
      }
      if (waiting_.empty()) return;
      auto [work, done] = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      work();
      work = nullptr;
      shared_->end(std::move(done));
      lock.lock();
    }
  }

  std::shared_ptr<LoopWithWork> shared_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<Task, Task>> waiting_;  // under the mutex, as is the next
  bool ended_ = false;
  std::thread thread_;
};

// The threads of the pool. One more is made whenever there is more work than threads.
class Pool {
 public:
  // A thread that cannot be made ends those before it: once the other constructor is done, the destructor runs.
  explicit Pool(std::string name) : Pool() {
    name_ = std::move(name);
    while (threads_.size() < kPoolThreadsAtStart) add_thread();
  }
  ~Pool() {
    context_.stop();
    for (std::thread& thread : threads_) thread.join();
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  void post(Task task) {
    {
      const std::lock_guard lock(mutex_);
      if (++pieces_ > threads_.size() && threads_.size() < kPoolThreads) add_thread_if_there_is_one();
    }
    asio::post(context_, [this, task = std::move(task)]() mutable {
      task();
      task = nullptr;
      const std::lock_guard lock(mutex_);
      --pieces_;
    });
  }

 private:
  Pool() = default;

  void add_thread() {
    label(threads_.emplace_back([this] { run_with_rests(context_, kPiecesOfWork); }), name_);
  }
  // The threads that are there do the work where the process gets no other.
  void add_thread_if_there_is_one() {
    try {
      add_thread();
    } catch (const std::system_error&) {
    }
  }

  std::string name_;
  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> guard_{context_.get_executor()};
  std::mutex mutex_;
  std::size_t pieces_ = 0;  // that wait or are under way; under the mutex, as are the threads until the end
  std::vector<std::thread> threads_;
};

class AsioEnv : public RealEnv {
 public:
  explicit AsioEnv(const std::string& name)
      : name_(name), random_(seed()), guard_(asio::make_work_guard(shared_->loop.context())) {
    thread_ = std::thread([this] { run_with_rests(shared_->loop.context()); });
    label(thread_, name);
  }
  ~AsioEnv() override { stop(); }

  base::Time now() const override {
    return {std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
                .count()};
  }
  base::Duration uptime() const override {
    // Not steady_clock, which stands still while the machine is suspended: leases run out meanwhile.
    timespec time{};
    clock_gettime(CLOCK_BOOTTIME, &time);
    return {std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec};
  }
  base::Random& random() override { return random_; }
  Loop& loop() override { return shared_->loop; }
  void offload(Task work, Task done) override {
    shared_->begin();
    pool_->post([shared = shared_, work = std::move(work), done = std::move(done)]() mutable {
      work();
      work = nullptr;
      shared->end(std::move(done));
    });
  }
  std::unique_ptr<Worker> worker(const std::string& name) override {
    return std::make_unique<ThreadWorker>(shared_, name);
  }
  base::Result<std::unique_ptr<HttpClient>> http_client(ClientOptions options) override {
    return make_http_client(std::move(options), shared_->loop);
  }
  base::Result<std::unique_ptr<KvStore>> open_store(const std::string& path, std::size_t bytes_max) override {
    return open_lmdb(path, bytes_max);
  }
  void stop() override {
    if (!thread_.joinable()) return;
    // Running work may offload more: a commit is followed by the writes that waited for it.
    const auto end = std::chrono::steady_clock::now() + kWorkGrace;
    while (work_ended(end) && !run_what_is_posted()) {
    }
    run_what_is_posted();
    shared_->loop.context().stop();
    thread_.join();
    const std::lock_guard lock(shared_->mutex);
    if (shared_->outstanding == 0) return;
    base::log_error("rt", base::format("{} stops without {} pieces of work that hang", name_, shared_->outstanding));
    (void)pool_.release();  // to destroy it would be to wait for them
  }

 private:
  // True if nothing is under way off the loop; false once `end` has come.
  bool work_ended(std::chrono::steady_clock::time_point end) {
    std::unique_lock lock(shared_->mutex);
    return shared_->changed.wait_until(lock, end, [this] { return shared_->outstanding == 0; });
  }
  // True if that has not begun further work.
  bool run_what_is_posted() {
    std::promise<bool> ran;
    shared_->loop.post([this, &ran] {
      const std::lock_guard lock(shared_->mutex);
      ran.set_value(shared_->outstanding == 0);
    });
    return ran.get_future().get();
  }

  static std::uint64_t seed() {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
  }

  std::string name_;
  std::shared_ptr<LoopWithWork> shared_ = std::make_shared<LoopWithWork>();
  base::Random random_;
  asio::executor_work_guard<asio::io_context::executor_type> guard_;
  std::unique_ptr<Pool> pool_ = std::make_unique<Pool>(name_);
  std::thread thread_;
};

}  // namespace

std::unique_ptr<RealEnv> make_real_env(const std::string& name) { return std::make_unique<AsioEnv>(name); }

}  // namespace rt

// An environment on virtual time, for tests: nothing happens until run_for() is called.
#pragma once

#include <map>
#include <utility>

#include "rt/env.h"

namespace client::testing {

class FakeEnv : public rt::Env, private rt::Loop {
 public:
  explicit FakeEnv(std::uint64_t seed = 1) : random_(seed) {}

  base::Time now() const override { return base::Time{kStart.ns + elapsed_.ns}; }
  base::Duration uptime() const override { return elapsed_; }
  base::Random& random() override { return random_; }
  rt::Loop& loop() override { return *this; }
  void offload(rt::Task work, rt::Task done) override {
    post([work = std::move(work), done = std::move(done), this] {
      work();
      post(done);
    });
  }

  // Runs everything that is due up to then, in order.
  void run_for(base::Duration span) {
    const base::Duration end = elapsed_ + span;
    while (!tasks_.empty() && tasks_.begin()->first.first <= end) {
      const auto first = tasks_.begin();
      elapsed_ = first->first.first;
      rt::Task task = std::move(first->second);
      tasks_.erase(first);
      task();
    }
    elapsed_ = end;
  }
  // Runs the tasks that are due now.
  void settle() { run_for({}); }
  // The next callback that is due now, if there is one.
  bool step() {
    if (tasks_.empty() || tasks_.begin()->first.first > elapsed_) return false;
    auto first = tasks_.extract(tasks_.begin());
    first.mapped()();
    return true;
  }
  // Drops all tasks, as when a process is killed.
  void drop_tasks() { tasks_.clear(); }

 private:
  static constexpr base::Time kStart{1'767'225'600'000'000'000};  // 2026-01-01T00:00:00Z

  void post(rt::Task task) override { add({}, std::move(task)); }
  TimerId after(base::Duration delay, rt::Task task) override { return add(delay, std::move(task)); }
  void cancel(TimerId timer) override {
    for (auto it = tasks_.begin(); it != tasks_.end(); ++it)
      if (it->first.second == timer) return void(tasks_.erase(it));
  }
  TimerId add(base::Duration delay, rt::Task task) {
    if (delay < base::Duration{}) delay = {};
    const TimerId id = next_++;
    tasks_.emplace(std::pair(elapsed_ + delay, id), std::move(task));
    return id;
  }

  base::Random random_;
  base::Duration elapsed_{};
  TimerId next_ = 1;
  std::map<std::pair<base::Duration, TimerId>, rt::Task> tasks_;
};

}  // namespace client::testing

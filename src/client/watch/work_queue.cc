// Which key is worked on next, and when a failed one comes back.
#include "client/watch/work_queue.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "base/check.h"

namespace client {

namespace {
constexpr int kKeysPerTurn = 64;  // then other callbacks of the loop get their turn
}

struct WorkQueue::State : std::enable_shared_from_this<WorkQueue::State> {
  rt::Env& env;
  Work work;
  int in_flight_max;
  BackOff back_off;
  std::deque<std::string> waiting;
  std::set<std::string> waiting_keys;  // the keys of `waiting`
  std::set<std::string> in_flight;
  std::set<std::string> dirty;  // in flight, and changed since
  std::map<std::string, int> failed;
  struct Delayed {
    rt::Loop::TimerId timer;
    base::Duration due;  // of Env::uptime
  };
  std::map<std::string, Delayed> delayed;
  bool pump_posted = false;

  State(rt::Env& e, Work w, int max, BackOff b) : env(e), work(std::move(w)), in_flight_max(max), back_off(b) {}

  void add(const std::string& key) {
    if (in_flight.contains(key)) {
      dirty.insert(key);
      return;
    }
    if (!waiting_keys.insert(key).second) return;
    waiting.push_back(key);
    post_pump();
  }

  void post_pump() {
    if (pump_posted || waiting.empty() || static_cast<int>(in_flight.size()) >= in_flight_max) return;
    pump_posted = true;
    env.loop().post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->pump();
    });
  }

  void pump() {
    pump_posted = false;
    for (int count = 0; count < kKeysPerTurn; ++count) {
      if (waiting.empty() || static_cast<int>(in_flight.size()) >= in_flight_max || !work) return;
      const std::string key = std::move(waiting.front());
      waiting.pop_front();
      waiting_keys.erase(key);
      in_flight.insert(key);
      work(key);
    }
    post_pump();
  }

  void finish(const std::string& key) {
    in_flight.erase(key);
    if (dirty.erase(key) != 0) add(key);
    post_pump();
  }

  void add_after(const std::string& key, base::Duration delay) {
    if (delay <= base::Duration{}) return add(key);
    const base::Duration due = env.uptime() + delay;
    if (const auto it = delayed.find(key); it != delayed.end()) {
      if (it->second.due <= due) return;
      env.loop().cancel(it->second.timer);
    }
    const rt::Loop::TimerId timer = env.loop().after(delay, [weak = weak_from_this(), key] {
      const auto self = weak.lock();
      if (!self) return;
      self->delayed.erase(key);
      self->add(key);
    });
    delayed[key] = {timer, due};
  }
};

WorkQueue::WorkQueue(rt::Env& env, Work work, int in_flight_max, BackOff back_off)
    : state_(std::make_shared<State>(env, std::move(work), in_flight_max, back_off)) {}

WorkQueue::~WorkQueue() {
  for (const auto& [key, delayed] : state_->delayed) state_->env.loop().cancel(delayed.timer);
  state_->waiting.clear();
}

void WorkQueue::add(const std::string& key) { state_->add(key); }
void WorkQueue::add_after(const std::string& key, base::Duration delay) { state_->add_after(key, delay); }

void WorkQueue::done(const std::string& key) {
  state_->failed.erase(key);
  state_->finish(std::string(key));
}

void WorkQueue::pause(const std::string& key) { state_->finish(std::string(key)); }

void WorkQueue::retry(const std::string& key) {
  const std::string kept = key;
  const int count = state_->failed[kept]++;
  base::Duration delay = state_->back_off.first;
  for (int i = 0; i < count && delay < state_->back_off.max; ++i) delay = delay * 2;
  state_->finish(kept);
  state_->add_after(kept, std::min(delay, state_->back_off.max));
}

int WorkQueue::failures(const std::string& key) const {
  const auto it = state_->failed.find(key);
  return it == state_->failed.end() ? 0 : it->second;
}
std::size_t WorkQueue::size() const { return state_->waiting.size(); }

}  // namespace client

// The order of calls, and the time after which one counts as hanging.
#include "node/agent/core/pod_calls.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <system_error>
#include <utility>

namespace node {

namespace {

constexpr std::size_t kAtOnce = 8;
// The longest start, or end, of a pod on a machine that is well.
constexpr base::Duration kPatience = base::seconds(5);
constexpr std::size_t kFairTurn = 4;
// Pods that are remembered to be slow: none of them asks to be forgotten, and beyond so many they start anew.
constexpr std::size_t kSlowMax = 10'000;

}  // namespace

struct PodCalls::State : std::enable_shared_from_this<State> {
  struct Call {
    rt::Task work, done;
    Part part;
  };
  // A pod that waits, and what it waits for.
  struct Turn {
    std::string uid;
    Part part;
  };
  // One that is under way.
  struct Running {
    std::string uid;
    bool counts = true;
    rt::Loop::TimerId timer = 0;
    std::unique_ptr<rt::Worker> worker;
  };

  State(rt::Env& e, std::size_t max) : env(e), all_max(max) {}

  rt::Env& env;
  const std::size_t all_max;
  std::map<std::string, std::deque<Call>> waiting;  // by pod
  std::deque<Turn> turns;                           // of pods that wait
  std::set<std::string> slow;                       // pods whose last calls took long
  std::size_t counted = 0, all = 0, given = 0;

  std::deque<Turn>::iterator next_turn() {
    const bool is_fair = ++given % kFairTurn == 0;
    const auto is_well = [this](const Turn& one) { return !slow.contains(one.uid); };
    auto turn = is_fair ? turns.end() : std::ranges::find_if(turns, [&](const Turn& one) {
      return one.part == Part::kGoesOn && is_well(one);
    });
    if (turn == turns.end()) turn = std::ranges::find_if(turns, is_well);
    return turn == turns.end() ? turns.begin() : turn;
  }

  void next() {
    while (counted < kAtOnce && all < all_max && !turns.empty()) {
      const auto turn = next_turn();
      const std::string uid = turn->uid;
      turns.erase(turn);
      const auto found = waiting.find(uid);
      Call call = std::move(found->second.front());
      found->second.pop_front();
      if (found->second.empty())
        waiting.erase(found);
      else
        turns.push_back({uid, found->second.front().part});
      begin(uid, std::move(call));
    }
  }

  void begin(const std::string& uid, Call call) {
    ++counted;
    ++all;
    const auto running = std::make_shared<Running>();
    running->uid = uid;
    running->timer = env.loop().after(kPatience, [weak = weak_from_this(), running] {
      const auto self = weak.lock();
      if (!self) return;
      running->timer = 0;
      running->counts = false;
      --self->counted;
      if (self->slow.size() >= kSlowMax) self->slow.clear();
      self->slow.insert(running->uid);
      self->next();
    });
    rt::Task ended = [weak = weak_from_this(), running, done = std::move(call.done)] {
      running->worker.reset();
      if (const auto self = weak.lock()) self->end(*running);
      done();
    };
    try {
      running->worker = env.worker("pod");
    } catch (const std::system_error&) {
      return env.offload(std::move(call.work), std::move(ended));  // the machine has no more threads for us
    }
    running->worker->run(std::move(call.work), std::move(ended));
  }

  void end(Running& running) {
    if (running.timer != 0) env.loop().cancel(std::exchange(running.timer, 0));
    if (running.counts) {
      --counted;
      slow.erase(running.uid);
    }
    if (--all == 0 && turns.empty()) slow.clear();
    next();
  }
};

PodCalls::PodCalls(rt::Env& env, std::size_t all_max) : state_(std::make_shared<State>(env, all_max)) {}
PodCalls::~PodCalls() = default;

void PodCalls::run(const std::string& uid, rt::Task work, rt::Task done, Part part) {
  std::deque<State::Call>& calls = state_->waiting[uid];
  if (calls.empty()) state_->turns.push_back({uid, part});
  calls.push_back({std::move(work), std::move(done), part});
  state_->next();
}

}  // namespace node

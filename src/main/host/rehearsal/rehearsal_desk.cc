// The dump is taken on the scheduler's loop, and rehearsed elsewhere.
#include "main/host/rehearsal/rehearsal_desk.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "main/host/rehearsal/question.h"
#include "rt/env.h"

namespace volcano_main {

base::Result<std::string> dump_to_rehearse(const scheduler::Scheduler* part) {
  if (part == nullptr) return base::make_error(base::Code::kUnavailable, "the scheduler starts, or stops");
  if (part->pods() > kRehearsedPodsMax)
    return base::make_error(base::Code::kTooLarge, "the cluster has more pods than are rehearsed");
  return part->dump({});
}

struct RehearsalDesk::State {
  const AskDump ask_dump;
  const scheduler::Options options;
  const base::Duration pause;
  std::atomic<bool> is_busy = false;
  std::mutex mutex;  // of what follows; stop() takes `env` away
  std::unique_ptr<rt::RealEnv> env = rt::make_real_env("rehearsal");
  base::Duration next_at{};  // on the clock of `env`

  bool take_turn() {
    const std::lock_guard lock(mutex);
    if (!env || env->uptime() < next_at || is_busy.exchange(true)) return false;
    next_at = env->uptime() + pause;
    return true;
  }

  // Runs `work` on the desk's own thread, and not at all after stop().
  void post(rt::Task work) {
    const std::lock_guard lock(mutex);
    if (env) env->loop().post(std::move(work));
  }
};

class RehearsalDesk::Turn {
 public:
  Turn(std::shared_ptr<State> state, std::shared_ptr<rt::HttpExchange> exchange)
      : state_(std::move(state)), exchange_(std::move(exchange)) {}
  ~Turn() { end(rehearsal_failure(base::make_error(base::Code::kUnavailable, "the server stops"))); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // Answers, and lets the next one in.
  void end(rt::HttpResponse response) {
    if (!exchange_) return;
    state_->is_busy = false;
    std::exchange(exchange_, nullptr)->respond(std::move(response));
  }

 private:
  const std::shared_ptr<State> state_;
  std::shared_ptr<rt::HttpExchange> exchange_;
};

RehearsalDesk::RehearsalDesk(AskDump ask_dump, scheduler::Options options, base::Duration pause)
    : state_(new State{.ask_dump = std::move(ask_dump), .options = std::move(options), .pause = pause}) {}

RehearsalDesk::~RehearsalDesk() { stop(); }

std::shared_ptr<RehearsalDesk::Turn> RehearsalDesk::begin(std::shared_ptr<rt::HttpExchange> exchange) const {
  if (state_->take_turn()) return std::make_shared<Turn>(state_, std::move(exchange));
  exchange->respond(rehearsal_failure(
      base::make_error(base::Code::kTooManyRequests, "another question is rehearsed now; try again")));
  return nullptr;
}

void RehearsalDesk::rehearse(std::shared_ptr<Turn> turn, base::Result<RehearsedObjects> objects) const {
  if (!objects.ok()) return turn->end(rehearsal_failure(objects.error()));
  state_->ask_dump(
      [state = state_, turn = std::move(turn), objects = *std::move(objects)](base::Result<std::string> dump) mutable {
        if (!dump.ok()) return turn->end(rehearsal_failure(dump.error()));
        state->post(
            [&options = state->options, turn = std::move(turn), objects = std::move(objects), dump = *std::move(dump)] {
              const auto result = volcano_main::rehearse(dump, objects, options);
              turn->end(result.ok() ? rehearsal_answer(200, *result) : rehearsal_failure(result.error()));
            });
      });
}

void RehearsalDesk::stop() {
  std::unique_ptr<rt::RealEnv> env;
  {
    const std::lock_guard lock(state_->mutex);
    env = std::move(state_->env);
  }
  if (env) env->stop();
}

}  // namespace volcano_main

// The thread that keeps a Lease.
#include "client/election/leadership.h"

#include <utility>

#include "base/log.h"
#include "rt/loop_pulse.h"

namespace client {
namespace {

constexpr int kLooksAtLeast = 12;  // in the time for which a loop may stand still

}  // namespace

Leadership::Leadership(rt::Env& program, base::Duration still_max)
    : program_(program),
      look_{still_max.ns / kLooksAtLeast},
      env_(rt::make_real_env("lease")),
      stands_still_(rt::loop_pulse(program, still_max)) {}

base::Result<std::unique_ptr<Leadership>> Leadership::make(rt::Env& program, const MakeClient& make_client,
                                                           LeaderElectionOptions options, base::Duration still_max) {
  std::unique_ptr<Leadership> made(new Leadership(program, still_max));
  std::promise<base::Status> connected;
  made->env_->loop().post([&] {
    auto client = make_client(*made->env_);
    if (client.ok()) {
      made->client_ = *std::move(client);
      made->election_ = std::make_unique<LeaderElection>(*made->client_, *made->env_, std::move(options));
    }
    connected.set_value(client.ok() ? base::Status() : base::Status(client.take_error()));
  });
  TRY_VOID(connected.get_future().get());
  return made;
}

Leadership::~Leadership() {
  std::promise<void> gone;
  env_->loop().post([&] {
    election_.reset();
    client_.reset();
    gone.set_value();
  });
  gone.get_future().wait();
  env_->stop();
}

void Leadership::start(std::function<void()> on_started, std::function<void()> on_lost) {
  env_->loop().post([this, on_started = std::move(on_started), on_lost = std::move(on_lost)]() mutable {
    on_lost_ = std::move(on_lost);
    election_->start(
        [this, on_started = std::move(on_started)] {
          program_.loop().post(on_started);
          look_at_program();
        },
        on_lost_);
  });
}

// Renewals would keep another from taking over from a program that does nothing any more.
void Leadership::look_at_program() {
  if (!election_ || !election_->is_leader()) return;
  if (stands_still_()) {
    election_->close_fence();
    base::log_error("leader-election", "the lease is left to others: the program's loop stands still");
    return on_lost_();
  }
  env_->loop().after(look_, [this] { look_at_program(); });
}

void Leadership::release(std::function<void()> done) {
  env_->loop().post(
      [this, done = std::move(done)] { election_->release([this, done] { program_.loop().post(done); }); });
}

}  // namespace client

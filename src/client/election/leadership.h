// Which of several equal programs acts, where what it does may keep its loop busy for long?
#pragma once

#include <functional>
#include <future>
#include <memory>

#include "base/result.h"
#include "base/time.h"
#include "client/election/leader_election.h"
#include "rt/env.h"

namespace client {

// A LeaderElection on a thread of its own, with a client of its own: neither a long turn of the program's loop nor the
// program's other requests keep a renewal waiting.
class Leadership {
 public:
  // For the requests about the Lease, on the loop of the environment that it gets.
  using MakeClient = std::function<base::Result<std::unique_ptr<Client>>(rt::Env&)>;

  // `program` outlives it. A program whose loop stands still for `still_max` decides nothing more, and loses the Lease.
  static base::Result<std::unique_ptr<Leadership>> make(rt::Env& program, const MakeClient& make_client,
                                                        LeaderElectionOptions options, base::Duration still_max);
  // Not on the own loop, which ends here; so not in what start() calls.
  ~Leadership();
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;

  // `on_started` on the program's loop. `on_lost` on the own one, at once: when it begins, nothing may be written any
  // more. Once, from any thread.
  void start(std::function<void()> on_started, std::function<void()> on_lost);
  // As those of LeaderElection, from any thread.
  bool is_leader() const { return election_->is_leader(); }
  bool has_seen_leader() const { return election_->has_seen_leader(); }
  std::function<bool()> fence() const { return election_->fence(); }
  void close_fence() { election_->close_fence(); }
  // `done` on the program's loop.
  void release(std::function<void()> done);

 private:
  Leadership(rt::Env& program, base::Duration still_max);
  void look_at_program();

  rt::Env& program_;
  base::Duration look_;  // how often the program is looked at
  std::unique_ptr<rt::RealEnv> env_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<LeaderElection> election_;
  std::function<bool()> stands_still_;
  std::function<void()> on_lost_;
};

}  // namespace client

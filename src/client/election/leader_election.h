// Which of several equal components acts: the one that holds a Lease.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "client/client.h"
#include "rt/env.h"

namespace client {

struct LeaderElectionOptions {
  std::string ns;  // of the Lease
  std::string name;
  std::string identity;                               // unique among the candidates
  base::Duration lease_duration = base::seconds(15);  // others take over that long after the last renewal they saw
  base::Duration renew_deadline = base::seconds(10);  // the holder gives up after failing for that long
  base::Duration retry_period = base::seconds(2);
};

// How long one request about the Lease may take: another is tried, over another connection, before the deadline.
constexpr base::Duration lease_request_time(base::Duration renew_deadline) {
  return std::max(base::seconds(1), base::Duration{renew_deadline.ns / 3});
}

// Refuses times with which a holder could go on writing while another has taken over, or could never lead. The error
// names the flags of Kubernetes' components.
base::Status check_lease_times(const LeaderElectionOptions& options);

// On the loop of `env`, unless said otherwise. Expiry is judged by our own clock since a change of the record was seen,
// never by comparing clocks.
class LeaderElection {
 public:
  LeaderElection(Client& client, rt::Env& env, LeaderElectionOptions options);
  ~LeaderElection();
  LeaderElection(const LeaderElection&) = delete;
  LeaderElection& operator=(const LeaderElection&) = delete;

  // `on_started` when this one leads; `on_stopped` when it no longer does (it must stop acting at once).
  void start(std::function<void()> on_started, std::function<void()> on_stopped);
  bool is_leader() const;  // any thread
  // Whether the Lease was seen with a holder, this one or another. Any thread.
  bool has_seen_leader() const;
  // Whether what is decided now may be written: the last renewal was asked for less than the renew deadline ago. To be
  // asked from any thread, last before a request goes out, so that a process that stood still writes nothing when it
  // goes on. `env` must outlive it.
  std::function<bool()> fence() const;
  // No write may begin any more, though the Lease is still ours: before it is given up, for what is on its way. Any
  // thread.
  void close_fence();
  // Gives the Lease up so that another can take it at once, then calls `done`.
  void release(std::function<void()> done);

 private:
  struct Fence;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace client

// How do decisions reach the API server?
//
// Writes are ordered per object, at most one in flight for each; a newer status replaces one that still waits. What
// fails is retried, undone or dropped by the class of its error. Loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "client/client.h"
#include "client/event_recorder.h"
#include "rt/env.h"
#include "scheduler/cache/intake.h"
#include "scheduler/session/plan.h"

namespace scheduler {

// Where a pod is on its way to its node, and how long the step before took.
using OnStage = std::function<void(const PlannedBind&, std::string_view stage, base::Duration took)>;

struct OutboxOptions {
  std::string component;  // of events
  int in_flight_max = 256;
  int gate_removals_max = 1000;  // under way; further ones are dropped, and asked for again by a later cycle
  bool dry_run = false;          // decide and count, but write nothing
  OnStage on_stage = {};         // PreBound, Bound; may be unset
};

class Outbox {
 public:
  // `on_change`: the model was corrected after a failure, or a write ended; a cycle may decide more.
  Outbox(client::Client& client, rt::Env& env, Intake& intake, OutboxOptions options, std::function<void()> on_change);
  ~Outbox();
  void send(Plan plan);
  // Creates a queue unless it exists; tries again until it does.
  void ensure_queue(const std::string& name, bool reclaimable, std::function<void()> done);
  // What is known of the CPUs of a node that is gone goes with it.
  void delete_numatopology(const std::string& name, std::string_view uid, std::function<bool()> still_gone);
  std::size_t waiting() const;

 private:
  // Tries again while it is wanted, until it succeeds or fails as `is_done` says; after a minute `failure` is logged.
  struct Insistence {
    std::function<bool()> is_wanted;
    std::function<bool(base::Code)> is_done;
    std::string failure;
  };
  void insist(client::Request request, Insistence how, std::function<void()> done);

  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace scheduler

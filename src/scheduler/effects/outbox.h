// How do decisions reach the API server?
//
// Every decision is a write (write.h): a value that says its next step. The outbox makes the steps' requests, a limited
// number at once: what moves pods first, then phases, then counts and conditions, and events when nothing else waits.
// Requests about one object follow one another; a newer status takes the place of one that waits, and counts of one
// object are written only now and then. The ledger knows what is under way. Loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "client/client.h"
#include "rt/env.h"
#include "scheduler/cache/intake.h"
#include "scheduler/ledger/ledger.h"
#include "scheduler/session/plan.h"

namespace scheduler {

// The stage of a pod on the way to its node, and how long the step before took.
using OnStage = std::function<void(const PlannedBind&, std::string_view stage, base::Duration took)>;

struct OutboxOptions {
  std::string component;  // of events
  int in_flight_max = 64;
  int gate_removals_max = 1000;  // under way; further ones are dropped, and asked for again by a later cycle
  bool dry_run = false;          // decide and count, but write nothing
  OnStage on_stage = {};         // PreBound, Bound; may be unset
  std::function<bool(std::string_view node)> has_node = {};  // is there such a node now? Unset: there is none
};

class Outbox {
 public:
  // `on_change`: the model was corrected after a failure, or a write ended; a cycle may decide more. The others outlive
  // the outbox.
  Outbox(client::Client& client, rt::Env& env, Intake& intake, Ledger& ledger, OutboxOptions options,
         std::function<void()> on_change);
  ~Outbox();
  void send(Plan plan);
  // Creates a queue unless it exists; tries again until it does.
  void ensure_queue(const std::string& name, bool reclaimable);
  // The NumaTopology of a node that is gone goes with it, unless a node of that name comes meanwhile.
  void delete_numatopology(const std::string& node, std::string_view uid);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace scheduler

// The inside of the outbox: which write may make its next request now?
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler/effects/held_events.h"
#include "scheduler/effects/outbox.h"
#include "scheduler/effects/write.h"
#include "scheduler/effects/write_ends.h"
#include "scheduler/effects/write_troubles.h"

namespace scheduler {

struct Outbox::State : std::enable_shared_from_this<Outbox::State> {
  using Id = std::uint64_t;
  struct Write {
    Work work;
    Step step{};  // the call that is made, or will be
    enum class At : std::uint8_t { kWaiting, kReady, kInFlight, kPaused } at = At::kWaiting;
    int tries = 0;  // of this call that failed
  };
  // Requests about one object. The holder of the lane is ready, in flight, or pauses before it tries again.
  struct Lane {
    std::optional<Id> holder;
    std::vector<Id> waiting;  // rarely more than two; an empty deque would take 576 bytes a lane
    // Paced writes are not made before both.
    base::Duration rests_until{};
    base::Duration gathers_until{};
    std::optional<base::Duration> wakes_at{};  // a timer for that is set
  };

  State(client::Client& client, rt::Env& env, Intake& intake, Ledger& ledger, OutboxOptions options,
        std::function<void()> on_change);

  void submit(Work work);
  // A write of the lane that has not gone out yet, and whose place a newer one can take.
  bool take_place_of_older(Work& work, const std::string& lane);
  void take(Id id, Step step, Reply answer);
  void enqueue(Id id);
  void settle(const std::string& lane);
  void settle_at(base::Duration due, const std::string& name, Lane& lane);
  void release(const std::string& lane);
  void drop_rested_lanes();
  void make_ready(Id id);
  void push_ready(Id id, Urgency urgency) { ready[static_cast<std::size_t>(urgency)].push_back(id); }
  void pump();
  void start(Id id, Write& write);
  void answered(Id id, base::Result<api::Json> result);
  bool pause_before_retry(Id id, Write& write, const base::Error& error);
  void resumed(Id id);
  StepContext context() const { return {env.now(), env.uptime(), env.random(), &options.has_node, &pod_is_over}; }
  // No write waits for its turn.
  bool is_idle() const;

  client::Client& client;
  rt::Env& env;
  Intake& intake;
  Ledger& ledger;
  OutboxOptions options;
  const std::function<bool(std::string_view, std::string_view)> pod_is_over =
      [this](std::string_view key, std::string_view uid) { return intake.pods.is_over(key, uid); };
  HeldEvents events;
  WriteEnds ends;
  WriteTroubles troubles;

  std::unordered_map<Id, Write> writes;
  Id last_id = 0;
  std::unordered_map<std::string, Lane> lanes;
  std::deque<std::pair<base::Duration, std::string>> resting;  // lanes that may be dropped from then on
  std::array<std::deque<Id>, client::kUrgencies> ready;        // an id may stand here after its write went out
  int in_flight = 0;
};

}  // namespace scheduler

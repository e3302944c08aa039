// The inside of the outbox: which write may make its next request now?
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/events/event_recorder.h"
#include "scheduler/effects/outbox.h"
#include "scheduler/effects/write.h"

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

  // --- which request is made when (outbox.cc) ---
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
  // Says of a pod that is about to be bound what it waits for, once.
  void tell_wait(const PodBinding& write, const std::string& text);
  void report_trouble(const client::Request& request, const base::Result<api::Json>& result);
  // Events wait until nothing else does.
  void record(api::Json object, client::EventText text);
  void pass_events_on();

  // --- what follows from the end of a write (outbox_ends.cc) ---
  // `end` is done or failed; `answer` is the last one, if there was one.
  void ended(Work work, const Step& end, Reply answer);
  // A newer write took the place of this one.
  void superseded(const Work& work);
  void ended(PodBinding& write, const Step& end, Reply answer);
  void ended(PodEviction& write, const Step& end, Reply answer);
  void ended(PodStatusWrite& write, const Step& end, Reply answer);
  void ended(GateRemoval& write, const Step& end, Reply answer);
  void ended(GroupStatusWrite& write, const Step& end, Reply answer);
  void ended(QueueStatusWrite& write, const Step& end, Reply answer);
  void ended(ShardStatusWrite& write, const Step& end, Reply answer);
  void ended(ClaimRelease&, const Step&, Reply) {}
  void ended(PodLookup& write, const Step& end, Reply answer);
  void ended(GroupLookup& write, const Step& end, Reply answer);
  void ended(QueueLookup& write, const Step& end, Reply answer);
  void ended(Retelling& write, const Step& end, Reply answer);
  void ended(QueueCreation&, const Step&, Reply) {}  // tried until it exists
  void ended(NumatopologyDeletion& write, const Step& end, Reply answer);
  void note_lost(LostStatus lost);
  void write_condition(PlannedPodCondition condition);
  void note_stage(const PlannedBind& plan, std::string_view stage, base::Duration since) const;

  client::Client& client;
  rt::Env& env;
  Intake& intake;
  Ledger& ledger;
  OutboxOptions options;
  std::function<void()> on_change;
  const std::function<bool(std::string_view, std::string_view)> pod_is_over =
      [this](std::string_view key, std::string_view uid) { return intake.pod_is_over(key, uid); };
  client::EventRecorder events;
  std::deque<std::pair<api::Json, client::EventText>> held_events;

  std::unordered_map<Id, Write> writes;
  Id last_id = 0;
  std::unordered_map<std::string, Lane> lanes;
  std::deque<std::pair<base::Duration, std::string>> resting;  // lanes that may be dropped from then on
  std::array<std::deque<Id>, client::kUrgencies> ready;        // an id may stand here after its write went out
  int in_flight = 0;
  std::map<std::string, Id> retellings;        // by what was lost
  std::map<std::string, base::Code> troubles;  // by resource, as last reported
};

}  // namespace scheduler

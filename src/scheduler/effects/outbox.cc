// How do decisions reach the API server?
#include "scheduler/effects/outbox.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "scheduler/effects/outbox_requests.h"
#include "scheduler/effects/outbox_state.h"

namespace scheduler {
Outbox::State::State(client::Client& c, rt::Env& e, Intake& i, Ledger& l, OutboxOptions o, std::function<void()> change)
    : client(c),
      env(e),
      intake(i),
      ledger(l),
      options(std::move(o)),
      events(c, e, options.component, [this] { return is_idle(); }),
      ends({.env = e,
            .intake = i,
            .ledger = l,
            .events = events,
            .on_stage = options.on_stage,
            .submit = [this](Work work) { submit(std::move(work)); },
            .on_change = std::move(change)}) {}

bool Outbox::State::is_idle() const {
  const auto is_empty = [](const std::deque<Id>& queue) { return queue.empty(); };
  return in_flight < options.in_flight_max && std::all_of(ready.begin(), ready.end(), is_empty);
}

void Outbox::State::submit(Work work) {
  Step step = begin(work, context());
  if (step.kind == Step::Kind::kCall && take_place_of_older(work, step.lane)) return;
  const Id id = ++last_id;
  writes.emplace(id, Write{.work = std::move(work)});
  take(id, std::move(step), nullptr);
}

bool Outbox::State::take_place_of_older(Work& work, const std::string& name) {
  const auto found = lanes.find(name);
  if (found == lanes.end()) return false;
  Lane& lane = found->second;
  const std::optional<Id> last = lane.waiting.empty() ? lane.holder : std::optional(lane.waiting.back());
  if (!last) return false;
  Write& older = writes.at(*last);
  if (older.at == Write::At::kInFlight || !supersedes(work, older.work)) return false;
  ends.superseded(older.work);
  older.work = std::move(work);
  older.step = begin(older.work, context());
  older.tries = 0;
  lane.gathers_until = std::min(lane.gathers_until, env.uptime() + gather_time(older.work));
  if (older.at == Write::At::kReady) push_ready(*last, urgency_of(older.work));
  if (older.at == Write::At::kWaiting) settle(name);  // it may go at once where the older one had to wait
  pump();
  return true;
}

void Outbox::State::take(Id id, Step step, Reply answer) {
  Write& write = writes.at(id);
  switch (step.kind) {
    case Step::Kind::kCall:
      write.step = std::move(step);
      write.tries = 0;
      return enqueue(id);
    case Step::Kind::kPause:
      write.at = Write::At::kPaused;
      if (const auto* binding = std::get_if<PodBinding>(&write.work); binding != nullptr && !step.waits_for.empty())
        ends.waits(*binding, step.waits_for);
      env.loop().after(step.pause, [weak = weak_from_this(), id] {
        if (auto self = weak.lock()) self->resumed(id);
      });
      return;
    case Step::Kind::kDone:
    case Step::Kind::kFailed: break;
  }
  Work work = std::move(write.work);
  writes.erase(id);
  ends.ended(std::move(work), step, answer);
}

void Outbox::State::resumed(Id id) {
  const auto found = writes.find(id);
  if (found == writes.end()) return;
  take(id, next(found->second.work, nullptr, context()), nullptr);
}

void Outbox::State::enqueue(Id id) {
  Write& write = writes.at(id);
  if (write.step.lane.empty()) return make_ready(id);
  Lane& lane = lanes[write.step.lane];
  write.at = Write::At::kWaiting;
  if (lane.waiting.empty()) lane.gathers_until = env.uptime() + gather_time(write.work);
  lane.waiting.push_back(id);
  // The writes before it leave as soon as it would itself.
  if (lane.holder && writes.at(*lane.holder).at == Write::At::kReady) {
    const Urgency urgency = urgency_of(write.work);
    if (urgency < urgency_of(writes.at(*lane.holder).work)) push_ready(*lane.holder, urgency);
  }
  settle(std::string(write.step.lane));
}

void Outbox::State::settle(const std::string& name) {
  const auto found = lanes.find(name);
  if (found == lanes.end() || found->second.holder) return;
  Lane& lane = found->second;
  const base::Duration now = env.uptime();
  if (lane.waiting.empty()) {
    if (lane.rests_until <= now)
      lanes.erase(found);
    else
      resting.emplace_back(lane.rests_until, name);
    return;
  }
  const Id id = lane.waiting.front();
  const base::Duration due = std::max(lane.rests_until, lane.gathers_until);
  if (is_paced(writes.at(id).work) && now < due) return settle_at(due, name, lane);
  lane.waiting.erase(lane.waiting.begin());
  lane.holder = id;
  make_ready(id);
}

void Outbox::State::settle_at(base::Duration due, const std::string& name, Lane& lane) {
  if (lane.wakes_at && *lane.wakes_at <= due) return;
  lane.wakes_at = due;
  env.loop().after(due - env.uptime(), [weak = weak_from_this(), name] {
    auto self = weak.lock();
    if (!self) return;
    if (const auto again = self->lanes.find(name); again != self->lanes.end()) again->second.wakes_at.reset();
    self->settle(name);
  });
}

void Outbox::State::release(const std::string& name) {
  const auto found = lanes.find(name);
  if (found == lanes.end()) return;
  found->second.holder.reset();
  settle(name);
}

void Outbox::State::drop_rested_lanes() {
  const base::Duration now = env.uptime();
  while (!resting.empty() && resting.front().first <= now) {
    const auto found = lanes.find(resting.front().second);
    const bool unused = found != lanes.end() && !found->second.holder && found->second.waiting.empty();
    if (unused && found->second.rests_until <= now) lanes.erase(found);
    resting.pop_front();
  }
}

void Outbox::State::make_ready(Id id) {
  Write& write = writes.at(id);
  write.at = Write::At::kReady;
  push_ready(id, urgency_of(write.work));
  pump();
}

void Outbox::State::pump() {
  drop_rested_lanes();
  for (std::deque<Id>& queue : ready) {
    while (in_flight < options.in_flight_max && !queue.empty()) {
      const Id id = queue.front();
      queue.pop_front();
      const auto found = writes.find(id);
      if (found != writes.end() && found->second.at == Write::At::kReady) start(id, found->second);
    }
  }
  events.pass_on();
}

void Outbox::State::start(Id id, Write& write) {
  write.at = Write::At::kInFlight;
  ++in_flight;
  const bool has_counts =
      std::holds_alternative<GroupStatusWrite>(write.work) || std::holds_alternative<QueueStatusWrite>(write.work);
  if (has_counts) lanes[write.step.lane].rests_until = env.uptime() + kCountsPeriod;
  write.step.request.urgency = urgency_of(write.work);
  client.call(write.step.request, [weak = weak_from_this(), id](base::Result<api::Json> result) {
    if (auto self = weak.lock()) self->answered(id, std::move(result));
  });
}

bool Outbox::State::pause_before_retry(Id id, Write& write, const base::Error& error) {
  const auto pause = retry_after(write.step.retry, error.code, ++write.tries, env.random());
  if (!pause) return false;
  const std::string lane = write.step.lane;
  const auto& behind = lanes[lane].waiting;
  if (!behind.empty() && supersedes(writes.at(behind.front()).work, write.work)) {
    Write& newer = writes.at(behind.front());
    newer.step = begin(newer.work, context());
    ends.superseded(write.work);
    writes.erase(id);
    release(lane);
    return true;
  }
  write.at = Write::At::kPaused;
  env.loop().after(*pause, [weak = weak_from_this(), id] {
    auto self = weak.lock();
    if (self && self->writes.contains(id)) self->make_ready(id);
  });
  return true;
}

void Outbox::State::answered(Id id, base::Result<api::Json> result) {
  --in_flight;
  Write& write = writes.at(id);
  if (!result.ok() && pause_before_retry(id, write, result.error())) return pump();
  const std::string lane = write.step.lane;
  if (!lane.empty() || std::holds_alternative<QueueCreation>(write.work)) troubles.report(write.step.request, result);
  const auto* binding = std::get_if<PodBinding>(&write.work);
  const bool was_prepared = binding == nullptr || binding->at >= PodBinding::At::kNodeLock;
  Step step = next(write.work, &result, context());
  if (!was_prepared && binding->at >= PodBinding::At::kNodeLock) ends.prepared(*binding);
  if (!lane.empty()) lanes[lane].holder.reset();  // what follows may ask for the lane again, at its end
  take(id, std::move(step), &result);
  if (!lane.empty()) settle(lane);
  pump();
}

Outbox::Outbox(client::Client& client, rt::Env& env, Intake& intake, Ledger& ledger, OutboxOptions options,
               std::function<void()> on_change)
    : state_(std::make_shared<State>(client, env, intake, ledger, std::move(options), std::move(on_change))) {}

Outbox::~Outbox() = default;

void Outbox::send(Plan plan) {
  State& state = *state_;
  Ledger& ledger = state.ledger;
  if (state.options.dry_run) {
    for (const PlannedEviction& one : plan.evictions) {
      base::log_info("scheduler",
                     base::format("would evict {}/{} from {} ({})", one.ns, one.pod, one.node, one.action));
    }
    for (const PlannedBind& one : plan.binds) {
      base::log_info("scheduler", base::format("would bind {}/{} to {}", one.ns, one.pod, one.node));
    }
    return;
  }
  for (PlannedEviction& one : plan.evictions) {
    if (!ledger.flights.is_under_way(Entry::kEviction, one.uid)) ledger.flights.begin(Entry::kEviction, one.uid);
    api::Json pod = object_head("v1", "Pod", one.ns, one.pod, one.uid);
    const std::string why = "Pod is evicted, because of " + one.action;
    state.submit(PodEviction{.plan = std::move(one), .component = state.options.component});
    state.events.record(std::move(pod), {"Warning", "Evict", why});
  }
  for (PlannedBind& one : plan.binds) {
    ledger.flights.begin(Entry::kBinding, one.uid);
    state.submit(PodBinding{.plan = std::move(one)});
  }
  const auto gates_max = static_cast<std::size_t>(std::max(0, state.options.gate_removals_max));
  for (PlannedGateRemoval& one : plan.gate_removals) {  // each once: the pod's next state says that its gate is gone
    if (ledger.flights.under_way(Entry::kGate) >= gates_max || ledger.flights.is_under_way(Entry::kGate, one.uid))
      continue;
    ledger.flights.begin(Entry::kGate, one.uid);
    state.submit(GateRemoval{std::move(one)});
  }
  for (PlannedGroupStatus& one : plan.groups) {
    ledger.flights.begin(Entry::kGroup, one.ns + "/" + one.name);
    state.submit(GroupStatusWrite{std::move(one)});
  }
  for (PlannedPodCondition& one : plan.pod_conditions) {
    state.events.record(object_head("v1", "Pod", one.ns, one.pod, one.uid),
                        {"Warning", "FailedScheduling", one.message});
    state.ends.write_condition(std::move(one));
  }
  for (const PlannedGroupEvent& one : plan.group_events) {
    state.events.record(object_head("scheduling.volcano.sh/v1beta1", "PodGroup", one.ns, one.name, one.uid),
                        {one.type, one.reason, one.message});
  }
  for (PlannedShardStatus& one : plan.shards) {
    ledger.flights.begin(Entry::kShard, one.name);
    state.submit(ShardStatusWrite{std::move(one)});
  }
  for (PlannedQueueStatus& one : plan.queues) {
    ledger.flights.begin(Entry::kQueue, one.name);
    state.submit(QueueStatusWrite{std::move(one)});
  }
}

void Outbox::ensure_queue(const std::string& name, bool reclaimable) {
  if (!state_->options.dry_run) state_->submit(QueueCreation{name, reclaimable});
}

void Outbox::delete_numatopology(const std::string& node, std::string_view uid) {
  if (!state_->options.dry_run) state_->submit(NumatopologyDeletion{node, std::string(uid)});
}

}  // namespace scheduler

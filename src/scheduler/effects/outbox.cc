// How do decisions reach the API server?
#include "scheduler/effects/outbox.h"

#include <deque>
#include <map>
#include <set>
#include <vector>

#include "api/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "scheduler/effects/claim_binder.h"
#include "scheduler/effects/outbox_requests.h"
#include "scheduler/effects/volume_binder.h"

namespace scheduler {
namespace {

constexpr int kTriesMax = 12;
constexpr std::int64_t kRetryFirstMs = 20;
constexpr std::int64_t kRetryMaxMs = 5'000;
constexpr int kInsistentTriesMax = 60;

// The server may be able to do it a little later.
bool is_passing(base::Code code) {
  return code == base::Code::kTimeout || code == base::Code::kUnavailable || code == base::Code::kTooManyRequests ||
         code == base::Code::kInternal;
}

// The object is gone, or another one now.
bool is_overtaken(base::Code code) { return code == base::Code::kNotFound || code == base::Code::kConflict; }

}  // namespace

struct Outbox::State : std::enable_shared_from_this<Outbox::State> {
  using Done = std::function<void(base::Result<api::Json>)>;
  struct Write {
    client::Request request;
    Done done;
    std::function<void()> replaced = {};  // instead of `done`, when a newer write took its place
    bool replaceable = false;
    bool retried = true;  // passing errors are tried again here
    int tries = 0;
  };
  struct Lane {
    bool busy = false;
    std::deque<Write> waiting;
  };

  State(client::Client& c, rt::Env& e, Intake& i, OutboxOptions o, std::function<void()> change)
      : client(c),
        env(e),
        intake(i),
        options(std::move(o)),
        on_change(std::move(change)),
        events(c, e, options.component),
        volumes(c, e),
        claims(c) {}

  void add(const std::string& key, Write write) {
    Lane& lane = lanes[key];
    if (write.replaceable && !lane.waiting.empty() && lane.waiting.back().replaceable) {
      write.tries = 0;
      Write replaced = std::exchange(lane.waiting.back(), std::move(write));
      if (replaced.replaced) replaced.replaced();
      return;
    }
    lane.waiting.push_back(std::move(write));
    ready.push_back(key);
    pump();
  }

  void pump() {
    while (in_flight < options.in_flight_max && !ready.empty()) {
      const std::string key = std::move(ready.front());
      ready.pop_front();
      auto found = lanes.find(key);
      if (found == lanes.end() || found->second.busy || found->second.waiting.empty()) continue;
      start(key, found->second);
    }
  }

  void start(const std::string& key, Lane& lane) {
    lane.busy = true;
    ++in_flight;
    auto write = std::make_shared<Write>(std::move(lane.waiting.front()));
    lane.waiting.pop_front();
    client.call(write->request, [weak = weak_from_this(), key, write](base::Result<api::Json> result) {
      if (auto self = weak.lock()) self->finish(key, std::move(*write), std::move(result));
    });
  }

  void finish(const std::string& key, Write write, base::Result<api::Json> result) {
    --in_flight;
    Lane& lane = lanes[key];
    if (!result.ok() && write.retried && is_passing(result.error().code) && ++write.tries < kTriesMax) {
      const bool superseded = write.replaceable && !lane.waiting.empty() && lane.waiting.front().replaceable;
      if (!superseded) {
        const std::int64_t delay = std::min(kRetryFirstMs << write.tries, kRetryMaxMs);
        lane.waiting.push_front(std::move(write));
        env.loop().after(base::milliseconds(delay), [weak = weak_from_this(), key] {
          if (auto self = weak.lock()) self->release(key);
        });
        pump();
        return;
      }
    }
    tell(write.request, result);
    if (write.done) write.done(std::move(result));
    release(key);
  }

  // Each kind of trouble with a kind of write is told once, until such a write succeeds.
  void tell(const client::Request& request, const base::Result<api::Json>& result) {
    const std::string what = request.resource.plural + (request.subresource.empty() ? "" : "/" + request.subresource);
    if (result.ok() || is_overtaken(result.error().code)) {
      if (result.ok()) troubles.erase(what);
      return;
    }
    const auto [known, fresh] = troubles.try_emplace(what, result.error().code);
    if (fresh || std::exchange(known->second, result.error().code) != result.error().code)
      base::log_warning("scheduler", base::format("{} cannot be written: {}", what, result.error().message));
  }

  void release(const std::string& key) {
    auto found = lanes.find(key);
    if (found == lanes.end()) return;
    found->second.busy = false;
    if (found->second.waiting.empty())
      lanes.erase(found);
    else
      ready.push_back(key);
    pump();
  }

  void resync(std::string ns, std::string name, std::string uid) {
    client.call({.verb = client::Verb::kGet, .resource = api::resources::kPods, .ns = ns, .name = name},
                [weak = weak_from_this(), ns, name, uid](base::Result<api::Json> pod) {
                  auto self = weak.lock();
                  if (!self) return;
                  const std::string key = ns + "/" + name;
                  if (pod.ok() && api::uid_of(*pod) == uid) {
                    if ((*pod)["spec"]["nodeName"].as_string().empty()) self->intake.bind_failed(key, uid);
                    self->intake.set_answer(api::resources::kPods, *pod);
                  } else if (pod.ok() || pod.error().code == base::Code::kNotFound) {
                    self->intake.remove(api::resources::kPods, object_head("v1", "Pod", ns, name, uid));
                  } else {
                    self->env.loop().after(base::milliseconds(500), [weak, ns, name, uid] {
                      if (auto again = weak.lock()) again->resync(ns, name, uid);
                    });
                    return;
                  }
                  self->on_change();
                });
  }

  // A status that could not be written: the model believed it, the server's word counts.
  void resync_group(std::string ns, std::string name) {
    client.call({.verb = client::Verb::kGet, .resource = api::resources::kPodGroups, .ns = ns, .name = name},
                [weak = weak_from_this(), ns, name](base::Result<api::Json> group) {
                  auto self = weak.lock();
                  if (!self) return;
                  if (group.ok()) {
                    self->intake.forget_group_version(ns + "/" + name);
                    self->intake.set_answer(api::resources::kPodGroups, *group);
                  } else if (group.error().code != base::Code::kNotFound) {
                    self->env.loop().after(base::milliseconds(500), [weak, ns, name] {
                      if (auto again = weak.lock()) again->resync_group(ns, name);
                    });
                    return;
                  }
                  self->on_change();
                });
  }

  void tell_stage(const PlannedBind& plan, std::string_view stage, base::Duration since) const {
    if (options.on_stage) options.on_stage(plan, stage, env.uptime() - since);
  }

  void bind(const PlannedBind& plan) {
    volumes.bind(plan, [weak = weak_from_this(), plan, begin = env.uptime()](base::Status ready) {
      auto self = weak.lock();
      if (!self) return;
      if (!ready.ok()) return self->not_ready(plan, ready);
      self->claims.bind(plan, [weak, plan, begin](base::Status reserved) {
        auto again = weak.lock();
        if (!again) return;
        if (reserved.ok() && (!plan.volumes.empty() || !plan.claims.empty()))
          again->tell_stage(plan, "PreBound", begin);
        if (reserved.ok() && plan.node_lock.empty()) return again->bind_pod(plan);
        if (reserved.ok()) return again->lock_node(plan);
        again->claims.release(plan);
        again->not_ready(plan, reserved);
      });
    });
  }

  void lock_node(const PlannedBind& plan) {
    Write write{.request = node_lock_request(plan, env.now())};
    write.done = [this, plan](base::Result<api::Json> result) {
      if (result.ok()) return bind_pod(plan);
      claims.release(plan);
      not_ready(plan, result.take_error());
    };
    add("node/" + plan.node, std::move(write));
  }

  void not_ready(const PlannedBind& plan, const base::Status& ready) {
    const std::string message = base::format("execute preBind for pod {}/{} failed: {}, resync the task", plan.ns,
                                             plan.pod, ready.error().message);
    condition({plan.ns, plan.pod, plan.uid, "SchedulerError", message, ""}, false);
    resync(plan.ns, plan.pod, plan.uid);
  }

  void bind_pod(const PlannedBind& plan) {
    Write write{.request = binding_request(plan), .retried = false};
    write.done = [this, plan, begin = env.uptime()](base::Result<api::Json> result) {
      const api::Json pod = object_head("v1", "Pod", plan.ns, plan.pod, plan.uid);
      if (result.ok()) {
        tell_stage(plan, "Bound", begin);
        events.record(pod, {"Normal", "Scheduled",
                            base::format("Successfully assigned {}/{} to {}", plan.ns, plan.pod, plan.node)});
        return;
      }
      claims.release(plan);
      // Whether it took effect or not, the server knows: the model follows what it says.
      const base::Code code = result.error().code;
      if (code != base::Code::kConflict && code != base::Code::kNotFound) {
        const std::string message = base::format("failed to bind to node {}: {}", plan.node, result.error().message);
        condition({plan.ns, plan.pod, plan.uid, "SchedulerError", message, ""}, false);
      }
      resync(plan.ns, plan.pod, plan.uid);
    };
    add("pod/" + plan.ns + "/" + plan.pod, std::move(write));
  }

  // What happens to a status that could not be written: the model took it for written, and hears after a while that it
  // was not; once, however many writes of the key fail meanwhile. An object that is gone, or another one now, has no
  // use for it.
  template <class Lost>
  Done again_later(std::string key, Lost lost) {
    return [weak = weak_from_this(), key, lost](base::Result<api::Json> result) {
      auto self = weak.lock();
      if (!self || result.ok() || is_overtaken(result.error().code)) return;
      std::vector<std::function<void(State&)>>& waiting = self->lost_later[key];
      waiting.emplace_back(lost);
      if (waiting.size() > 1) return;
      self->env.loop().after(base::milliseconds(kRetryMaxMs), [weak, key] {
        auto again = weak.lock();
        if (!again) return;
        const auto all = again->lost_later.extract(key);
        for (const auto& one : all.mapped()) one(*again);
        again->on_change();
      });
    };
  }

  void condition(const PlannedPodCondition& plan, bool with_event) {
    if (with_event) {
      events.record(object_head("v1", "Pod", plan.ns, plan.pod, plan.uid),
                    {"Warning", "FailedScheduling", plan.message});
    }
    Write write{.request = pod_condition_request(plan, env.now()), .replaceable = true};
    const std::string pod = plan.ns + "/" + plan.pod;
    write.done = again_later("condition/" + pod,
                             [pod, uid = plan.uid](State& self) { self.intake.pod_condition_lost(pod, uid); });
    add("pod/" + plan.ns + "/" + plan.pod, std::move(write));
  }

  void evict(const PlannedEviction& plan) {
    intake.eviction_started(plan.uid);
    events.record(object_head("v1", "Pod", plan.ns, plan.pod, plan.uid),
                  {"Warning", "Evict", "Pod is evicted, because of " + plan.action});
    const std::string key = "pod/" + plan.ns + "/" + plan.pod;
    add(key, {.request = eviction_condition_request(plan, options.component, env.now())});
    Write gone{.request = deletion_request(plan)};
    gone.done = [this, plan](base::Result<api::Json> result) {
      if (result.ok()) return;
      if (result.error().code != base::Code::kNotFound && result.error().code != base::Code::kConflict) {
        intake.eviction_failed(plan.ns + "/" + plan.pod, plan.uid);
      }
      resync(plan.ns, plan.pod, plan.uid);
    };
    add(key, std::move(gone));
  }

  void group(const PlannedGroupStatus& plan) {
    const std::string key = plan.ns + "/" + plan.name;
    intake.group_write_started(key);
    Write write{.request = group_status_request(plan), .replaceable = true};
    write.replaced = [this, key] { intake.group_write_ended(key); };
    write.done = [this, plan, key](base::Result<api::Json> result) {
      intake.group_write_ended(key);
      if (result.ok()) {
        intake.set_answer(api::resources::kPodGroups, *result);
      } else if (is_overtaken(result.error().code)) {
        resync_group(plan.ns, plan.name);
      } else {
        again_later("group/" + key, [plan](State& self) { self.resync_group(plan.ns, plan.name); })(std::move(result));
      }
    };
    add("group/" + key, std::move(write));
  }

  // Each once; the pod's next state says that its gate is gone.
  void remove_gate(const PlannedGateRemoval& plan) {
    const auto most = static_cast<std::size_t>(std::max(0, options.gate_removals_max));
    if (gates_going.size() >= most || !gates_going.insert(plan.uid).second) return;
    Write write{.request = gate_removal_request(plan)};
    write.done = [this, plan](base::Result<api::Json> result) {
      if (result.ok() || is_overtaken(result.error().code)) {
        gates_going.erase(plan.uid);
        if (result.ok()) intake.set_answer(api::resources::kPods, *result);
        return on_change();
      }
      base::log_warning("scheduler", base::format("the gate of pod {}/{} cannot be removed: {}", plan.ns, plan.pod,
                                                  result.error().message));
      again_later("gate/" + plan.uid,
                  [uid = plan.uid](State& self) { self.gates_going.erase(uid); })(std::move(result));
    };
    add("pod/" + plan.ns + "/" + plan.pod, std::move(write));
  }

  client::Client& client;
  rt::Env& env;
  Intake& intake;
  OutboxOptions options;
  std::function<void()> on_change;
  client::EventRecorder events;
  VolumeBinder volumes;
  ClaimBinder claims;
  std::map<std::string, std::vector<std::function<void(State&)>>> lost_later;  // of again_later(), by key
  std::map<std::string, base::Code> troubles;                                  // by resource, as last told
  std::map<std::string, Lane> lanes;
  std::deque<std::string> ready;
  std::set<std::string> gates_going;  // uids of pods
  int in_flight = 0;
};

Outbox::Outbox(client::Client& client, rt::Env& env, Intake& intake, OutboxOptions options,
               std::function<void()> on_change)
    : state_(std::make_shared<State>(client, env, intake, std::move(options), std::move(on_change))) {}

Outbox::~Outbox() = default;

std::size_t Outbox::waiting() const { return state_->lanes.size(); }

void Outbox::send(Plan plan) {
  if (state_->options.dry_run) {
    for (const PlannedEviction& one : plan.evictions) {
      base::log_info("scheduler",
                     base::format("would evict {}/{} from {} ({})", one.ns, one.pod, one.node, one.action));
    }
    for (const PlannedBind& one : plan.binds) {
      base::log_info("scheduler", base::format("would bind {}/{} to {}", one.ns, one.pod, one.node));
    }
    return;
  }
  for (const PlannedEviction& one : plan.evictions) state_->evict(one);
  for (const PlannedBind& one : plan.binds) state_->bind(one);
  for (const PlannedGroupStatus& one : plan.groups) state_->group(one);
  for (const PlannedPodCondition& one : plan.pod_conditions) state_->condition(one, true);
  for (const PlannedGroupEvent& one : plan.group_events) {
    state_->events.record(object_head("scheduling.volcano.sh/v1beta1", "PodGroup", one.ns, one.name, one.uid),
                          {one.type, one.reason, one.message});
  }
  for (const PlannedGateRemoval& one : plan.gate_removals) state_->remove_gate(one);
  for (const PlannedShardStatus& one : plan.shards) {
    state_->add("shard/" + one.name, {.request = node_shard_status_request(one), .replaceable = true});
  }
  for (const PlannedQueueStatus& one : plan.queues) {
    const std::string key = "queue/" + one.name;
    const auto lost = [one](State& self) { self.intake.queue_status_lost(one.name, one.gone); };
    State::Write write{.request = queue_status_request(one), .replaceable = true};
    write.replaced = [state = state_.get(), lost] { lost(*state); };
    write.done = state_->again_later(key, lost);
    state_->add(key, std::move(write));
  }
}

void Outbox::insist(client::Request request, Insistence how, std::function<void()> done) {
  if (state_->options.dry_run) return done();
  auto attempt = std::make_shared<std::function<void(int)>>();
  *attempt = [weak = std::weak_ptr<State>(state_), request = std::move(request), how = std::move(how), done,
              attempt](int tries) {
    auto self = weak.lock();
    if (!self) return;
    const auto end = [attempt, done] {
      const auto last = done;  // goes with the attempt
      *attempt = {};
      last();
    };
    if (!how.is_wanted()) return end();
    self->client.call(request, [weak, how, end, attempt, tries](base::Result<api::Json> made) {
      auto again = weak.lock();
      if (!again) return;
      const bool is_done = made.ok() || how.is_done(made.error().code);
      if (is_done || tries >= kInsistentTriesMax) {
        if (!is_done) base::log_error("scheduler", base::format("{}: {}", how.failure, made.error().message));
        return end();
      }
      const auto jitter = static_cast<std::int64_t>(again->env.random().below(100));
      again->env.loop().after(base::milliseconds(1000 + jitter), [attempt, tries] {
        if (*attempt) (*attempt)(tries + 1);
      });
    });
  };
  (*attempt)(1);
}

void Outbox::ensure_queue(const std::string& name, bool reclaimable, std::function<void()> done) {
  insist(queue_creation_request(name, reclaimable),
         {.is_wanted = [] { return true; },
          .is_done = [](base::Code code) { return code == base::Code::kAlreadyExists; },
          .failure = base::format("queue {} cannot be created", name)},
         std::move(done));
}

void Outbox::delete_numatopology(const std::string& name, std::string_view uid, std::function<bool()> still_gone) {
  insist(numatopology_deletion_request(name, uid),
         {.is_wanted = std::move(still_gone),
          .is_done = is_overtaken,
          .failure = base::format("the Numatopology of node {} cannot be deleted", name)},
         [] {});
}

}  // namespace scheduler

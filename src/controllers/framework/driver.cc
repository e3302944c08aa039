// Informers wake keys; each key in turn is observed, decided and carried out.
//
// A conflict, "already exists" or "not found" means that the view was old: the key comes back, silently. After a
// plan, a key waits until the view shows what the plan wrote, so that no decision is taken twice.
#include "controllers/framework/driver.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "api/kinds.h"
#include "base/format.h"
#include "base/log.h"
#include "client/watch/informer.h"
#include "client/watch/work_queue.h"
#include "controllers/framework/defined_kinds.h"
#include "controllers/framework/execution.h"
#include "controllers/framework/key_states.h"
#include "controllers/framework/refusals.h"
#include "controllers/framework/status_times.h"
#include "rt/tls/tls.h"

namespace controllers {

using api::Json;

namespace {

// Creations of all plans that may be under way at a time, as many as a client sends at once: what it keeps waiting goes
// in the order in which it came, not in the order that serves jobs.
constexpr int kCreationsMax = 64;

// A kind that a plan may write back whole is read as JSON, with what fields it has that we do not know. Pods and nodes,
// of which there are most, are only patched.
const api::Projection& parts_of(const api::ResourceId& resource) {
  static const api::Projection kPatched{"apiVersion", "kind",  "metadata.*", "-metadata.managedFields",
                                        "spec",       "status"};
  // Schemas are most of a definition, and are not read here.
  if (resource == api::resources::kCustomResourceDefinitions) return definition_parts();
  if (resource == api::resources::kPods || resource == api::resources::kNodes) return kPatched;
  return client::without_managed_fields();
}

class InformerView final : public View {
 public:
  std::map<api::ResourceId, std::unique_ptr<client::Informer>> informers;
  std::map<std::pair<api::ResourceId, std::string>, std::unique_ptr<client::Informer>> of_one;  // by the object's key

  // A key that the watch of one object woke reads what that watch has shown; that of all may be behind it.
  const Json* find(const api::ResourceId& resource, std::string_view key) const override {
    for (const auto& [place, informer] : of_one)
      if (place.second == key && place.first == resource) return informer->find(key);
    const auto found = informers.find(resource);
    return found == informers.end() ? nullptr : found->second->find(key);
  }
  std::vector<client::Informer*> every_informer() const {
    std::vector<client::Informer*> every;
    for (const auto& [resource, informer] : informers) every.push_back(informer.get());
    for (const auto& [place, informer] : of_one) every.push_back(informer.get());
    return every;
  }
  std::vector<const Json*> by_index(const api::ResourceId& resource, std::string_view index,
                                    std::string_view key) const override {
    const auto found = informers.find(resource);
    if (found == informers.end()) return {};
    return found->second->by_index(index, key);
  }
  std::size_t count(const api::ResourceId& resource, std::string_view index, std::string_view key) const override {
    const auto found = informers.find(resource);
    return found == informers.end() ? 0 : found->second->count(index, key);
  }
  std::vector<const Json*> all(const api::ResourceId& resource) const override {
    std::vector<const Json*> objects;
    const auto found = informers.find(resource);
    if (found == informers.end()) return objects;
    for (const auto& [key, object] : found->second->objects()) objects.push_back(&object);
    return objects;
  }
};

// Steps of one key take at most a thirtieth of the time: a job of thousands of pods starves nobody, and what happens to
// a hundred pods one by one is looked at together.
constexpr std::int64_t kRestFactor = 30;
constexpr base::Duration kRestMax = base::milliseconds(500);
// A key is in order while the server is away, or refuses what it may accept later: after hours of that, work goes on
// soon.
constexpr base::Duration kCurablePauseMax = base::seconds(30);
// How long the start waits for the objects of a kind that somebody else has defined.
constexpr base::Duration kStrangerWait = base::seconds(30);

// Keys that were refused something look again this long after a change that may be the reason, so that many changes
// cost one look.
constexpr base::Duration kHintPause = base::milliseconds(500);

struct Unit {
  explicit Unit(base::Duration counts_interval) : status_times(counts_interval) {}
  std::unique_ptr<Controller> controller;
  std::unique_ptr<client::WorkQueue> queue;
  std::unique_ptr<client::EventRecorder> recorder;  // null: that of all
  KeyStates keys;
  StatusTimes status_times;
  RefusedKeys refused = {};     // by something that time may cure
  std::set<std::string> early;  // woken before the first lists were complete
};

// The keys that a change of an informer's objects wakes.
struct Listener {
  client::Informer* informer;
  Unit* unit;
  std::shared_ptr<const Wake> wake;
};

}  // namespace

struct Driver::State : std::enable_shared_from_this<Driver::State> {
  State(rt::Env& e, client::Client& c, std::string name, DriverOptions o)
      : env(e), client(c), options(std::move(o)), recorder(c, e, std::move(name)), prober(std::make_unique<Prober>(e)) {
    if (!options.secret_bytes) options.secret_bytes = rt::secure_bytes;
  }

  rt::Env& env;
  client::Client& client;
  DriverOptions options;
  client::EventRecorder recorder;
  std::unique_ptr<Prober> prober;
  std::shared_ptr<CreateSlots> slots = std::make_shared<CreateSlots>(kCreationsMax);
  InformerView view;
  std::vector<std::unique_ptr<Unit>> units;
  bool follows = false;                            // some controller follows definitions
  std::map<std::string, api::KindInfo> strangers;  // by the name of their definition
  std::vector<Listener> listeners;
  std::size_t unsynced = 0;
  std::set<api::ResourceId> awaited;                       // kinds of strangers among those
  std::vector<std::unique_ptr<client::Informer>> passing;  // whose objects are told and not kept
  bool started = false;
  bool stands_by = false;  // it watches, and wakes nobody
  bool stopped = false;    // plans under way may still hold this state

  client::Informer& informer(const api::ResourceId& resource, bool may_be_absent = false) {
    auto& slot = view.informers[resource];
    if (!slot)
      slot = std::make_unique<client::Informer>(
          client, env, resource,
          client::InformerOptions{
              .ns = namespace_of(resource), .may_be_absent = may_be_absent, .only = &parts_of(resource)});
    return *slot;
  }

  std::string namespace_of(const api::ResourceId& resource) const {
    const api::KindInfo* kind = api::find_kind(resource);
    return !kind || kind->namespaced ? options.only_namespace : "";
  }

  client::Informer& informer_for(const Wake& wake) {
    if (!wake.only) return informer(wake.resource, wake.may_be_absent);
    const auto& [ns, name] = *wake.only;
    auto& slot = view.of_one[{wake.resource, ns.empty() ? name : ns + "/" + name}];
    if (!slot)
      slot = std::make_unique<client::Informer>(client, env, wake.resource,
                                                client::InformerOptions{.ns = ns,
                                                                        .field_selector = "metadata.name=" + name,
                                                                        .may_be_absent = wake.may_be_absent,
                                                                        .only = &parts_of(wake.resource)});
    return *slot;
  }

  void add(std::unique_ptr<Controller> controller);
  void pass_on(Unit* unit, const Wake& one);
  void begin_watches();
  void listen_for_hints();
  void hint(const std::string& ns);
  void start();
  void one_synced();
  void await(const api::ResourceId& resource, client::Informer& informer);
  void stop_waiting(const api::ResourceId& resource);
  void listen(client::Informer& informer, Unit* unit, const Wake& one);
  void follow(const Json* before, const Json* after);
  void kind_comes(const api::KindInfo& kind);
  void kind_goes(const api::ResourceId& resource);
  void wake(Unit& unit, const Wake& wake, const Json* before, const Json* after);
  void work(Unit& unit, const std::string& key);
  void ended(Unit& unit, const std::string& key, std::optional<base::Duration> look_again, bool only_reads,
             Outcome outcome);
  bool view_shows(const Written& written) const;
};

void Driver::State::add(std::unique_ptr<Controller> controller) {
  auto unit = std::make_unique<Unit>(options.counts_interval);
  Unit* raw = unit.get();
  unit->controller = std::move(controller);
  if (const std::string_view component = raw->controller->component(); !component.empty())
    unit->recorder = std::make_unique<client::EventRecorder>(client, env, std::string(component));
  unit->queue = std::make_unique<client::WorkQueue>(
      env,
      [weak = weak_from_this(), raw](const std::string& key) {
        if (auto self = weak.lock()) self->work(*raw, key);
      },
      64);
  for (const Wake& one : raw->controller->wakes_on())
    if (one.once_there_is)
      pass_on(raw, one);
    else
      listen(informer_for(one), raw, one);
  for (IndexBy& index : raw->controller->indexes()) informer(index.resource).add_index(index.name, index.keys);
  if (raw->controller->follows_definitions() && !std::exchange(follows, true))
    informer(api::resources::kCustomResourceDefinitions).on_change([this](const Json* before, const Json* after, bool) {
      follow(before, after);
    });
  units.push_back(std::move(unit));
}

void Driver::State::pass_on(Unit* unit, const Wake& one) {
  passing.push_back(
      std::make_unique<client::Informer>(client, env, one.resource,
                                         client::InformerOptions{.ns = namespace_of(one.resource),
                                                                 .may_be_absent = one.may_be_absent,
                                                                 .only = &parts_of(one.resource),
                                                                 .keep = client::InformerOptions::Keep::kIdentities}));
  client::Informer* informer = passing.back().get();
  informer->on_change([this, unit, kept = std::make_shared<const Wake>(one)](const Json*, const Json* after, bool) {
    if (after != nullptr) wake(*unit, *kept, nullptr, after);
  });
  this->informer(*one.once_there_is, true).on_change([informer, begun = false](const Json*, const Json*, bool) mutable {
    if (!std::exchange(begun, true)) informer->start();
  });
}

void Driver::State::listen(client::Informer& informer, Unit* unit, const Wake& one) {
  const auto kept = std::make_shared<const Wake>(one);
  listeners.push_back({&informer, unit, kept});
  informer.on_change(
      [this, unit, kept](const Json* before, const Json* after, bool) { wake(*unit, *kept, before, after); });
}

void Driver::State::follow(const Json* before, const Json* after) {
  const std::string name(api::name_of(after != nullptr ? *after : *before));
  std::optional<api::KindInfo> now = after != nullptr ? defined_kind(*after) : std::nullopt;
  const auto known = strangers.find(name);
  if (known != strangers.end() && now && now->resource == known->second.resource && now->kind == known->second.kind)
    return;
  const bool holds = unsynced > 0;
  if (holds) ++unsynced;  // another version is waited for in the place of the one before
  if (known != strangers.end()) {
    const api::ResourceId gone = known->second.resource;
    strangers.erase(known);
    kind_goes(gone);
  }
  if (now) {
    strangers[name] = *now;
    kind_comes(*now);
  }
  if (holds) one_synced();
}

// Its objects are watched from now on; at a start no step comes before they are known.
void Driver::State::kind_comes(const api::KindInfo& kind) {
  auto& slot = view.informers[kind.resource];
  if (slot) return;
  slot = std::make_unique<client::Informer>(
      client, env, kind.resource,
      client::InformerOptions{
          .ns = kind.namespaced ? options.only_namespace : "", .may_be_absent = true, .only = &defined_kind_parts()});
  for (auto& unit : units) {
    if (!unit->controller->follows_definitions()) continue;
    unit->controller->kind_comes(kind);
    for (const Wake& one : unit->controller->wakes_on_kind(kind.resource)) listen(*slot, unit.get(), one);
    for (IndexBy& index : unit->controller->indexes_of_kind(kind.resource)) slot->add_index(index.name, index.keys);
  }
  if (unsynced > 0) await(kind.resource, *slot);
  slot->start();
}

// Not for ever: a list that is converted by a webhook fails while that is down, and these controllers may be what
// brings it up.
void Driver::State::await(const api::ResourceId& resource, client::Informer& informer) {
  if (!awaited.insert(resource).second) return;
  ++unsynced;
  const auto end = [weak = weak_from_this(), resource] {
    if (auto self = weak.lock()) self->stop_waiting(resource);
  };
  informer.on_synced(end);
  env.loop().after(kStrangerWait, end);
}

void Driver::State::stop_waiting(const api::ResourceId& resource) {
  if (awaited.erase(resource) > 0) one_synced();
}

void Driver::State::kind_goes(const api::ResourceId& resource) {
  if (const auto found = view.informers.find(resource); found != view.informers.end()) {
    std::erase_if(listeners, [&](const Listener& one) { return one.informer == found->second.get(); });
    view.informers.erase(found);
  }
  for (auto& unit : units)
    if (unit->controller->follows_definitions()) unit->controller->kind_goes(resource);
  stop_waiting(resource);
}

void Driver::State::wake(Unit& unit, const Wake& wake, const Json* before, const Json* after) {
  if (stands_by || (wake.matters && !wake.matters(before, after))) return;
  std::set<std::string> keys;
  if (before)
    for (std::string& key : wake.keys(view, *before)) keys.insert(std::move(key));
  if (after)
    for (std::string& key : wake.keys(view, *after)) keys.insert(std::move(key));
  if (keys.empty()) return;
  const bool may_wait = before && after && wake.only_counts && wake.only_counts(view, *before, *after);
  for (const std::string& key : keys) {
    if (unsynced > 0)
      unit.early.insert(key);
    else if (may_wait)
      unit.queue->add_after(key, unit.status_times.wait(key, env.uptime()));
    else
      unit.queue->add(key);
  }
}

void Driver::State::begin_watches() {
  if (std::exchange(started, true)) return;
  const std::vector<client::Informer*> every = view.every_informer();
  unsynced = every.size();
  for (client::Informer* informer : every)
    informer->on_synced([weak = weak_from_this()] {
      if (auto self = weak.lock()) self->one_synced();
    });
  listen_for_hints();
  for (client::Informer* informer : every) informer->start();
}

// COMPAT(refusals-that-time-cures): whichever controller watches these, all that were refused something hear of them.
void Driver::State::listen_for_hints() {
  for (const auto& [resource, informer] : view.informers) {
    const bool is_quota = resource == api::resources::kResourceQuotas;
    if (!is_quota && resource != api::resources::kServiceAccounts && resource != api::resources::kPriorityClasses)
      continue;
    informer->on_change([this, is_quota](const Json* before, const Json* after, bool) {
      if (is_quota ? quota_may_have_room(before, after) : before == nullptr)
        hint(std::string(api::namespace_of(after != nullptr ? *after : *before)));
    });
  }
}

// An empty one stands for all namespaces.
void Driver::State::hint(const std::string& ns) {
  for (const auto& unit : units)
    for (const std::string& key : unit->refused.of(ns)) unit->queue->add_after(key, kHintPause);
}

// The changes that watches have shown to a driver that stood by count as one more first list, of which each key is
// queued once: so nothing piles up before, and what is decided first is what a driver without a past would decide.
void Driver::State::start() {
  if (std::exchange(stands_by, false)) {
    ++unsynced;
    for (const Listener& one : listeners)
      for (const auto& [key, object] : one.informer->objects()) wake(*one.unit, *one.wake, nullptr, &object);
    one_synced();
  }
  begin_watches();
}

void Driver::State::one_synced() {
  if (--unsynced > 0) return;
  for (auto& unit : units) {
    for (const std::string& key : unit->early) unit->queue->add(key);
    unit->early.clear();
  }
}

bool Driver::State::view_shows(const Written& written) const {
  const Json* object = view.find(written.resource, written.key);
  switch (written.change) {
    case Written::Change::kCreated: return object != nullptr;
    case Written::Change::kChanged: return !object || api::resource_version_of(*object) != written.version_before;
    case Written::Change::kDeleted: return !object || api::is_deleting(*object) || api::uid_of(*object) != written.uid;
  }
  return true;
}

void Driver::State::work(Unit& unit, const std::string& key) {
  const base::Duration begun = env.uptime();
  KeyState& state = unit.keys.of(key, env.now(), begun);
  if (begun < state.rest_until) {
    unit.queue->pause(key);
    unit.queue->add_after(key, state.rest_until - begun);
    return;
  }
  std::erase_if(state.awaited, [this](const Written& w) { return !view.informers.count(w.resource) || view_shows(w); });
  if (!state.awaited.empty()) {
    const base::Duration waited = env.now() - state.awaited_since;
    // A created object may have been deleted before the view showed it. A change or a deletion shows some time;
    // deciding from the state before it would undo it in part, as with pods of an earlier version of their job.
    const bool only_created =
        std::ranges::all_of(state.awaited, [](const Written& w) { return w.change == Written::Change::kCreated; });
    if (waited >= base::Duration{} && waited < (only_created ? kCreationLagMax : kViewLagMax)) {
      // The awaited change wakes the key; the timer covers a change that no longer comes.
      unit.queue->pause(key);
      unit.queue->add_after(key, base::milliseconds(waited < base::milliseconds(50) ? 5 : 200));
      return;
    }
    state.awaited.clear();
  }
  Plan plan = unit.controller->step(view, key,
                                    {.now = env.now(),
                                     .failures = state.failures,
                                     .error = state.error,
                                     .counts_wait = unit.status_times.wait(key, begun)});
  const auto look_again = plan.look_again();
  const bool has_status = writes_status(plan);
  const bool only_reads = look_again == base::Duration{} && writes_nothing(plan);
  const base::Duration ended_at = env.uptime();
  state.rest_until = ended_at + std::min(kRestMax, (ended_at - begun) * kRestFactor);
  execute({env, client, *prober, options.secret_bytes, slots}, unit.recorder ? *unit.recorder : recorder,
          std::move(plan),
          [self = shared_from_this(), &unit, key, look_again, has_status, only_reads](Outcome outcome) {
            if (self->stopped) return;
            if (has_status && !outcome.error) unit.status_times.wrote(key, self->env.uptime());
            self->ended(unit, key, look_again, only_reads, std::move(outcome));
          });
}

// `only_reads`: what the plan read is decided on in the next step. A refused half counts as half of a turn: if the
// other half fails again and again, its back-off goes on.
void Driver::State::ended(Unit& unit, const std::string& key, std::optional<base::Duration> look_again, bool only_reads,
                          Outcome outcome) {
  KeyState& state = unit.keys.of(key, env.now(), env.uptime());
  unit.controller->finished(key, {.succeeded = !outcome.error,
                                  .fetched = std::move(outcome.fetched),
                                  .answers = std::move(outcome.answers),
                                  .failures = std::move(outcome.failures),
                                  .refused = std::move(outcome.refused),
                                  .made = std::move(outcome.made)});
  if (!outcome.written.empty()) {
    state.awaited = outcome.written;
    state.awaited_since = env.now();
  }
  // Looking again at once is meant for when the plan succeeded; after a failure the back-off says when.
  if (look_again && (!outcome.error || *look_again > base::Duration{})) unit.queue->add_after(key, *look_again);
  if (!outcome.error && only_reads) return unit.queue->pause(key);
  unit.refused.set(key, outcome.error && !is_old_view(outcome.error->code) && !can_never_be(*outcome.error));
  if (!outcome.error) {
    state.failures = 0;
    unit.queue->done(key);
    if (state.awaited.empty() && state.rest_until <= env.uptime()) unit.keys.forget(key);
    return;
  }
  bool was_the_last = false;
  if (!is_old_view(outcome.error->code)) {
    if (!is_outage(*outcome.error)) {
      // COMPAT(refusals-that-time-cures): a limit counts what can never be accepted.
      const int limit = unit.controller->failures_max();
      if (limit < 0 || can_never_be(*outcome.error)) ++state.failures;
      was_the_last = limit >= 0 && can_never_be(*outcome.error) && state.failures == limit + 1;
      state.error = outcome.error->message;
    }
    base::log_warning("controllers", base::format("{} {}: {}", unit.controller->name(), key, outcome.error->message));
  }
  unit.queue->retry(key);
  if (!can_never_be(*outcome.error)) unit.queue->add_after(key, kCurablePauseMax);
  if (was_the_last) unit.queue->add(key);
}

Driver::Driver(rt::Env& env, client::Client& client, std::string component, DriverOptions options)
    : state_(std::make_shared<State>(env, client, std::move(component), std::move(options))) {}
Driver::~Driver() {
  state_->stopped = true;
  state_->slots->close();
  state_->prober.reset();
  state_->view.informers.clear();
  state_->view.of_one.clear();
  for (auto& unit : state_->units) unit->queue.reset();
}

void Driver::add(std::unique_ptr<Controller> controller) { state_->add(std::move(controller)); }
void Driver::stand_by() {
  state_->stands_by = true;
  state_->begin_watches();
}
void Driver::start() { state_->start(); }
std::size_t Driver::keys_remembered() const {
  std::size_t keys = 0;
  for (const auto& unit : state_->units) keys += unit->keys.size();
  return keys;
}
bool Driver::synced() const { return state_->started && state_->unsynced == 0; }

}  // namespace controllers

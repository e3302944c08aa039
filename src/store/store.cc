// The live tables, the write queue with group commit, and the subscriptions.
#include "store/store.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include "api/json/shared_text.h"
#include "api/kinds.h"
#include "base/format.h"
#include "store/history_age.h"
#include "store/persist.h"
#include "store/shared_json.h"

namespace store {

using api::Json;
using base::Code;
using base::make_error;
using base::Result;

namespace {

struct Entry {
  ObjectPtr durable;  // null: not there yet
  ObjectPtr latest;   // null: erased, not yet durable
  // How many hold it in `Write::entry`. One key may come and go several times before any of it is durable.
  std::size_t writes = 0;
};

using Table = std::map<std::string, Entry, std::less<>>;

struct Write {
  Event event;
  Table::iterator entry;  // counted there
  Store::OnDurable on_durable;
  bool gives_room = false;  // a deletion, or a step of one
  std::vector<Store::OnDurable> settled = {};

  void notify(const Result<ObjectPtr>& stored) {
    if (on_durable) on_durable(stored);
    for (const Store::OnDurable& done : settled) done(stored);
  }
};

constexpr std::size_t kKeyBytesMax = 511 - 3;           // LMDB's limit, without the marks in an object's key
constexpr base::Duration kTryAgain = base::seconds(1);  // one ordinary write while commits fail
constexpr std::size_t kAgedMax = 2'000;                 // events that one commit drops because of their age
constexpr std::size_t kEventBytes = 100;                // that an event costs beside its object

std::string key_for(std::string_view ns, std::string_view name) {
  std::string key(ns);
  key += '/';
  key += name;
  return key;
}

}  // namespace

struct Subscriber {
  Store::OnEvents on_events;
  std::int64_t since;  // everything up to here was read in history
  bool ended = false;
};

struct Store::State : std::enable_shared_from_this<Store::State> {
  State(rt::Env& env, rt::KvStore& kv, Options options)
      : env(env),
        kv(kv),
        options(options),
        keys(std::make_shared<const TableKeys>(TableKeys::of_all_kinds())),
        age(options.history_age_max) {
    make_tables();
  }

  rt::Env& env;
  rt::KvStore& kv;
  rt::Worker* writer = nullptr;  // the store's; null once that is gone
  Options options;
  std::shared_ptr<const TableKeys> keys;  // the commits' thread reads them
  // By number. Tables come while others are told of events, so that places must not move.
  std::deque<Table> tables;
  std::deque<std::vector<std::shared_ptr<Subscriber>>> subscribers;
  std::deque<std::vector<Store::OnLatest>> on_latest;
  std::deque<Event> history;
  std::size_t history_bytes = 0;
  HistoryAge age;
  std::optional<rt::Loop::TimerId> trim_timer;  // while there is history
  std::size_t latest_bytes = 0;                 // of all objects, as writers see them
  std::int64_t compacted = 0;                   // events up to this revision are gone
  std::int64_t durable_revision = 0;
  std::int64_t latest_revision = 0;
  std::vector<Write> waiting;
  std::shared_ptr<std::vector<Write>> under_way;  // while `committing`
  bool committing = false;
  bool notifying = false;  // subscribers of a commit
  bool failing = false;
  base::Error failure;          // why, while `failing`
  base::Duration next_attempt;  // uptime, while `failing`
  std::vector<Broken> broken;

  // As many as there are keys.
  void make_tables() {
    tables.resize(keys->keys.size());
    subscribers.resize(tables.size());
    on_latest.resize(tables.size());
  }

  // Why a write is not even queued, if so.
  std::optional<base::Error> refusal(bool gives_room) const {
    if (waiting.size() >= options.writes_waiting_max) {
      base::Error error = make_error(Code::kTooManyRequests, "too many writes are waiting for the disk");
      error.retry_after_seconds = 1;
      return error;
    }
    if (failing && !gives_room && (committing || env.uptime() < next_attempt)) return failure;
    return {};
  }

  // The present object is the event's `before`.
  void add(Event event, bool erases, Store::OnDurable on_durable, bool gives_room) {
    const auto at = tables[event.resource].try_emplace(key_for(event.object->ns, event.object->name)).first;
    ++at->second.writes;
    event.before = at->second.latest;
    event.type = erases ? EventType::kDeleted : event.before ? EventType::kModified : EventType::kAdded;
    set_latest(event.resource, at->second, erases ? nullptr : event.object);
    latest_revision = event.revision;
    waiting.push_back({std::move(event), at, std::move(on_durable), gives_room});
    if (!committing) start_commit();
  }

  void set_latest(std::uint32_t resource, Entry& entry, ObjectPtr object) {
    const ObjectPtr before = std::exchange(entry.latest, std::move(object));
    latest_bytes += (entry.latest ? entry.latest->bytes.size() : 0) - (before ? before->bytes.size() : 0);
    for (const Store::OnLatest& notify : on_latest[resource]) notify(before, entry.latest);
  }

  void start_commit() {
    if (waiting.empty() || writer == nullptr) return;
    committing = true;
    auto batch = std::make_shared<std::vector<Write>>(std::move(waiting));
    waiting.clear();
    under_way = batch;
    auto outcome = std::make_shared<base::Status>();
    // The window is trimmed in the same transaction.
    auto events = std::make_shared<std::vector<Event>>();
    bool gives_room = true;
    for (const Write& write : *batch) {
      events->push_back(write.event);
      gives_room = gives_room && write.gives_room;
    }
    const std::int64_t trim_to = trim_point(*events);
    auto self = shared_from_this();
    writer->run(
        [self, events, outcome, trim_to, gives_room, from = compacted, names = keys] {
          *outcome = persist(self->kv, *names, *events, from, trim_to, gives_room);
        },
        [self, batch, outcome, trim_to, gives_room] { self->finish_commit(*batch, *outcome, trim_to, gives_room); });
  }

  // The revision up to which history is dropped so that it keeps its limits with `incoming` added.
  std::int64_t trim_point(const std::vector<Event>& incoming) {
    const std::int64_t aged = age.aged(env.uptime());
    std::size_t bytes = history_bytes;
    for (const Event& event : incoming) bytes += event.object->bytes.size();
    std::size_t events = history.size() + incoming.size(), dropped = 0;
    std::int64_t point = compacted;
    for (const Event& event : history) {
      const bool is_too_much = events > options.history_events_max || bytes > options.history_bytes_max;
      if (!is_too_much && (event.revision > aged || dropped == kAgedMax)) break;
      ++dropped;
      bytes -= event.object->bytes.size();
      --events;
      point = event.revision;
    }
    return point;
  }

  void finish_commit(std::vector<Write>& batch, const base::Status& status, std::int64_t trim_to, bool gave_room) {
    committing = false;
    under_way = nullptr;
    if (!status.ok()) {
      failing = true;
      failure = status.error();
      next_attempt = env.uptime() + kTryAgain;
      fail(batch, failure);
      return;
    }
    // Deletions may have gone through by the reserve only.
    if (!gave_room) failing = false;
    drop_history(trim_to);
    std::map<std::uint32_t, std::vector<Event>> by_resource;
    for (const Write& write : batch) {
      make_durable(write);
      history.push_back(write.event);
      history_bytes += write.event.object->bytes.size();
      by_resource[write.event.resource].push_back(write.event);
    }
    durable_revision = batch.back().event.revision;
    keep_age();
    for (const auto& [resource, events] : by_resource) notify(resource, events);
    for (Write& write : batch) write.notify(write.event.object);
    if (!committing) start_commit();
  }

  void drop_history(std::int64_t trim_to) {
    while (!history.empty() && history.front().revision <= trim_to) {
      history_bytes -= history.front().object->bytes.size();
      history.pop_front();
    }
    compacted = std::max(compacted, trim_to);
  }

  // Commits drop history that is too old; a timer does where none come.
  void keep_age() {
    age.record(env.uptime(), durable_revision);
    if (!trim_timer) trim_after(options.history_age_max + HistoryAge::kStretch);
  }

  void trim_after(base::Duration wait) {
    trim_timer = env.loop().after(wait, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->trim_by_age();
    });
  }

  void trim_by_age() {
    trim_timer.reset();
    if (writer == nullptr || history.empty()) return;
    const std::int64_t trim_to = committing ? compacted : trim_point({});
    if (trim_to == compacted) return trim_after(HistoryAge::kStretch);
    committing = true;
    auto outcome = std::make_shared<base::Status>();
    writer->run(
        [self = shared_from_this(), outcome, trim_to, from = compacted] { *outcome = trim(self->kv, from, trim_to); },
        [self = shared_from_this(), outcome, trim_to] {
          self->committing = false;
          if (outcome->ok()) self->drop_history(trim_to);
          // The rest of the same age goes soon; a disk that refuses is asked again later.
          self->trim_after(outcome->ok() ? base::seconds(1) : HistoryAge::kStretch);
          self->start_commit();
        });
  }

  void notify(std::uint32_t resource, const std::vector<Event>& events) {
    auto& all = subscribers[resource];
    notifying = true;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::shared_ptr<Subscriber> one = all[i];
      // Subscriptions that begin meanwhile have read of these events in history.
      if (!one->ended && one->since < events.back().revision) one->on_events(events);
    }
    notifying = false;
    std::erase_if(all, [](const auto& one) { return one->ended; });
  }

  void make_durable(const Write& write) {
    Entry& entry = write.entry->second;
    entry.durable = write.event.type == EventType::kDeleted ? nullptr : write.event.object;
    let_go(write);
  }

  // The last write of an entry takes it along when nothing is left there.
  void let_go(const Write& write) {
    Entry& entry = write.entry->second;
    if (--entry.writes == 0 && !entry.durable && !entry.latest) tables[write.event.resource].erase(write.entry);
  }

  // The batch was not written: it and all that was built on it are undone.
  void fail(std::vector<Write>& batch, const base::Error& error) {
    std::vector<Write> undone = std::move(batch);
    for (Write& write : waiting) undone.push_back(std::move(write));
    waiting.clear();
    for (const Write& write : undone) {
      Entry& entry = write.entry->second;
      if (entry.latest != entry.durable) set_latest(write.event.resource, entry, entry.durable);
      let_go(write);
    }
    latest_revision = durable_revision;
    for (Write& write : undone) write.notify(error);
  }
};

Json Object::json(const api::Projection* only) const {
  auto parsed = only == nullptr ? api::parse_json(bytes) : api::parse_json(bytes, *only);
  CHECK(parsed.ok());  // put() and load() saw to that
  return *std::move(parsed);
}

Json shared_json(const ObjectPtr& object, const api::Projection* only) {
  auto parsed = api::parse_json_shared(object->bytes, object, only);
  CHECK(parsed.ok());  // put() and load() saw to that
  return *std::move(parsed);
}

Result<std::unique_ptr<Store>> Store::open(rt::Env& env, rt::KvStore& kv, Options options) {
  auto state = std::make_shared<State>(env, kv, options);
  TRY(Loaded loaded, load(kv));
  state->keys = std::make_shared<const TableKeys>(std::move(loaded.tables));
  state->make_tables();
  for (auto& [resource, object] : loaded.objects) {
    const std::string key = key_for(object->ns, object->name);
    state->latest_bytes += object->bytes.size();
    state->tables[resource].insert_or_assign(key, Entry{.durable = object, .latest = object});
  }
  for (Event& event : loaded.history) {
    // The newest state of an object is in memory once.
    const auto at = state->tables[event.resource].find(key_for(event.object->ns, event.object->name));
    if (at != state->tables[event.resource].end() && at->second.durable->revision == event.revision)
      event.object = at->second.durable;
    state->history_bytes += event.object->bytes.size();
    state->history.push_back(std::move(event));
  }
  // Revision 0 means "any" to clients, so counting begins at 1.
  state->durable_revision = state->latest_revision = std::max<std::int64_t>(loaded.revision, 1);
  state->compacted = loaded.compacted;
  if (!state->history.empty()) state->keep_age();
  state->broken = std::move(loaded.broken);
  return std::unique_ptr<Store>(new Store(std::move(state)));
}

const std::vector<Broken>& Store::broken() const { return state_->broken; }

base::Status Store::remove_broken() {
  State& state = *state_;
  if (state.broken.empty()) return {};
  CHECK(!state.committing);
  const std::vector<Event> history(state.history.begin(), state.history.end());
  TRY_VOID(remove(state.kv, state.broken, history, state.durable_revision));
  state.history.clear();
  state.history_bytes = 0;
  state.compacted = state.durable_revision;
  state.broken.clear();
  return {};
}

Store::Store(std::shared_ptr<State> state) : state_(std::move(state)), writer_(state_->env.worker("store")) {
  state_->writer = writer_.get();
}
Store::~Store() {
  state_->writer = nullptr;
  if (state_->trim_timer) state_->env.loop().cancel(*state_->trim_timer);
}

std::uint32_t Store::table(const std::string& key) {
  State& state = *state_;
  if (const auto found = state.keys->numbers.find(key); found != state.keys->numbers.end()) return found->second;
  TableKeys more = *state.keys;
  const std::uint32_t number = more.number_of(key);
  state.keys = std::make_shared<const TableKeys>(std::move(more));
  state.make_tables();
  return number;
}

ObjectPtr Store::find(std::uint32_t resource, std::string_view ns, std::string_view name, View view) const {
  const auto& table = state_->tables[resource];
  const auto at = table.find(key_for(ns, name));
  if (at == table.end()) return nullptr;
  return view == View::kDurable ? at->second.durable : at->second.latest;
}

void Store::for_each(std::uint32_t resource, std::string_view ns, std::string_view after, View view,
                     const std::function<bool(const ObjectPtr&)>& visit) const {
  const auto& table = state_->tables[resource];
  auto at = !after.empty() ? table.upper_bound(after) : ns.empty() ? table.begin() : table.lower_bound(key_for(ns, ""));
  for (; at != table.end(); ++at) {
    const ObjectPtr& object = view == View::kDurable ? at->second.durable : at->second.latest;
    if (!ns.empty() && !(at->first.starts_with(ns) && at->first.size() > ns.size() && at->first[ns.size()] == '/'))
      break;
    if (object && !visit(object)) return;
  }
}

std::size_t Store::count(std::uint32_t resource) const { return state_->tables[resource].size(); }
std::size_t Store::bytes() const { return state_->latest_bytes; }
std::int64_t Store::revision() const { return state_->durable_revision; }
void Store::on_latest(std::uint32_t resource, OnLatest on_latest) {
  state_->on_latest[resource].push_back(std::move(on_latest));
}
bool Store::failing() const { return state_->failing; }

void Store::settle(OnDurable done) {
  State& state = *state_;
  if (state.under_way == nullptr && state.waiting.empty()) return done(ObjectPtr());
  Write& last = state.waiting.empty() ? state.under_way->back() : state.waiting.back();
  last.settled.push_back(std::move(done));
}

std::int64_t revision_beyond(std::int64_t highest, base::Time now) {
  constexpr std::int64_t kSkipped = 1'000'000'000;
  return std::max(highest + kSkipped, now.ns / 10'000);
}

namespace {

// A written value can be read back (api/json/limits.h), so that only its depth and size are looked at. An error:
// kInvalid for the depth, kTooLarge for the size.
Result<ObjectPtr> make_object(Json& json, std::int64_t revision, std::size_t bytes_max) {
  json.edit("metadata").set("resourceVersion", std::to_string(revision));
  TRY(std::string bytes, api::dump_readable(json));
  auto object = std::make_shared<Object>();
  object->ns = api::namespace_of(json);
  object->name = api::name_of(json);
  object->uid = api::uid_of(json);
  object->revision = revision;
  object->bytes = std::move(bytes);
  object->bytes.shrink_to_fit();  // text that grew has up to as much room again, and this is kept
  if (object->bytes.size() <= bytes_max) return ObjectPtr(std::move(object));
  return make_error(Code::kTooLarge, base::format("\"{}\" is too large: {} bytes, at most {}", object->name,
                                                  object->bytes.size(), bytes_max));
}

}  // namespace

void Store::put(std::uint32_t resource, Json object, OnDurable on_durable) {
  const bool gives_room = api::is_deleting(object);
  const auto refuse = [&](base::Error error) {
    state_->env.loop().post([on_durable = std::move(on_durable), error = std::move(error)]() mutable {
      if (on_durable) on_durable(std::move(error));
    });
  };
  if (auto refusal = state_->refusal(gives_room)) return refuse(*std::move(refusal));
  Event event{};
  event.revision = state_->latest_revision + 1;
  event.resource = resource;
  // An object that is being deleted may exceed the limit by the marks of its deletion; nothing else is added to it.
  const std::size_t bytes_max = state_->options.object_bytes_max + (gives_room ? api::kBookkeepingBytes : 0);
  auto made = make_object(object, event.revision, bytes_max);
  if (!made.ok()) return refuse(made.take_error());
  event.object = *std::move(made);
  // One key that the database refuses would fail the commit, and all that is in it.
  const std::size_t key_bytes =
      state_->keys->keys[resource].size() + event.object->ns.size() + event.object->name.size();
  if (key_bytes > kKeyBytesMax)
    return refuse(make_error(
        Code::kInvalid, base::format("\"{}\" cannot be stored: its group, resource, namespace and name have {} bytes "
                                     "together, at most {}",
                                     event.object->name, key_bytes, kKeyBytesMax)));
  state_->add(std::move(event), false, std::move(on_durable), gives_room);
}

void Store::erase(std::uint32_t resource, std::string_view ns, std::string_view name, Json last_state,
                  OnDurable on_durable) {
  Event event{};
  event.revision = state_->latest_revision + 1;
  event.resource = resource;
  auto made = make_object(last_state, event.revision, SIZE_MAX);
  // The last state may be new too, and is kept as history. One that cannot be kept must not hold up the deletion.
  if (!made.ok()) {
    const ObjectPtr before = find(resource, ns, name, View::kLatest);
    last_state =
        before ? before->json() : Json::object({{"metadata", Json::object({{"namespace", ns}, {"name", name}})}});
    made = make_object(last_state, event.revision, SIZE_MAX);
  }
  event.object = *std::move(made);
  state_->add(std::move(event), true, std::move(on_durable), true);
}

Result<Missed> Store::missed(std::uint32_t resource, std::int64_t since, std::size_t bytes_max) const {
  if (since < state_->compacted)
    return make_error(Code::kExpired, base::format("too old resource version: {} ({})", since, state_->compacted));
  Missed missed;
  missed.until = std::max(since, state_->durable_revision);
  const auto& history = state_->history;
  std::size_t bytes = 0;
  for (auto at = std::ranges::upper_bound(history, since, {}, &Event::revision); at != history.end(); ++at) {
    if (at->resource != resource) continue;
    if (bytes >= bytes_max) {
      missed.until = missed.events.back().revision;
      missed.more = true;
      break;
    }
    bytes += at->object->bytes.size() + kEventBytes;
    missed.events.push_back(*at);
  }
  return missed;
}

Result<std::unique_ptr<Subscription>> Store::subscribe(std::uint32_t resource, std::int64_t since, OnEvents on_events) {
  TRY(const Missed events, missed(resource, since, SIZE_MAX));
  auto subscription = std::unique_ptr<Subscription>(new Subscription());
  if (!events.events.empty()) on_events(events.events);
  subscription->subscriber_ = std::make_shared<Subscriber>(Subscriber{std::move(on_events), events.until});
  // Few end while there are no events; those who have go when there are.
  auto& all = state_->subscribers[resource];
  if (all.size() == all.capacity() && !state_->notifying)
    std::erase_if(all, [](const auto& one) { return one->ended; });
  all.push_back(subscription->subscriber_);
  return subscription;
}

Subscription::~Subscription() { subscriber_->ended = true; }

}  // namespace store

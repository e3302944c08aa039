// The live tables, the write queue with group commit, and the subscriptions.
#include "store/store.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include "api/kinds.h"
#include "base/format.h"
#include "store/persist.h"

namespace store {

using api::Json;
using base::Code;
using base::make_error;
using base::Result;

namespace {

struct Entry {
  ObjectPtr durable;  // null: not there yet
  ObjectPtr latest;   // null: erased, not yet durable
};

struct Write {
  Event event;
  Store::OnDurable on_durable;
  bool gives_room = false;  // a deletion, or a step of one
};

constexpr base::Duration kTryAgain = base::seconds(1);  // one ordinary write while commits fail

struct Subscriber {
  std::uint64_t id;
  Store::OnEvents on_events;
};

std::string key_for(std::string_view ns, std::string_view name) {
  std::string key(ns);
  key += '/';
  key += name;
  return key;
}

}  // namespace

struct Store::State : std::enable_shared_from_this<Store::State> {
  using Table = std::map<std::string, Entry, std::less<>>;

  State(rt::Env& env, rt::KvStore& kv, Options options)
      : env(env),
        kv(kv),
        options(options),
        tables(api::all_kinds().size()),
        subscribers(tables.size()),
        on_latest(tables.size()) {}

  rt::Env& env;
  rt::KvStore& kv;
  rt::Worker* writer = nullptr;  // the store's; null once that is gone
  Options options;
  std::vector<Table> tables;
  std::vector<std::vector<Subscriber>> subscribers;
  std::vector<std::vector<Store::OnLatest>> on_latest;
  std::deque<Event> history;
  std::size_t history_bytes = 0;
  std::int64_t compacted = 0;  // events up to this revision are gone
  std::int64_t durable_revision = 0;
  std::int64_t latest_revision = 0;
  std::vector<Write> waiting;
  bool committing = false;
  bool failing = false;
  base::Error failure;          // why, while `failing`
  base::Duration next_attempt;  // uptime, while `failing`
  std::vector<Broken> broken;
  std::uint64_t next_id = 1;

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

  void add(Write write) {
    Entry& entry = tables[write.event.resource][key_for(write.event.object->ns, write.event.object->name)];
    set_latest(write.event.resource, entry, write.event.type == EventType::kDeleted ? nullptr : write.event.object);
    latest_revision = write.event.revision;
    waiting.push_back(std::move(write));
    if (!committing) start_commit();
  }

  void set_latest(std::uint32_t resource, Entry& entry, ObjectPtr object) {
    const ObjectPtr before = std::exchange(entry.latest, std::move(object));
    for (const Store::OnLatest& tell : on_latest[resource]) tell(before, entry.latest);
  }

  void start_commit() {
    if (waiting.empty() || writer == nullptr) return;
    committing = true;
    auto batch = std::make_shared<std::vector<Write>>(std::move(waiting));
    waiting.clear();
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
        [self, events, outcome, trim_to, gives_room, from = compacted] {
          *outcome = persist(self->kv, *events, from, trim_to, gives_room);
        },
        [self, batch, outcome, trim_to, gives_room] { self->finish_commit(*batch, *outcome, trim_to, gives_room); });
  }

  // The revision up to which history is dropped so that it keeps its limits with `incoming` added.
  std::int64_t trim_point(const std::vector<Event>& incoming) const {
    std::size_t bytes = history_bytes;
    for (const Event& event : incoming) bytes += event.object->bytes.size();
    std::size_t events = history.size() + incoming.size();
    std::int64_t point = compacted;
    for (const Event& event : history) {
      if (events <= options.history_events_max && bytes <= options.history_bytes_max) break;
      bytes -= event.object->bytes.size();
      --events;
      point = event.revision;
    }
    return point;
  }

  void finish_commit(std::vector<Write>& batch, const base::Status& status, std::int64_t trim_to, bool gave_room) {
    committing = false;
    if (!status.ok()) {
      failing = true;
      failure = status.error();
      next_attempt = env.uptime() + kTryAgain;
      fail(batch, failure);
      return;
    }
    // Deletions may have gone through by the reserve only.
    if (!gave_room) failing = false;
    while (!history.empty() && history.front().revision <= trim_to) {
      history_bytes -= history.front().object->bytes.size();
      history.pop_front();
    }
    compacted = std::max(compacted, trim_to);
    std::map<std::uint32_t, std::vector<Event>> by_resource;
    for (const Write& write : batch) {
      make_durable(write.event);
      history.push_back(write.event);
      history_bytes += write.event.object->bytes.size();
      by_resource[write.event.resource].push_back(write.event);
    }
    durable_revision = batch.back().event.revision;
    for (const auto& [resource, events] : by_resource)
      for (const Subscriber& subscriber : std::vector<Subscriber>(subscribers[resource])) subscriber.on_events(events);
    for (Write& write : batch)
      if (write.on_durable) write.on_durable(write.event.object);
    if (!committing) start_commit();
  }

  void make_durable(const Event& event) {
    Table& table = tables[event.resource];
    const auto at = table.find(key_for(event.object->ns, event.object->name));
    CHECK(at != table.end());
    at->second.durable = event.type == EventType::kDeleted ? nullptr : event.object;
    if (!at->second.durable && !at->second.latest) table.erase(at);
  }

  // Nothing of the batch was written: it and all that was built on it are undone.
  void fail(std::vector<Write>& batch, const base::Error& error) {
    std::vector<Write> undone = std::move(batch);
    for (Write& write : waiting) undone.push_back(std::move(write));
    waiting.clear();
    for (const Write& write : undone) {
      Table& table = tables[write.event.resource];
      const auto at = table.find(key_for(write.event.object->ns, write.event.object->name));
      if (at == table.end()) continue;
      set_latest(write.event.resource, at->second, at->second.durable);
      if (!at->second.durable) table.erase(at);
    }
    latest_revision = durable_revision;
    for (Write& write : undone)
      if (write.on_durable) write.on_durable(error);
  }
};

Json Object::json() const {
  auto parsed = api::parse_json(bytes);
  CHECK(parsed.ok());  // put() and load() saw to that
  return *std::move(parsed);
}

Result<std::unique_ptr<Store>> Store::open(rt::Env& env, rt::KvStore& kv, Options options) {
  auto state = std::make_shared<State>(env, kv, options);
  TRY(Loaded loaded, load(kv));
  for (auto& [resource, object] : loaded.objects) {
    const std::string key = key_for(object->ns, object->name);
    state->tables[resource].insert_or_assign(key, Entry{object, object});
  }
  for (Event& event : loaded.history) {
    state->history_bytes += event.object->bytes.size();
    state->history.push_back(std::move(event));
  }
  // Revision 0 means "any" to clients, so counting begins at 1.
  state->durable_revision = state->latest_revision = std::max<std::int64_t>(loaded.revision, 1);
  state->compacted = loaded.compacted;
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
Store::~Store() { state_->writer = nullptr; }

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
std::int64_t Store::revision() const { return state_->durable_revision; }
void Store::on_latest(std::uint32_t resource, OnLatest on_latest) {
  state_->on_latest[resource].push_back(std::move(on_latest));
}
bool Store::failing() const { return state_->failing; }

namespace {

ObjectPtr make_object(Json& json, std::int64_t revision) {
  json.edit("metadata").set("resourceVersion", std::to_string(revision));
  auto object = std::make_shared<Object>();
  object->ns = api::namespace_of(json);
  object->name = api::name_of(json);
  object->uid = api::uid_of(json);
  object->revision = revision;
  object->bytes = json.dump();
  return object;
}

// What is being deleted may exceed the limit by the marks of its deletion; nothing else is added to it.
base::Status check_size(const Object& object, std::size_t bytes_max, bool gives_room) {
  if (object.bytes.size() <= bytes_max + (gives_room ? api::kBookkeepingBytes : 0)) return {};
  return make_error(Code::kTooLarge, base::format("\"{}\" is too large: {} bytes, at most {}", object.name,
                                                  object.bytes.size(), bytes_max));
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
  Event event;
  event.revision = state_->latest_revision + 1;
  event.resource = resource;
  event.object = make_object(object, event.revision);
  base::Status fits = check_size(*event.object, state_->options.object_bytes_max, gives_room);
  if (fits.ok()) fits = api::check_readable(event.object->bytes);
  if (!fits.ok()) return refuse(fits.take_error());
  event.before = find(resource, event.object->ns, event.object->name, View::kLatest);
  event.type = event.before ? EventType::kModified : EventType::kAdded;
  state_->add({std::move(event), std::move(on_durable), gives_room});
}

void Store::erase(std::uint32_t resource, std::string_view ns, std::string_view name, Json last_state,
                  OnDurable on_durable) {
  Event event;
  event.type = EventType::kDeleted;
  event.revision = state_->latest_revision + 1;
  event.resource = resource;
  event.before = find(resource, ns, name, View::kLatest);
  event.object = make_object(last_state, event.revision);
  // The last state may be new too, and is kept as history. One that cannot be kept must not hold up the deletion.
  if (event.before && !api::check_readable(event.object->bytes).ok()) {
    Json before = event.before->json();
    event.object = make_object(before, event.revision);
  }
  state_->add({std::move(event), std::move(on_durable), true});
}

Result<std::unique_ptr<Subscription>> Store::subscribe(std::uint32_t resource, std::int64_t since, OnEvents on_events) {
  if (since < state_->compacted)
    return make_error(Code::kExpired, base::format("too old resource version: {} ({})", since, state_->compacted));
  std::vector<Event> missed;
  const auto& history = state_->history;
  auto at = std::ranges::upper_bound(history, since, {}, &Event::revision);
  for (; at != history.end(); ++at)
    if (at->resource == resource) missed.push_back(*at);
  auto subscription = std::unique_ptr<Subscription>(new Subscription());
  subscription->store_ = state_;
  subscription->resource_ = resource;
  subscription->id_ = state_->next_id++;
  if (!missed.empty()) on_events(missed);
  state_->subscribers[resource].push_back({subscription->id_, std::move(on_events)});
  return subscription;
}

Subscription::~Subscription() {
  const auto state = std::static_pointer_cast<Store::State>(store_.lock());
  if (state) std::erase_if(state->subscribers[resource_], [&](const Subscriber& s) { return s.id == id_; });
}

}  // namespace store

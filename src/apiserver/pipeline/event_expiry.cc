// A list of Events in the order in which they expire, and the timer of its head.
#include "apiserver/pipeline/event_expiry.h"

#include <algorithm>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "api/kinds.h"

namespace apiserver {
namespace {

using api::Json;

constexpr std::size_t kBatch = 200;  // deletions in one turn of the loop
constexpr base::Duration kBetweenBatches = base::milliseconds(20);
constexpr base::Duration kPauseMin = base::seconds(5);  // so that those that expire together go together
constexpr base::Duration kAfterFailure = base::seconds(60);

std::uint32_t events_resource() {
  return static_cast<std::uint32_t>(api::find_kind(api::resources::kEvents) - api::all_kinds().data());
}

// The last time that an Event speaks of; what was written before this process started has no other.
base::Time last_time_of(const Json& event) {
  base::Time last;
  for (const Json* text : {&event["metadata"]["creationTimestamp"], &event["lastTimestamp"], &event["eventTime"],
                           &event["series"]["lastObservedTime"]})
    if (const auto time = base::parse_rfc3339(text->as_string())) last = std::max(last, *time);
  return last;
}

}  // namespace

struct EventExpiry::State : std::enable_shared_from_this<EventExpiry::State> {
  struct Entry {
    std::string ns;
    std::string name;
    base::Time at;
  };
  using Entries = std::list<Entry>;  // the first expires first
  using Key = std::pair<std::string, std::string>;

  rt::Env& env;
  store::Store& store;
  base::Duration ttl;
  std::uint32_t resource = events_resource();
  Entries entries;
  std::map<Key, Entries::iterator> by_name;
  std::unique_ptr<store::Subscription> subscription;
  rt::Loop::TimerId timer = 0;

  State(rt::Env& e, store::Store& s, base::Duration t) : env(e), store(s), ttl(t) {}

  base::Status open() {
    std::vector<Entry> present;
    store.for_each(resource, "", "", store::View::kDurable, [&](const store::ObjectPtr& object) {
      // A time that lies ahead would keep an Event for ever.
      const base::Time last = std::min(last_time_of(object->json()), env.now());
      present.push_back({object->ns, object->name, last + ttl});
      return true;
    });
    std::ranges::stable_sort(present, {}, &Entry::at);
    for (Entry& entry : present) append(std::move(entry));
    auto subscribed = store.subscribe(resource, store.revision(),
                                      [this](const std::vector<store::Event>& changes) { record(changes); });
    if (!subscribed.ok()) return subscribed.take_error();
    subscription = *std::move(subscribed);
    arm();
    return {};
  }

  void append(Entry entry) {
    const auto at = entries.insert(entries.end(), std::move(entry));
    by_name[{at->ns, at->name}] = at;
  }

  void drop(const Key& key) {
    const auto found = by_name.find(key);
    if (found == by_name.end()) return;
    entries.erase(found->second);
    by_name.erase(found);
  }

  void record(const std::vector<store::Event>& changes) {
    for (const store::Event& change : changes) {
      drop({change.object->ns, change.object->name});
      if (change.type != store::EventType::kDeleted) append({change.object->ns, change.object->name, env.now() + ttl});
    }
    if (timer == 0) arm();
  }

  void arm() {
    if (entries.empty()) return;
    wait(std::max(entries.front().at - env.now(), kPauseMin));
  }

  void wait(base::Duration pause) {
    timer = env.loop().after(pause, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      self->timer = 0;
      self->expire();
    });
  }

  void expire() {
    const base::Time now = env.now();
    for (std::size_t done = 0; done < kBatch && !entries.empty() && entries.front().at <= now; ++done) {
      const Entry entry = entries.front();
      drop({entry.ns, entry.name});
      // An event that is written at this moment, or gone, comes back through the subscription or not at all.
      const auto object = store.find(resource, entry.ns, entry.name, store::View::kLatest);
      if (!object || object != store.find(resource, entry.ns, entry.name, store::View::kDurable)) continue;
      store.erase(resource, entry.ns, entry.name, object->json(),
                  [weak = weak_from_this(), entry](base::Result<store::ObjectPtr> erased) {
                    const auto self = weak.lock();
                    if (self && !erased.ok()) self->keep(entry);
                  });
    }
    if (entries.empty()) return;
    if (entries.front().at <= now) return wait(kBetweenBatches);
    arm();
  }

  // The disk refused: it is tried again, before all others.
  void keep(Entry entry) {
    if (by_name.contains({entry.ns, entry.name})) return;
    entry.at = env.now() + kAfterFailure;
    const auto at = entries.insert(entries.begin(), std::move(entry));
    by_name[{at->ns, at->name}] = at;
    if (timer == 0) arm();
  }
};

base::Result<std::unique_ptr<EventExpiry>> EventExpiry::start(rt::Env& env, store::Store& store, base::Duration ttl) {
  auto state = std::make_shared<State>(env, store, ttl);
  TRY_VOID(state->open());
  return std::unique_ptr<EventExpiry>(new EventExpiry(std::move(state)));
}

EventExpiry::EventExpiry(std::shared_ptr<State> state) : state_(std::move(state)) {}

EventExpiry::~EventExpiry() {
  if (state_->timer != 0) state_->env.loop().cancel(state_->timer);
}

std::size_t EventExpiry::pending() const { return state_->entries.size(); }

}  // namespace apiserver

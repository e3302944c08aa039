// Versioned objects with watch: one revision counter for all resources, optimistic writers, group commit, and a window
// of history from which watches resume, also after a restart. The window is bounded in events, bytes and time: memory
// and disk that a burst of writes took are free again some minutes after it.
//
// A write is visible to other writers at once (they must not overtake it) and to readers and watchers only when it is
// durable. If a commit fails, every write in it and behind it fails, and nothing has changed. From then on ordinary
// writes are refused with its reason, but for one each second that tries again; deletions, and writes to what is being
// deleted, are always tried and may use the disk's reserve.
//
// The store can read back what it takes: an object that is not JSON of bounded depth and size is refused. Records on
// the disk that it cannot read are set aside at the start, and everything else is served. Loop thread only, except
// where noted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/json/limits.h"
#include "api/json/projection.h"
#include "api/meta/resource.h"
#include "base/result.h"
#include "rt/env.h"
#include "rt/storage/kv.h"

namespace store {

// One stored object, immutable; may be read by any thread.
struct Object {
  std::string ns;
  std::string name;
  std::string uid;
  std::int64_t revision = 0;
  std::string bytes;  // compact JSON, with metadata.resourceVersion

  // `only`: what is built of it; null: all.
  api::Json json(const api::Projection* only = nullptr) const;
};
using ObjectPtr = std::shared_ptr<const Object>;

enum class View : std::uint8_t { kDurable, kLatest };
enum class EventType : std::uint8_t { kAdded, kModified, kDeleted };

// One change. `object` of a deletion is the last state, with the deletion's revision.
struct Event {
  EventType type;
  std::int64_t revision;
  std::uint32_t resource;  // a table: the index of the kind in all_kinds(), or what Store::table() said
  ObjectPtr object;
  ObjectPtr before;  // null for an addition, and where history does not know it any more
};

// A record of the disk that cannot be read.
struct Broken {
  std::string key;    // as it is on the disk
  std::string bytes;  // likewise
  std::string what;   // "configmaps ml/settings", or "history of revision 12"
  std::string why;
  // The resource of an object; `resource` is npos for history.
  std::size_t resource = std::string::npos;
  std::string ns = {};
  std::string name = {};
};

// The part of history for a watcher that is behind.
struct Missed {
  std::vector<Event> events;  // in order
  std::int64_t until = 0;     // with them everything up to this revision is told
  bool more = false;          // later ones were left out
};

// The revision at which counting goes on in a database whose newest writes may be lost: no revision that a client has
// seen comes again, also if one backup is brought back twice. The clock is ahead of whoever makes fewer than 100,000
// writes a second.
std::int64_t revision_beyond(std::int64_t highest, base::Time now);

class Store;

// Unsubscribes when destroyed.
class Subscription {
 public:
  ~Subscription();
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

 private:
  friend class Store;
  Subscription() = default;
  std::shared_ptr<struct Subscriber> subscriber_;
};

struct Options {
  std::size_t history_events_max = 50'000;
  std::size_t history_bytes_max = std::size_t{64} << 20;
  // Kubernetes compacts its own store every five minutes, and watches resume from the revisions before that.
  base::Duration history_age_max = base::minutes(10);
  std::size_t writes_waiting_max = 20'000;  // beyond: kTooManyRequests
  std::size_t object_bytes_max = api::kObjectBytesMax;
};

class Store {
 public:
  // Takes all events of one commit that concern one resource, in order.
  using OnEvents = std::function<void(const std::vector<Event>&)>;  // may end any subscription, its own too
  using OnDurable = std::function<void(base::Result<ObjectPtr>)>;

  // Reads what `kv` holds. Both must outlive the store, which commits on a thread of its own (rt::Worker).
  static base::Result<std::unique_ptr<Store>> open(rt::Env& env, rt::KvStore& kv, Options options = {});
  ~Store();

  // The records that could not be read at the start. It lies on the disk until remove_broken(), which the caller calls
  // before the first write, once it has kept what it wants of it. Watches from before then are told to list anew
  // (kExpired).
  const std::vector<Broken>& broken() const;
  base::Status remove_broken();

  // The table of a resource that is not a row of all_kinds(), by "group/plural"; made where there is none. It stays for
  // as long as the store. Objects on the disk of resources that nobody has asked for yet lie in such tables, too.
  std::uint32_t table(const std::string& key);

  ObjectPtr find(std::uint32_t resource, std::string_view ns, std::string_view name, View view) const;
  // In key order, starting after `after` ("ns/name"; empty: from the first); an empty `ns` means all namespaces.
  void for_each(std::uint32_t resource, std::string_view ns, std::string_view after, View view,
                const std::function<bool(const ObjectPtr&)>& visit) const;
  std::size_t count(std::uint32_t resource) const;
  // The bytes of all objects as text, those included whose writes are under way.
  std::size_t bytes() const;
  // The revision of the newest durable write.
  std::int64_t revision() const;

  // Writers: the caller has checked preconditions against View::kLatest in this very turn of the loop. `object` gets
  // its resourceVersion here. `on_durable` runs on the loop, later. Errors: kTooLarge and kInvalid for an object that
  // could not be read back (nothing is changed then), kTooManyRequests, kUnavailable with the disk's reason.
  void put(std::uint32_t resource, api::Json object, OnDurable on_durable);
  void erase(std::uint32_t resource, std::string_view ns, std::string_view name, api::Json last_state,
             OnDurable on_durable);

  // `done` runs once all that View::kLatest shows is durable: at once if it is, else on the loop, later, with the error
  // if it did not become so and is undone. For answers that tell of that state without a write of their own.
  void settle(OnDurable done);

  // Events of `resource` after `since`, as many as have about `bytes_max` bytes, and at least one. kExpired when
  // history does not reach back that far.
  base::Result<Missed> missed(std::uint32_t resource, std::int64_t since, std::size_t bytes_max) const;
  // Events of `resource` after `since`, those of history at once, then as they become durable. A subscriber that may be
  // far behind asks for missed() first.
  base::Result<std::unique_ptr<Subscription>> subscribe(std::uint32_t resource, std::int64_t since, OnEvents on_events);
  // Tells of every change of the newest state of `resource`, at once, also of one that is undone because its commit
  // failed; `before` and `after` are null where there is no object. For indexes of what View::kLatest shows.
  using OnLatest = std::function<void(const ObjectPtr& before, const ObjectPtr& after)>;
  void on_latest(std::uint32_t resource, OnLatest on_latest);
  // True while the last commit failed (a full disk): readiness reports it.
  bool failing() const;

 private:
  friend class Subscription;
  struct State;
  explicit Store(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
  std::unique_ptr<rt::Worker> writer_;  // not the state's: its own thread must not be the one that destroys it
};

}  // namespace store

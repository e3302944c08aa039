// How an informer keeps its copy current: a watch that begins with what there is (or a list in pages, and a watch),
// resumed when it breaks, begun again when history is gone.
#include "client/watch/informer.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/format.h"
#include "base/log.h"
#include "client/list_items.h"
#include "client/watch/initial_events.h"

namespace client {

using api::Json;

namespace {

constexpr std::int64_t kPageSize = 500;
constexpr std::size_t kPagesMax = 20'000;  // of one list: ten million objects
constexpr std::size_t kInitialEventsMax = kPagesMax * kPageSize;
// So many times in a row a watch may break before it has told what there is; then that is listed.
constexpr int kCutBeginningsMax = 2;
constexpr base::Duration kBackOffFirst = base::milliseconds(200);
constexpr base::Duration kBackOffMax = base::seconds(30);
constexpr base::Duration kWatchLeast = base::seconds(120);
constexpr int kCutWatchesSilent = 3;  // a server that is started again is back by then

}  // namespace

const api::Projection& without_managed_fields() {
  static const api::Projection kParts{"*", "metadata.*", "-metadata.managedFields"};
  return kParts;
}

struct Informer::State {
  struct IndexTable {
    Index keys_of;
    // By index key, then by the key of the object; an object keeps its place in `objects` as long as it is there.
    std::map<std::string, std::map<std::string, const Json*>, std::less<>> entries;
  };

  Client& client;
  rt::Env& env;
  api::ResourceId resource;
  InformerOptions options;
  std::vector<OnChange> handlers;
  std::map<std::string, IndexTable, std::less<>> indexes;
  std::map<std::string, Json, std::less<>> objects;  // empty where only identities are kept
  Identities identities;
  std::vector<std::function<void()>> on_synced;
  std::string resource_version;  // the watch resumes after this one
  std::unique_ptr<Watch> watch;
  // The state of the list, or of the beginning of a watch, under way. The first one is taken piece by piece, since
  // nothing can be gone yet: the objects of a large cluster are not held twice, nor whole where only their identities
  // are kept.
  std::vector<Json> pages;                            // of a list
  std::map<std::string, Json, std::less<>> gathered;  // of a watch: its objects as they are now
  bool takes_pieces = false;
  bool beginning = false;          // the watch has not told all that there is
  std::size_t initial_events = 0;  // so many it has
  int cut_beginnings = 0;          // of watches that broke meanwhile, in a row
  int cut_watches = 0;             // that ended soon and showed nothing, in a row
  // The objects are listed, because a watch could not tell them. Once a watch shows something, the next one is asked.
  bool lists = false;
  bool has_page = false;
  std::set<std::size_t> tokens;  // hashes of those that led to its pages
  bool paged = true;             // false after a continue token expired: ask for everything at once
  std::string trouble;           // why the view is not current
  std::string reported;          // what of that was last logged
  bool has_notified = false;     // handlers have been called
  bool synced = false;
  bool started = false;
  base::Duration back_off = kBackOffFirst;
  base::Duration unread_back_off = kBackOffFirst;  // after watches that ended with what cannot be read
  base::Duration watch_began;
  rt::Loop::TimerId timer = 0;
  // Callbacks hold a weak reference, so that none runs after the informer is gone.
  std::shared_ptr<int> alive = std::make_shared<int>(0);

  State(Client& c, rt::Env& e, api::ResourceId r, InformerOptions o)
      : client(c), env(e), resource(std::move(r)), options(std::move(o)) {}

  void later(void (State::*step)());
  void report(std::string_view what, const base::Error& error);
  void begin();
  void list() {
    pages.clear();
    takes_pieces = !synced && !has_notified;
    has_page = false;
    tokens.clear();
    ask_page({});
  }
  void ask_page(const std::string& continue_token);
  void ask_next_page(const std::string& continue_token);
  void take_page(base::Result<Json> page);
  void replace_all(std::vector<Json> items);
  void become_synced();
  void begin_watch();
  void take_event(WatchEvent event);
  void take_initial(WatchEvent event);
  void end_beginning(std::string version);
  void end_watch(const base::Error& error);
  void break_beginning(const base::Error& error);
  void discard_watch() {
    // It is on the stack below us; it goes when this turn is over.
    env.loop().post([ended = std::shared_ptr<Watch>(std::move(watch))] {});
  }
  bool keeps_objects() const { return options.keep == InformerOptions::Keep::kObjects; }
  void put(Json object, bool initial);
  void put_identity(const Json& after, bool initial);
  void drop(const std::string& key, const Json& last);
  void index(const std::string& key, const Json* before, const Json* after);
  std::optional<Identity> known(std::string_view key) const {
    return options.known != nullptr ? options.known->find(key) : identities.find(key);
  }
  void notify(const Json* before, const Json* after, bool initial) {
    has_notified = true;
    for (const OnChange& handler : handlers) handler(before, after, initial);
  }
  // Another uid under the same name means that a deletion in between was not seen.
  void notify_change(const Json& before, const Json& after, bool initial) {
    if (api::uid_of(before) == api::uid_of(after)) return notify(&before, &after, initial);
    notify(&before, nullptr, initial);
    notify(nullptr, &after, initial);
  }
};

// Waits for the back-off, shortened by chance by up to a half so that many watchers do not return at once.
void Informer::State::later(void (State::*step)()) {
  const double share = 0.5 + env.random().fraction() / 2;
  const base::Duration delay{static_cast<std::int64_t>(static_cast<double>(back_off.ns) * share)};
  back_off = std::min(back_off * 2, kBackOffMax);
  timer = env.loop().after(delay, [this, weak = std::weak_ptr<int>(alive), step] {
    if (weak.expired()) return;
    timer = 0;
    (this->*step)();
  });
}

// A waiting user of this view shows nothing meanwhile. Each trouble is told once, until a watch shows something.
void Informer::State::report(std::string_view what, const base::Error& error) {
  trouble = base::format("{} cannot be {}: {}", resource.plural, what, error.message);
  // A kind of ours that the server does not have.
  if (error.code == base::Code::kNotFound && resource.group.ends_with(".volcano.sh"))
    trouble +=
        "; its CustomResourceDefinition comes with the chart, or with `volcano crd | kubectl apply --server-side -f -`";
  if (std::exchange(reported, error.message) != error.message) base::log_warning("client", trouble);
}

void Informer::State::ask_page(const std::string& continue_token) {
  Request request{.verb = Verb::kList, .resource = resource, .ns = options.ns};
  request.label_selector = options.label_selector;
  request.field_selector = options.field_selector;
  request.limit = paged ? kPageSize : 0;
  request.continue_token = continue_token;
  request.only = options.only;
  client.call(std::move(request), [this, weak = std::weak_ptr<int>(alive)](base::Result<Json> page) {
    if (!weak.expired()) take_page(std::move(page));
  });
}

void Informer::State::take_page(base::Result<Json> page) {
  if (!page.ok()) {
    if (page.error().code == base::Code::kExpired && paged && has_page) {
      paged = false;
      return list();
    }
    const base::Code code = page.error().code;
    // A server that is away may offer what it could not show.
    if (code == base::Code::kUnavailable || code == base::Code::kTimeout) {
      lists = false;
      cut_beginnings = 0;
    }
    const bool absent = code == base::Code::kNotFound || code == base::Code::kForbidden;
    if (!options.may_be_absent || code != base::Code::kNotFound) report("listed", page.error());
    if (options.may_be_absent && absent) {
      back_off = kBackOffMax;
      pages.clear();
      // Objects stay in the view while they are only hidden: a server that has just started may not know our role yet.
      if (!synced || code == base::Code::kNotFound) replace_all({});
    }
    return later(&State::begin);
  }
  has_page = true;
  const Json metadata = (*page)["metadata"];
  for (Json& item : items_of(*std::move(page), resource)) {
    if (takes_pieces)
      put(std::move(item), true);
    else
      pages.push_back(std::move(item));
  }
  const std::string next = metadata["continue"].str();
  if (!next.empty()) return ask_next_page(next);
  tokens.clear();
  paged = true;
  trouble.clear();
  resource_version = metadata["resourceVersion"].str();
  if (takes_pieces)
    become_synced();
  else
    replace_all(std::exchange(pages, {}));
  begin_watch();
}

// A server that never comes to the last page would be asked without a pause, and what it says kept.
void Informer::State::ask_next_page(const std::string& continue_token) {
  if (tokens.insert(std::hash<std::string>()(continue_token)).second && tokens.size() < kPagesMax)
    return ask_page(continue_token);
  const bool too_many = tokens.size() >= kPagesMax;
  pages.clear();
  report("listed", base::make_error(base::Code::kInternal,
                                    too_many ? base::format("its list has more than {} pages", kPagesMax)
                                             : base::format("its list comes back to the page at {:?}",
                                                            std::string_view(continue_token).substr(0, 100))));
  later(&State::begin);
}

void Informer::State::replace_all(std::vector<Json> items) {
  std::set<std::string, std::less<>> present;
  for (const Json& item : items) present.insert(api::key_of(item));
  std::vector<std::pair<std::string, Json>> gone;
  for (const auto& [key, object] : objects)
    if (!present.contains(key)) gone.emplace_back(key, object);
  const auto look = [&](const Identity& one) {
    if (!present.contains(one.key)) gone.emplace_back(one.key, object_of(one));
  };
  if (options.known != nullptr)
    options.known->for_each(look);
  else
    identities.for_each(look);
  for (const auto& [key, object] : gone) drop(key, object);
  const bool initial = !synced;
  for (Json& item : items) put(std::move(item), initial);
  become_synced();
}

void Informer::State::become_synced() {
  if (std::exchange(synced, true)) return;
  const std::weak_ptr<int> weak = alive;
  for (const auto& callback : std::exchange(on_synced, {})) {
    callback();
    if (weak.expired()) return;
  }
}

void Informer::State::begin() {
  if (lists) return list();
  takes_pieces = !synced && !has_notified;
  beginning = true;
  initial_events = 0;
  gathered.clear();
  resource_version.clear();
  begin_watch();
}

void Informer::State::begin_watch() {
  WatchRequest request{.resource = resource, .ns = options.ns};
  request.label_selector = options.label_selector;
  request.field_selector = options.field_selector;
  request.resource_version = resource_version;
  request.only = options.only;
  const std::weak_ptr<int> weak = alive;
  watch_began = env.uptime();
  watch = client.watch(
      std::move(request),
      [this, weak](WatchEvent event) {
        if (!weak.expired()) take_event(std::move(event));
      },
      [this, weak](const base::Error& error) {
        if (!weak.expired()) end_watch(error);
      });
}

void Informer::State::take_event(WatchEvent event) {
  if (beginning) return take_initial(std::move(event));
  lists = false;
  back_off = kBackOffFirst;
  cut_watches = 0;
  trouble.clear();
  reported.clear();
  const std::string_view version = api::resource_version_of(event.object);
  if (!version.empty()) resource_version = version;
  switch (event.type) {
    case EventType::kAdded:
    case EventType::kModified: return put(std::move(event.object), false);
    case EventType::kDeleted: return drop(api::key_of(event.object), event.object);
    case EventType::kBookmark: return;
  }
}

// The versions of what there is are in any order: only the bookmark's is one from which a watch can go on.
void Informer::State::take_initial(WatchEvent event) {
  if (event.type == EventType::kBookmark) {
    if (ends_initial_events(event)) end_beginning(std::string(api::resource_version_of(event.object)));
    return;
  }
  if (++initial_events > kInitialEventsMax) {
    return end_watch(base::make_error(
        base::Code::kInternal, base::format("more than {} come before the end of what there is", kInitialEventsMax)));
  }
  const bool is_gone = event.type == EventType::kDeleted;
  if (takes_pieces && !is_gone) return put(std::move(event.object), true);
  std::string key = api::key_of(event.object);
  if (takes_pieces) return drop(key, event.object);
  if (is_gone)
    gathered.erase(key);
  else
    gathered.insert_or_assign(std::move(key), std::move(event.object));
}

void Informer::State::end_beginning(std::string version) {
  beginning = false;
  cut_beginnings = 0;
  back_off = kBackOffFirst;
  trouble.clear();
  reported.clear();
  resource_version = std::move(version);
  if (takes_pieces) return become_synced();
  std::vector<Json> items;
  items.reserve(gathered.size());
  for (auto& [key, object] : std::exchange(gathered, {})) items.push_back(std::move(object));
  replace_all(std::move(items));
}

void Informer::State::end_watch(const base::Error& error) {
  discard_watch();
  if (std::exchange(beginning, false)) return break_beginning(error);
  const bool expired = error.code == base::Code::kExpired || error.code == base::Code::kGone;
  // A user who may not watch can still look now and then.
  const bool forbidden = error.code == base::Code::kForbidden;
  // A version that it does not know, as after a bookmark of another server, is refused for ever.
  const bool refused = error.code == base::Code::kBadRequest || error.code == base::Code::kInvalid;
  // An event that cannot be read would come again, behind others perhaps: those make the pause no shorter.
  const bool unread = error.code == base::Code::kInternal;
  // An idle watch ends after five minutes or more; what ends sooner, again and again, shows nothing.
  const bool cut = env.uptime() - watch_began < kWatchLeast;
  cut_watches = cut && !expired ? cut_watches + 1 : 0;
  if (unread && env.uptime() - watch_began < kBackOffMax) back_off = std::max(back_off, unread_back_off);
  if (forbidden || refused || unread || cut_watches >= kCutWatchesSilent) report("watched", error);
  // A server that names no version has told none from which to go on.
  const bool anew = expired || forbidden || refused || unread || resource_version.empty();
  later(anew ? &State::begin : &State::begin_watch);
  if (unread) unread_back_off = back_off;
}

// A beginning that breaks counts for nothing; handlers that were told it before the first beginning is complete are
// told the difference then.
void Informer::State::break_beginning(const base::Error& error) {
  gathered.clear();
  switch (error.code) {
    case base::Code::kUnavailable:
    case base::Code::kTimeout:
    case base::Code::kTooManyRequests:
    case base::Code::kUnauthorized:
    case base::Code::kExpired:
    case base::Code::kGone:
      report("listed", error);
      if (++cut_beginnings >= kCutBeginningsMax) lists = true;
      return later(&State::begin);
    default: break;
  }
  // A list may do if it is not offered, not allowed, or cannot be read.
  lists = true;
  list();
}

void Informer::State::put(Json object, bool initial) {
  if (!keeps_objects()) return put_identity(object, initial);
  const std::string key = api::key_of(object);
  const auto found = objects.find(key);
  const Json after = object;
  if (found == objects.end()) {
    const Json& stored = objects.emplace(key, std::move(object)).first->second;
    index(key, nullptr, &stored);
    return notify(nullptr, &after, initial);
  }
  const Json before = found->second;
  if (api::resource_version_of(before) == api::resource_version_of(object)) return;
  found->second = std::move(object);
  index(key, &before, &found->second);
  notify_change(before, after, initial);
}

void Informer::State::put_identity(const Json& after, bool initial) {
  const std::string key = api::key_of(after);
  const std::optional<Identity> last = known(key);
  const std::string_view version = api::resource_version_of(after);
  if (last && last->version == version) return;
  const Json before = last ? object_of(*last) : Json();
  if (options.known == nullptr) identities.put({key, api::uid_of(after), version});
  if (before.is_null()) return notify(nullptr, &after, initial);
  notify_change(before, after, initial);
}

void Informer::State::drop(const std::string& key, const Json& last) {
  if (!keeps_objects()) {
    if (!known(key)) return;
    if (options.known == nullptr) identities.erase(key);
    return notify(&last, nullptr, false);
  }
  const auto found = objects.find(key);
  if (found == objects.end()) return;
  index(key, &found->second, nullptr);
  objects.erase(found);
  notify(&last, nullptr, false);
}

// `after` is the object in its place.
void Informer::State::index(const std::string& key, const Json* before, const Json* after) {
  for (auto& [name, table] : indexes) {
    const std::vector<std::string> old = before ? table.keys_of(*before) : std::vector<std::string>{};
    const std::vector<std::string> now = after ? table.keys_of(*after) : std::vector<std::string>{};
    if (before && after && old == now) continue;
    for (const std::string& entry : old) {
      const auto it = table.entries.find(entry);
      if (it == table.entries.end()) continue;
      it->second.erase(key);
      if (it->second.empty()) table.entries.erase(it);
    }
    for (const std::string& entry : now) table.entries[entry][key] = after;
  }
}

Informer::Informer(Client& client, rt::Env& env, api::ResourceId resource, InformerOptions options)
    : state_(std::make_unique<State>(client, env, std::move(resource), std::move(options))) {}
Informer::~Informer() {
  if (state_->timer != 0) state_->env.loop().cancel(state_->timer);
}

void Informer::on_change(OnChange handler) {
  CHECK(!state_->started);
  state_->handlers.push_back(std::move(handler));
}
void Informer::add_index(std::string name, Index index) {
  CHECK(!state_->started && state_->keeps_objects());
  state_->indexes[std::move(name)].keys_of = std::move(index);
}
void Informer::start() {
  if (std::exchange(state_->started, true)) return;
  state_->begin();
}

bool Informer::synced() const { return state_->synced; }
void Informer::on_synced(std::function<void()> callback) {
  if (state_->synced) return callback();
  state_->on_synced.push_back(std::move(callback));
}

const std::string& Informer::trouble() const { return state_->trouble; }

const Json* Informer::find(std::string_view key) const {
  CHECK(state_->keeps_objects());
  const auto found = state_->objects.find(key);
  return found == state_->objects.end() ? nullptr : &found->second;
}
const std::map<std::string, Json, std::less<>>& Informer::objects() const {
  CHECK(state_->keeps_objects());
  return state_->objects;
}

std::optional<Identity> Informer::identity(std::string_view key) const {
  if (!state_->keeps_objects()) return state_->known(key);
  const auto found = state_->objects.find(key);
  if (found == state_->objects.end()) return std::nullopt;
  return Identity{found->first, api::uid_of(found->second), api::resource_version_of(found->second)};
}

std::size_t Informer::count(std::string_view index, std::string_view key) const {
  const auto table = state_->indexes.find(index);
  CHECK(table != state_->indexes.end());
  const auto entry = table->second.entries.find(key);
  return entry == table->second.entries.end() ? 0 : entry->second.size();
}

std::vector<const Json*> Informer::by_index(std::string_view index, std::string_view key) const {
  const auto table = state_->indexes.find(index);
  CHECK(table != state_->indexes.end());
  std::vector<const Json*> found;
  const auto entry = table->second.entries.find(key);
  if (entry == table->second.entries.end()) return found;
  found.reserve(entry->second.size());
  for (const auto& [name, object] : entry->second) found.push_back(object);
  return found;
}

}  // namespace client

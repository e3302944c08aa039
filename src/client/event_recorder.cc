// How equal events become one Event object with a count.
#include "client/event_recorder.h"

#include <algorithm>
#include <deque>
#include <list>
#include <map>

#include "base/format.h"
#include "base/utf8.h"

namespace client {

using api::Json;

namespace {

constexpr std::size_t kRemembered = 4096;  // least recently used texts are forgotten beyond
constexpr std::size_t kWaitingMax = 10'000;
constexpr int kInFlightMax = 16;
constexpr int kTries = 5;
constexpr std::size_t kMessageBytesMax = 8192;

bool worth_retrying(base::Code code) {
  return code == base::Code::kUnavailable || code == base::Code::kTimeout || code == base::Code::kTooManyRequests ||
         code == base::Code::kInternal;
}

}  // namespace

struct EventRecorder::State : std::enable_shared_from_this<EventRecorder::State> {
  struct Entry {
    std::string key;
    Json object;
    EventText text;
    std::string ns;
    std::string name;  // empty until it was created
    std::int64_t count = 0;
    std::int64_t written = 0;  // the count that the server knows
    base::Time first;
    base::Time last;
    bool queued = false;  // waiting, or in flight
    int tries = 0;
  };
  using Entries = std::list<std::shared_ptr<Entry>>;

  Client& client;
  rt::Env& env;
  std::string component;
  std::string host;
  Entries recent;  // most recently used first
  std::map<std::string, Entries::iterator, std::less<>> by_key;
  std::deque<std::shared_ptr<Entry>> waiting;
  int in_flight = 0;
  std::size_t dropped = 0;
  std::int64_t last_suffix = 0;

  State(Client& c, rt::Env& e, std::string name, std::string h)
      : client(c), env(e), component(std::move(name)), host(std::move(h)) {}

  std::shared_ptr<Entry> entry_for(const Json& object, EventText text);
  void enqueue(const std::shared_ptr<Entry>& entry);
  void pump();
  void write(const std::shared_ptr<Entry>& entry);
  void written(const std::shared_ptr<Entry>& entry, std::int64_t count, const std::string& name,
               const base::Result<Json>& result);
  Json body_of(const Entry& entry, const std::string& name) const;
};

std::shared_ptr<EventRecorder::State::Entry> EventRecorder::State::entry_for(const Json& object, EventText text) {
  const std::string key =
      base::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", api::namespace_of(object), api::kind_of(object),
                   api::name_of(object), api::uid_of(object), text.field_path, text.type, text.reason, text.message);
  const auto found = by_key.find(key);
  if (found != by_key.end()) {
    recent.splice(recent.begin(), recent, found->second);
    return recent.front();
  }
  auto entry = std::make_shared<Entry>();
  entry->key = key;
  entry->object = object;
  entry->text = std::move(text);
  // Messages quote what programs and disks say.
  entry->text.message = base::utf8_prefix(base::to_utf8(entry->text.message), kMessageBytesMax);
  // Events need a namespace; those of cluster-scoped objects live in the default one.
  entry->ns = api::namespace_of(object).empty() ? "default" : std::string(api::namespace_of(object));
  entry->first = env.now();
  recent.push_front(entry);
  by_key[key] = recent.begin();
  if (recent.size() > kRemembered) {
    by_key.erase(recent.back()->key);
    recent.pop_back();
  }
  return entry;
}

void EventRecorder::State::enqueue(const std::shared_ptr<Entry>& entry) {
  if (entry->queued) return;
  if (waiting.size() >= kWaitingMax) {
    ++dropped;
    return;
  }
  entry->queued = true;
  waiting.push_back(entry);
  pump();
}

void EventRecorder::State::pump() {
  while (in_flight < kInFlightMax && !waiting.empty()) {
    const std::shared_ptr<Entry> entry = std::move(waiting.front());
    waiting.pop_front();
    ++in_flight;
    write(entry);
  }
}

Json EventRecorder::State::body_of(const Entry& entry, const std::string& name) const {
  Json involved = Json::object({{"kind", entry.object["kind"]},
                                {"namespace", entry.object["metadata"]["namespace"]},
                                {"name", entry.object["metadata"]["name"]},
                                {"uid", entry.object["metadata"]["uid"]},
                                {"apiVersion", entry.object["apiVersion"]},
                                {"resourceVersion", entry.object["metadata"]["resourceVersion"]}});
  if (!entry.text.field_path.empty()) involved.set("fieldPath", entry.text.field_path);
  for (const char* key : {"namespace", "uid", "resourceVersion"})
    if (involved[key].is_null()) involved.erase(key);
  Json source = Json::object({{"component", component}});
  if (!host.empty()) source.set("host", host);
  return Json::object({{"kind", "Event"},
                       {"apiVersion", "v1"},
                       {"metadata", Json::object({{"name", name}, {"namespace", entry.ns}})},
                       {"involvedObject", involved},
                       {"reason", entry.text.reason},
                       {"message", entry.text.message},
                       {"source", source},
                       {"firstTimestamp", base::format_rfc3339(entry.first)},
                       {"lastTimestamp", base::format_rfc3339(entry.last)},
                       {"count", entry.count},
                       {"type", entry.text.type},
                       {"eventTime", nullptr},
                       {"reportingComponent", component},
                       {"reportingInstance", host}});
}

void EventRecorder::State::write(const std::shared_ptr<Entry>& entry) {
  Request request{.resource = api::resources::kEvents, .ns = entry->ns};
  std::string name = entry->name;
  if (name.empty()) {
    // Nanoseconds of the clock, kept apart where the clock stands still.
    last_suffix = std::max(last_suffix + 1, env.now().ns);
    name = base::format("{}.{:x}", api::name_of(entry->object), last_suffix);
    request.verb = Verb::kCreate;
    request.body = body_of(*entry, name);
  } else {
    request.verb = Verb::kPatch;
    request.patch_type = PatchType::kStrategic;
    request.name = name;
    request.body = Json::object({{"count", entry->count}, {"lastTimestamp", base::format_rfc3339(entry->last)}});
  }
  client.call(std::move(request),
              [weak = weak_from_this(), entry, count = entry->count, name](const base::Result<Json>& result) {
                if (const auto self = weak.lock()) self->written(entry, count, name, result);
              });
}

void EventRecorder::State::written(const std::shared_ptr<Entry>& entry, std::int64_t count, const std::string& name,
                                   const base::Result<Json>& result) {
  --in_flight;
  entry->queued = false;
  if (result.ok()) {
    entry->name = name;
    entry->written = count;
    entry->tries = 0;
    if (entry->count > count) enqueue(entry);
  } else if (result.error().code == base::Code::kNotFound && !entry->name.empty()) {
    entry->name.clear();  // it expired; a new object goes on with the count
    enqueue(entry);
  } else if (worth_retrying(result.error().code) && ++entry->tries < kTries) {
    entry->queued = true;
    env.loop().after(base::seconds(1 << entry->tries), [weak = weak_from_this(), entry] {
      const auto self = weak.lock();
      if (!self) return;
      entry->queued = false;
      self->enqueue(entry);
    });
  } else {
    ++dropped;
    entry->tries = 0;
  }
  pump();
}

EventRecorder::EventRecorder(Client& client, rt::Env& env, std::string component, std::string host)
    : state_(std::make_shared<State>(client, env, std::move(component), std::move(host))) {}
EventRecorder::~EventRecorder() = default;

void EventRecorder::record(const Json& object, EventText text) {
  const auto entry = state_->entry_for(object, std::move(text));
  ++entry->count;
  entry->last = state_->env.now();
  state_->enqueue(entry);
}

std::size_t EventRecorder::dropped() const { return state_->dropped; }

}  // namespace client

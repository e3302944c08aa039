// How equal events become one Event object with a count.
#include "client/events/event_recorder.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/format.h"
#include "base/utf8.h"
#include "client/events/event_correlator.h"
#include "client/watch/identity_parts.h"

namespace client {

using api::Json;

namespace {

constexpr std::size_t kRemembered = 4096;  // least recently used events are forgotten beyond
constexpr std::size_t kWaitingMax = 10'000;
constexpr int kInFlightMax = 16;
constexpr int kTries = 5;
constexpr std::size_t kMessageBytesMax = 8192;
constexpr std::string_view kCombined = "(combined from similar events): ";

bool worth_retrying(base::Code code) {
  return code == base::Code::kUnavailable || code == base::Code::kTimeout || code == base::Code::kTooManyRequests ||
         code == base::Code::kInternal;
}

}  // namespace

struct EventRecorder::State : std::enable_shared_from_this<EventRecorder::State> {
  // The parts that are needed only until the event is written: the reference to its object, and its text.
  struct Text {
    Json involved;
    EventText event;
  };
  struct Entry {
    std::string ns;
    std::string name;  // empty until it was created
    std::int64_t count = 0;
    base::Time first;
    base::Time last;
    bool combined = false;       // the text changes with each report
    bool queued = false;         // waiting, in flight, or about to be tried again
    std::unique_ptr<Text> text;  // while it is queued; the newest
    int tries = 0;
  };

  Client& client;
  rt::Env& env;
  std::string component;
  std::string host;
  EventCorrelator correlator;
  RecentlyUsed<std::shared_ptr<Entry>> recent{kRemembered};
  std::deque<std::shared_ptr<Entry>> waiting;
  int in_flight = 0;
  std::size_t dropped = 0;
  std::int64_t last_suffix = 0;

  State(Client& c, rt::Env& e, std::string name, std::string h)
      : client(c), env(e), component(std::move(name)), host(std::move(h)) {}

  void record(const Json& object, EventText text);
  void enqueue(const std::shared_ptr<Entry>& entry);
  void pump();
  void write(const std::shared_ptr<Entry>& entry);
  void written(const std::shared_ptr<Entry>& entry, std::int64_t count, const std::string& name,
               const base::Result<Json>& result);
  void settle(Entry& entry);
  Json body_of(const Entry& entry, const std::string& name) const;
};

namespace {

Json involved_object(const Json& object, const std::string& field_path) {
  const Json& metadata = object["metadata"];
  Json involved = Json::object({{"kind", object["kind"].str()}});
  for (const char* key : {"namespace", "name", "uid"})
    if (!metadata[key].is_null()) involved.set(key, metadata[key].str());
  involved.set("apiVersion", object["apiVersion"].str());
  if (!metadata["resourceVersion"].is_null()) involved.set("resourceVersion", metadata["resourceVersion"].str());
  if (!field_path.empty()) involved.set("fieldPath", field_path);
  return involved;
}

}  // namespace

void EventRecorder::State::record(const Json& object, EventText text) {
  // Messages quote what programs and disks say.
  text.message = base::utf8_prefix(base::to_utf8(text.message), kMessageBytesMax);
  const std::string about = base::format("{}\n{}\n{}\n{}", api::namespace_of(object), api::kind_of(object),
                                         api::name_of(object), api::uid_of(object));
  const std::string kind = base::format("{}\n{}\n{}", text.field_path, text.type, text.reason);
  const EventCorrelator::Verdict verdict =
      correlator.judge({.object = about, .kind = kind, .message = text.message}, env.now());
  std::shared_ptr<Entry>& slot = recent.use(verdict.event);
  if (!slot) {
    slot = std::make_shared<Entry>();
    // Events need a namespace; those of cluster-scoped objects live in the default one.
    slot->ns = api::namespace_of(object).empty() ? "default" : std::string(api::namespace_of(object));
    slot->first = env.now();
  }
  const std::shared_ptr<Entry> entry = slot;
  ++entry->count;
  entry->last = env.now();
  if (!verdict.is_written) return;
  entry->combined = verdict.combined;
  if (verdict.combined) text.message = base::utf8_prefix(std::string(kCombined) + text.message, kMessageBytesMax);
  Json involved = involved_object(object, text.field_path);
  entry->text = std::make_unique<Text>(Text{std::move(involved), std::move(text)});
  enqueue(entry);
}

// An event that nobody waits for any more needs no text.
void EventRecorder::State::settle(Entry& entry) {
  if (!entry.queued) entry.text.reset();
}

void EventRecorder::State::enqueue(const std::shared_ptr<Entry>& entry) {
  if (entry->queued) return;
  if (waiting.size() >= kWaitingMax) {
    ++dropped;
    return settle(*entry);
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
  Json source = Json::object({{"component", component}});
  if (!host.empty()) source.set("host", host);
  return Json::object({{"kind", "Event"},
                       {"apiVersion", "v1"},
                       {"metadata", Json::object({{"name", name}, {"namespace", entry.ns}})},
                       {"involvedObject", entry.text->involved},
                       {"reason", entry.text->event.reason},
                       {"message", entry.text->event.message},
                       {"source", source},
                       {"firstTimestamp", base::format_rfc3339(entry.first)},
                       {"lastTimestamp", base::format_rfc3339(entry.last)},
                       {"count", entry.count},
                       {"type", entry.text->event.type},
                       {"eventTime", nullptr},
                       {"reportingComponent", component},
                       {"reportingInstance", host}});
}

void EventRecorder::State::write(const std::shared_ptr<Entry>& entry) {
  Request request{.resource = api::resources::kEvents, .ns = entry->ns, .urgency = Urgency::kEvent};
  request.only = &identity_parts();
  std::string name = entry->name;
  if (name.empty()) {
    // Nanoseconds of the clock, kept apart where the clock stands still.
    last_suffix = std::max(last_suffix + 1, env.now().ns);
    name = base::format("{}.{:x}", entry->text->involved["name"].as_string(), last_suffix);
    request.verb = Verb::kCreate;
    request.body = body_of(*entry, name);
  } else {
    request.verb = Verb::kPatch;
    request.patch_type = PatchType::kStrategic;
    request.name = name;
    request.body = Json::object({{"count", entry->count}, {"lastTimestamp", base::format_rfc3339(entry->last)}});
    if (entry->combined) request.body.set("message", entry->text->event.message);
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
  settle(*entry);
  pump();
}

EventRecorder::EventRecorder(Client& client, rt::Env& env, std::string component, std::string host)
    : state_(std::make_shared<State>(client, env, std::move(component), std::move(host))) {}
EventRecorder::~EventRecorder() = default;

void EventRecorder::record(const Json& object, EventText text) { state_->record(object, std::move(text)); }

std::size_t EventRecorder::dropped() const { return state_->dropped; }

}  // namespace client

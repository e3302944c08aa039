// Watches: from a revision, through selectors, with bookmarks.
#include <charconv>
#include <deque>

#include "apiserver/api.h"
#include "apiserver/selection.h"
#include "base/format.h"

namespace apiserver {

using base::Result;
using store::Event;
using store::EventType;

namespace {

constexpr base::Duration kBookmarkInterval = base::seconds(60);

// What a stored event means to a watcher that sees only what `selection` selects. Nothing: not its business.
bool translate(const Selection& selection, const std::string& ns, Event& event) {
  if (!ns.empty() && event.object->ns != ns) return false;
  if (selection.everything()) return true;
  const bool was = event.type != EventType::kAdded && (!event.before || selection.matches(*event.before));
  const bool is = event.type != EventType::kDeleted && selection.matches(*event.object);
  if (!was && !is) return false;
  event.type = is ? (was ? EventType::kModified : EventType::kAdded) : EventType::kDeleted;
  return true;
}

class RealWatch : public ApiWatch {
 public:
  RealWatch(rt::Env& env, store::Store& store, Selection selection, const Request& request, WatchSink sink)
      : env_(env),
        store_(store),
        selection_(std::move(selection)),
        ns_(request.ns),
        bookmarks_(request.bookmarks),
        sink_(std::move(sink)) {}
  ~RealWatch() override {
    if (timer_) env_.loop().cancel(timer_);
  }

  base::Status start(const Request& request) {
    std::int64_t since = 0;
    const std::string& version = request.resource_version;
    const bool from_now = version.empty() || version == "0";
    if (!from_now &&
        std::from_chars(version.data(), version.data() + version.size(), since).ptr != version.data() + version.size())
      return bad_request(base::format("resourceVersion: Invalid value: \"{}\": must be a number", version));
    if (from_now || request.send_initial_events) {
      since = store_.revision();
      send_current(request);
      if (request.send_initial_events && bookmarks_) sink_.on_bookmark(since, true);
    }
    auto subscribed =
        store_.subscribe(request.resource, since, [this](const std::vector<Event>& events) { deliver(events); });
    if (!subscribed.ok()) return subscribed.take_error();
    subscription_ = *std::move(subscribed);
    if (bookmarks_) arm();
    return {};
  }

 private:
  void send_current(const Request& request) {
    std::vector<Event> events;
    store_.for_each(request.resource, ns_, "", store::View::kDurable, [&](const store::ObjectPtr& object) {
      if (selection_.matches(*object))
        events.push_back({EventType::kAdded, object->revision, request.resource, object, nullptr});
      return true;
    });
    if (!events.empty()) sink_.on_events(events, false);
  }

  void deliver(const std::vector<Event>& events) {
    if (selection_.everything() && ns_.empty()) return sink_.on_events(events, true);
    std::vector<Event> selected;
    bool all_as_they_are = true;
    for (const Event& original : events) {
      Event event = original;
      const bool seen = translate(selection_, ns_, event);
      all_as_they_are &= seen && event.type == original.type;
      if (seen) selected.push_back(std::move(event));
    }
    if (all_as_they_are) return sink_.on_events(events, true);
    if (!selected.empty()) sink_.on_events(selected, false);
  }

  void arm() {
    timer_ = env_.loop().after(kBookmarkInterval, [this] {
      timer_ = 0;
      sink_.on_bookmark(store_.revision(), false);
      arm();
    });
  }

  rt::Env& env_;
  store::Store& store_;
  Selection selection_;
  std::string ns_;
  bool bookmarks_;
  WatchSink sink_;
  std::unique_ptr<store::Subscription> subscription_;
  rt::Loop::TimerId timer_ = 0;
};

}  // namespace

Result<std::unique_ptr<ApiWatch>> Api::watch(const Request& request, WatchSink sink) {
  TRY(Selection selection, Selection::parse(*request.kind, request.label_selector, request.field_selector));
  auto watch = std::make_unique<RealWatch>(env(), store(), std::move(selection), request, std::move(sink));
  TRY_VOID(watch->start(request));
  return std::unique_ptr<ApiWatch>(std::move(watch));
}

}  // namespace apiserver

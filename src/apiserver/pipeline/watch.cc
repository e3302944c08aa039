// Watches: from a revision, through selectors, with bookmarks.
#include "apiserver/pipeline/api.h"
#include "apiserver/pipeline/selection.h"

namespace apiserver {

using base::Result;
using store::Event;
using store::EventType;

namespace {

constexpr base::Duration kBookmarkInterval = base::seconds(60);
constexpr std::size_t kSliceBytes = std::size_t{128}
                                    << 10;  // told at once, before looking whether the watcher keeps up
constexpr std::size_t kEventBytes = 100;    // that an event costs beside its object

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
        resource_(request.resource),
        ns_(request.ns),
        bookmarks_(request.bookmarks),
        sink_(std::move(sink)) {}
  ~RealWatch() override {
    if (timer_) env_.loop().cancel(timer_);
  }

  base::Status start(const Request& request) {
    const std::string& version = request.resource_version;
    const bool from_now = version.empty() || version == "0";
    if (!from_now) {
      TRY(since_, parse_number("resourceVersion", version));
    }
    if (from_now || request.send_initial_events) {
      since_ = store_.revision();
      store_.for_each(resource_, ns_, "", store::View::kDurable, [this](const store::ObjectPtr& object) {
        initial_.push_back(object);
        return true;
      });
      initial_end_ = request.send_initial_events && bookmarks_;
    }
    if (bookmarks_) arm();
    return {};
  }

  base::Status resume() override {
    paused_ = false;
    send_current();
    if (paused_) return {};
    if (std::exchange(initial_end_, false)) sink_.on_bookmark(since_, true);
    subscription_.reset();
    TRY(subscription_,
        store_.subscribe(resource_, since_, [this](const std::vector<Event>& events) { deliver(events); }));
    return {};
  }

 private:
  // What is there at the beginning, as additions.
  void send_current() {
    while (told_ < initial_.size() && !paused_) {
      std::vector<Event> events;
      for (std::size_t bytes = 0; told_ < initial_.size() && bytes < kSliceBytes; ++told_) {
        const store::ObjectPtr& object = initial_[told_];
        if (!selection_.matches(*object)) continue;
        bytes += object->bytes.size() + kEventBytes;
        events.push_back({EventType::kAdded, object->revision, resource_, object, nullptr});
      }
      if (!events.empty()) paused_ = !sink_.on_events(events);
    }
    if (told_ < initial_.size()) return;
    initial_ = {};
    told_ = 0;
  }

  void deliver(const std::vector<Event>& events) {
    for (auto at = events.begin(); at != events.end() && !paused_;) {
      std::vector<Event> selected;
      for (std::size_t bytes = 0; at != events.end() && bytes < kSliceBytes; ++at) {
        since_ = at->revision;
        Event event = *at;
        if (!translate(selection_, ns_, event)) continue;
        bytes += event.object->bytes.size() + kEventBytes;
        selected.push_back(std::move(event));
      }
      if (!selected.empty()) paused_ = !sink_.on_events(selected);
    }
  }

  void arm() {
    timer_ = env_.loop().after(kBookmarkInterval, [this] {
      arm();
      // Whoever waits has not been told everything up to now.
      if (subscription_ && !paused_) sink_.on_bookmark(store_.revision(), false);
    });
  }

  rt::Env& env_;
  store::Store& store_;
  Selection selection_;
  std::uint32_t resource_;
  std::string ns_;
  bool bookmarks_;
  WatchSink sink_;
  std::vector<store::ObjectPtr> initial_;  // of them, so many are told
  std::size_t told_ = 0;
  bool initial_end_ = false;  // a bookmark is due after them
  std::int64_t since_ = 0;    // everything up to here is told
  bool paused_ = true;        // events are not taken; history keeps them
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

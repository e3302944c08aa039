// Watches: from a revision, through selectors, with bookmarks.
#include "apiserver/pipeline/watch.h"

#include "apiserver/pipeline/selection.h"

namespace apiserver {

using base::Result;
using store::Event;
using store::EventType;

namespace {

constexpr base::Duration kBookmarkInterval = base::seconds(60);
// Told at once, before looking whether the watcher keeps up.
constexpr std::size_t kSliceBytes = std::size_t{128} << 10;
class RealWatch : public ApiWatch {
 public:
  RealWatch(rt::Env& env, store::Store& store, WatchSlices& slices, KindBook& kinds, WatchSelection selection,
            const Request& request, WatchSink sink)
      : env_(env),
        store_(store),
        slices_(slices),
        kinds_(kinds),
        holds_kind_(request.holds_kind),
        selection_(std::move(selection)),
        resource_(request.resource),
        bookmarks_(request.bookmarks),
        sink_(std::move(sink)) {}
  ~RealWatch() override {
    if (watcher_ != 0) kinds_.forget(watcher_);
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
      store_.for_each(resource_, selection_.ns, "", store::View::kDurable, [this](const store::ObjectPtr& object) {
        initial_.push_back(object);
        return true;
      });
      initial_end_ = request.send_initial_events && bookmarks_;
    }
    if (bookmarks_) arm();
    if (const CustomKind* custom = custom_kind(*request.kind))
      watcher_ = kinds_.on_change(custom->definition, [this] { end(); });
    return {};
  }

  base::Status resume() override {
    paused_ = false;
    send_current();
    if (paused_) return {};
    if (std::exchange(initial_end_, false)) sink_.on_bookmark(since_, true);
    subscription_.reset();
    for (bool behind = true; behind && !paused_;) {
      TRY(const store::Missed missed, store_.missed(resource_, since_, kSliceBytes));
      tell(cut_slices(selection_, missed.events, kSliceBytes), missed.until);
      behind = missed.more;
    }
    if (paused_) return {};
    TRY(subscription_, store_.subscribe(resource_, since_, [this](const std::vector<Event>& events) {
      tell(slices_.of(selection_, events, kSliceBytes), events.back().revision);
    }));
    return {};
  }

 private:
  // What is there at the beginning, as additions.
  void send_current() {
    while (told_ < initial_.size() && !paused_) {
      std::vector<Event> events;
      for (std::size_t bytes = 0; told_ < initial_.size() && bytes < kSliceBytes; ++told_) {
        const store::ObjectPtr& object = initial_[told_];
        bytes += object->bytes.size();
        events.push_back({EventType::kAdded, object->revision, resource_, object, nullptr});
      }
      for (const WatchSlicePtr& slice : cut_slices(selection_, events, SIZE_MAX)) paused_ = !sink_.on_events(slice);
    }
    if (told_ < initial_.size()) return;
    initial_ = {};
    told_ = 0;
  }

  // With `slices` everything up to `until` is told. They may go away meanwhile: whoever is told may write.
  void tell(std::vector<WatchSlicePtr> slices, std::int64_t until) {
    for (const WatchSlicePtr& slice : slices) {
      if (paused_) return;
      since_ = slice->until;
      paused_ = !sink_.on_events(slice);
    }
    if (!paused_) since_ = until;
  }

  // Whoever is told may end this watch.
  void end() {
    subscription_.reset();
    paused_ = true;
    const auto on_end = sink_.on_end;
    if (on_end) on_end();
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
  WatchSlices& slices_;
  KindBook& kinds_;
  std::shared_ptr<const void> holds_kind_;
  WatchSelection selection_;
  std::uint32_t resource_;
  bool bookmarks_;
  WatchSink sink_;
  std::vector<store::ObjectPtr> initial_;  // of them, so many are told
  std::size_t told_ = 0;
  bool initial_end_ = false;  // a bookmark is due after them
  std::int64_t since_ = 0;    // everything up to here is told
  bool paused_ = true;        // events are not taken; history keeps them
  std::unique_ptr<store::Subscription> subscription_;
  rt::Loop::TimerId timer_ = 0;
  std::uint64_t watcher_ = 0;  // of the kind's definition; 0: it has none
};

}  // namespace

Result<std::unique_ptr<ApiWatch>> open_watch(rt::Env& env, store::Store& store, WatchSlices& slices, KindBook& kinds,
                                             const Request& request, WatchSink sink) {
  TRY(Selection selection, Selection::parse(*request.kind, request.label_selector, request.field_selector));
  auto watch = std::make_unique<RealWatch>(env, store, slices, kinds, watch_selection(std::move(selection), request),
                                           request, std::move(sink));
  TRY_VOID(watch->start(request));
  return std::unique_ptr<ApiWatch>(std::move(watch));
}

}  // namespace apiserver

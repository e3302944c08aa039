// Watches: from a revision, through selectors, with bookmarks.
#include "apiserver/pipeline/read/watch.h"

#include "apiserver/pipeline/read/selection.h"
#include "base/format.h"

namespace apiserver {

using base::Result;
using store::Event;
using store::EventType;

namespace {

constexpr base::Duration kBookmarkInterval = base::seconds(60);
// Told at once, before looking whether the watcher keeps up.
constexpr std::size_t kSliceBytes = std::size_t{128} << 10;
// The limit of objects that selectors look into on the loop at a time.
constexpr std::size_t kReadBytes = std::size_t{16} << 10;

// Whether history knows of each of these what the object was before, so that it can be said whether it was selected.
base::Status check_known(const WatchSelection& wanted, const std::vector<Event>& events) {
  if (wanted.selection.everything() || wanted.selection.by_names()) return {};
  for (const Event& event : events)
    if (event.type == EventType::kModified && !event.before && (wanted.ns.empty() || event.object->ns == wanted.ns))
      return base::make_error(base::Code::kExpired,
                              base::format("too old resource version: history does not know what {} was before {}",
                                           event.object->name, event.revision));
  return {};
}

class RealWatch : public ApiWatch {
 public:
  RealWatch(const WatchWorld& world, WatchSelection selection, const Request& request, WatchSink sink)
      : env_(world.env),
        store_(world.store),
        side_work_(world.side_work),
        slices_(world.slices),
        kinds_(world.kinds),
        holds_kind_(request.holds_kind),
        selection_(std::make_shared<const WatchSelection>(std::move(selection))),
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
    // A watch names a match only where it says whether it wants what there is; others without a version do.
    const bool with_current = request.send_initial_events || (from_now && request.resource_version_match.empty());
    if (from_now || with_current) since_ = store_.revision();
    if (with_current) {
      store_.for_each(resource_, selection_->ns, "", store::View::kDurable, [this](const store::ObjectPtr& object) {
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
    return aside_ ? base::Status() : go_on();
  }

 private:
  // Tells what there is, then what was missed meanwhile, and then what comes.
  base::Status go_on() {
    send_current();
    if (paused_ || aside_) return {};
    if (std::exchange(initial_end_, false)) sink_.on_bookmark(since_, true);
    subscription_.reset();
    for (bool behind = true; behind;) {
      TRY(const store::Missed missed, store_.missed(resource_, since_, kSliceBytes));
      TRY_VOID(check_known(*selection_, missed.events));
      behind = missed.more;
      select(missed.events,
             [this, until = missed.until](std::vector<WatchSlicePtr> slices) { deliver(std::move(slices), until); });
      if (paused_ || aside_) return {};
    }
    TRY(subscription_, store_.subscribe(resource_, since_, [this](const std::vector<Event>& events) {
      deliver(slices_.of(*selection_, events, kSliceBytes), events.back().revision);
    }));
    return {};
  }

  // Sends the present objects at the beginning, as additions.
  void send_current() {
    while (delivered_ < initial_.size() && !paused_ && !aside_) {
      std::vector<Event> events;
      for (std::size_t bytes = 0; delivered_ < initial_.size() && bytes < kSliceBytes; ++delivered_) {
        const store::ObjectPtr& object = initial_[delivered_];
        bytes += object->bytes.size();
        events.push_back({EventType::kAdded, object->revision, resource_, object, nullptr});
      }
      select(std::move(events), [this](const std::vector<WatchSlicePtr>& slices) {
        for (const WatchSlicePtr& slice : slices) paused_ = !sink_.on_events(slice);
      });
    }
    if (delivered_ < initial_.size()) return;
    initial_ = {};
    delivered_ = 0;
  }

  // Hands the slices to `then`: at once, or where selectors have to look into much, when that was read elsewhere; the
  // watch then goes on by itself.
  void select(std::vector<Event> events, std::function<void(std::vector<WatchSlicePtr>)> then) {
    const Selection& selection = selection_->selection;
    std::size_t bytes = 0;
    for (const Event& event : events) bytes += event.object->bytes.size();
    if (selection.everything() || selection.by_names() || bytes <= kReadBytes)
      return then(cut_slices(*selection_, events, SIZE_MAX));
    aside_ = true;
    auto slices = std::make_shared<std::vector<WatchSlicePtr>>();
    side_work_.run([slices, selection = selection_, kind = holds_kind_,
                    events = std::move(events)] { *slices = cut_slices(*selection, events, SIZE_MAX); },
                   [this, alive = std::weak_ptr<const bool>(alive_), slices, then = std::move(then)] {
                     if (alive.expired()) return;
                     aside_ = false;
                     then(std::move(*slices));
                     if (alive.expired() || paused_) return;
                     if (!go_on().ok()) end();
                   });
  }

  // With `slices` everything up to `until` is told. They may go away meanwhile: whoever is told may write.
  void deliver(std::vector<WatchSlicePtr> slices, std::int64_t until) {
    for (const WatchSlicePtr& slice : slices) {
      if (paused_) return;
      since_ = slice->until;
      paused_ = !sink_.on_events(slice);
    }
    if (!paused_) since_ = until;
  }

  // A listener may end this watch.
  void end() {
    subscription_.reset();
    paused_ = true;
    const auto on_end = sink_.on_end;
    if (on_end) on_end();
  }

  void arm() {
    timer_ = env_.loop().after(kBookmarkInterval, [this] {
      arm();
      // A watch that waits has not been told everything up to now.
      if (subscription_ && !paused_) sink_.on_bookmark(store_.revision(), false);
    });
  }

  rt::Env& env_;
  store::Store& store_;
  SideWork& side_work_;
  WatchSlices& slices_;
  KindBook& kinds_;
  std::shared_ptr<const void> holds_kind_;
  std::shared_ptr<const WatchSelection> selection_;
  std::uint32_t resource_;
  bool bookmarks_;
  WatchSink sink_;
  std::vector<store::ObjectPtr> initial_;  // of them, so many are told
  std::size_t delivered_ = 0;
  bool initial_end_ = false;  // a bookmark is due after them
  std::int64_t since_ = 0;    // everything up to here is told
  bool paused_ = true;        // events are not taken; history keeps them
  bool aside_ = false;        // what is told next is being selected
  const std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
  std::unique_ptr<store::Subscription> subscription_;
  rt::Loop::TimerId timer_ = 0;
  std::uint64_t watcher_ = 0;  // of the kind's definition; 0: it has none
};

}  // namespace

Result<std::unique_ptr<ApiWatch>> open_watch(const WatchWorld& world, const Request& request, WatchSink sink) {
  TRY(Selection selection, Selection::parse(*request.kind, request.label_selector, request.field_selector));
  auto watch =
      std::make_unique<RealWatch>(world, watch_selection(std::move(selection), request), request, std::move(sink));
  TRY_VOID(watch->start(request));
  return std::unique_ptr<ApiWatch>(std::move(watch));
}

}  // namespace apiserver

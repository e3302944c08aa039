// Selecting and cutting.
#include "apiserver/pipeline/read/watch_slices.h"

#include "apiserver/custom/custom_kind.h"

namespace apiserver {

using store::Event;
using store::EventType;

namespace {

constexpr std::size_t kEventBytes = 100;  // that an event costs beside its object

// An object that leaves a selection is told as it was when it was selected.
store::ObjectPtr as_of(const store::Object& before, std::int64_t revision) {
  auto made = std::make_shared<store::Object>(before);
  made->revision = revision;
  api::Json json = before.json();
  json.edit("metadata").set("resourceVersion", std::to_string(revision));
  made->bytes = json.dump();
  return made;
}

// The meaning of a stored event to a watcher that sees only what is selected. False: not its business.
bool translate(const WatchSelection& wanted, DecodedObjects& decoded, Event& event) {
  const Selection& selection = wanted.selection;
  if (!wanted.ns.empty() && event.object->ns != wanted.ns) return false;
  event.object = read_as(*wanted.kind, event.object);
  event.before = read_as(*wanted.kind, event.before);
  if (selection.everything()) return true;
  // The object of a deletion is the last state. If history does not know what was before another change, the watch has
  // ended, or names alone say it.
  const store::ObjectPtr& old = event.before ? event.before : event.object;
  const bool was = event.type != EventType::kAdded && selection.matches(old, decoded);
  const bool is = event.type != EventType::kDeleted && selection.matches(event.object, decoded);
  if (!was && !is) return false;
  if (event.type == EventType::kModified && !is && event.before) event.object = as_of(*event.before, event.revision);
  event.type = is ? (was ? EventType::kModified : EventType::kAdded) : EventType::kDeleted;
  return true;
}

std::vector<WatchSlicePtr> cut(const WatchSelection& selection, DecodedObjects& decoded,
                               const std::vector<Event>& events, std::size_t bytes_max, bool shared) {
  std::vector<WatchSlicePtr> slices;
  for (auto at = events.begin(); at != events.end();) {
    auto slice = std::make_shared<WatchSlice>();
    slice->shared = shared;
    for (std::size_t bytes = 0; at != events.end() && bytes < bytes_max; ++at) {
      slice->until = at->revision;
      Event event = *at;
      if (!translate(selection, decoded, event)) continue;
      bytes += event.object->bytes.size() + kEventBytes;
      slice->events.push_back(std::move(event));
    }
    if (!slice->events.empty()) slices.push_back(std::move(slice));
  }
  return slices;
}

}  // namespace

WatchSelection watch_selection(Selection selection, const Request& request) {
  std::string key;
  for (const std::string* part : {&request.ns, &request.label_selector, &request.field_selector}) {
    key += std::to_string(part->size()) + ":";
    key += *part;
  }
  // Versions of a stranger's kind are told of the same events, each in its own words.
  if (const CustomKind* custom = custom_kind(*request.kind))
    key += custom->resource.version + "@" + std::to_string(custom->written_anew_after);
  return {std::move(selection), request.kind, request.ns, std::move(key)};
}

std::vector<WatchSlicePtr> cut_slices(const WatchSelection& selection, const std::vector<Event>& events,
                                      std::size_t bytes_max) {
  DecodedObjects decoded;
  return cut(selection, decoded, events, bytes_max, false);
}

const std::vector<WatchSlicePtr>& WatchSlices::of(const WatchSelection& selection, const std::vector<Event>& events,
                                                  std::size_t bytes_max) {
  const std::int64_t first = events.front().revision, last = events.back().revision;
  const std::uint32_t resource = events.front().resource;
  if (!newest_ || newest_->resource != resource || newest_->first != first || newest_->last != last) {
    newest_ = std::make_shared<SlicesOfAll>(SlicesOfAll{resource, first, last});
    // Watches that are still told of these events are told in this turn.
    env_.loop().post([newest = std::weak_ptr<SlicesOfAll>(newest_)] {
      if (const auto old = newest.lock()) *old = {};
    });
  }
  const auto [at, is_new] = newest_->by_selection.try_emplace(selection.key);
  if (is_new) at->second = cut(selection, newest_->decoded, events, bytes_max, true);
  return at->second;
}

}  // namespace apiserver

// The work that watches with the same selection share: events are selected once for all of them, and each object is
// read once for all selections.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/json/json.h"
#include "apiserver/pipeline/read/selection.h"
#include "rt/env.h"
#include "store/store.h"

namespace rt {
class SharedChunk;
}

namespace apiserver {

// Some events that one selection selects, in order; at least one.
struct WatchSlice {
  std::vector<store::Event> events;
  std::int64_t until = 0;  // everything up to this revision is told with it
  // Told to every watch of the selection, so that text made of the events can be shared, too.
  bool shared = false;
  // The maker of such text, and the same in CBOR and protobuf, keeps it here. The API server's loop only.
  mutable std::shared_ptr<const rt::SharedChunk> text = {}, cbor = {}, protobuf = {};
};
using WatchSlicePtr = std::shared_ptr<const WatchSlice>;

// The selection of a watch, and the name by which others that select the same find it.
struct WatchSelection {
  Selection selection;
  const api::KindInfo* kind = nullptr;  // as which objects are told; whoever watches holds it
  std::string ns;                       // empty: all
  std::string key;
};
WatchSelection watch_selection(Selection selection, const Request& request);

// The part of `events` that `selection` selects, in slices of about `bytes_max`.
std::vector<WatchSlicePtr> cut_slices(const WatchSelection& selection, const std::vector<store::Event>& events,
                                      std::size_t bytes_max);

// The slices of the events that the store tells of now; forgotten in the next turn of the loop. Loop thread only.
class WatchSlices {
 public:
  explicit WatchSlices(rt::Env& env) : env_(env) {}

  // `events` are as the store tells its subscribers, to each the same.
  const std::vector<WatchSlicePtr>& of(const WatchSelection& selection, const std::vector<store::Event>& events,
                                       std::size_t bytes_max);

 private:
  struct SlicesOfAll {
    std::uint32_t resource = 0;
    std::int64_t first = 0, last = 0;  // revisions
    std::unordered_map<std::string, std::vector<WatchSlicePtr>> by_selection = {};
    DecodedObjects decoded = {};
  };

  rt::Env& env_;
  std::shared_ptr<SlicesOfAll> newest_;
};

}  // namespace apiserver

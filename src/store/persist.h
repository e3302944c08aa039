// How objects and history lie in the key-value store.
//
//   "o" group/plural 0 ns 0 name          revision (8 bytes, big endian), then the JSON text
//   "h" revision (8 bytes, big endian)    type, group/plural 0, then the JSON text
//   "m" "revision" | "compacted"          decimal text
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "store/store.h"

namespace store {

struct Loaded {
  std::vector<std::pair<std::uint32_t, ObjectPtr>> objects;
  std::vector<Event> history;
  std::int64_t revision = 0;
  std::int64_t compacted = 0;
  std::vector<Broken> broken;  // what of the disk cannot be read
};

// Damaged records are no error; they are in `broken`. Revisions never go back behind what is stored.
base::Result<Loaded> load(const rt::KvStore& kv);
// Takes broken records out, and with them all history, which has a hole now.
base::Status remove(rt::KvStore& kv, const std::vector<Broken>& broken, const std::vector<Event>& history,
                    std::int64_t revision);
// One transaction: the events, and history in (trim_from, trim_to] dropped.
// `gives_room`: these are deletions, which may use the disk's reserve.
base::Status persist(rt::KvStore& kv, const std::vector<Event>& events, std::int64_t trim_from, std::int64_t trim_to,
                     bool gives_room);

}  // namespace store

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
};

base::Result<Loaded> load(const rt::KvStore& kv);
// One transaction: the events, and history in (trim_from, trim_to] dropped.
base::Status persist(rt::KvStore& kv, const std::vector<Event>& events, std::int64_t trim_from, std::int64_t trim_to);

}  // namespace store

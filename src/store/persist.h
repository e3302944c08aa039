// How objects and history lie in the key-value store.
//
//   "o" group/plural 0 ns 0 name          revision (8 bytes, big endian), then the JSON text
//   "h" revision (8 bytes, big endian)    type, group/plural 0, then the JSON text
//   "m" "revision" | "compacted"          decimal text
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/store.h"

namespace store {

// The keys "group/plural" of tables by their numbers. The first ones are those of all_kinds(). Immutable once it is
// shared: who adds a table makes another.
struct TableKeys {
  std::vector<std::string> keys;
  std::map<std::string, std::uint32_t, std::less<>> numbers;

  static TableKeys of_all_kinds();
  std::uint32_t number_of(std::string_view key);  // added where it is not there
};

struct Loaded {
  TableKeys tables;  // with those of resources that no row of all_kinds() has
  std::vector<std::pair<std::uint32_t, ObjectPtr>> objects;
  std::vector<Event> history;
  std::int64_t revision = 0;
  std::int64_t compacted = 0;
  std::vector<Broken> broken;  // what of the disk cannot be read
};

// Damaged records are not an error; they are in `broken`. Revisions never go back behind what is stored.
base::Result<Loaded> load(const rt::KvStore& kv);
// Takes broken records out, and with them all history, which has a hole now.
base::Status remove(rt::KvStore& kv, const std::vector<Broken>& broken, const std::vector<Event>& history,
                    std::int64_t revision);
// One transaction: the events, and history in (trim_from, trim_to] dropped.
// `gives_room`: these are deletions, which may use the disk's reserve.
base::Status persist(rt::KvStore& kv, const TableKeys& tables, const std::vector<Event>& events, std::int64_t trim_from,
                     std::int64_t trim_to, bool gives_room);
// One transaction, which may use the disk's reserve: history in (trim_from, trim_to] dropped.
base::Status trim(rt::KvStore& kv, std::int64_t trim_from, std::int64_t trim_to);

}  // namespace store

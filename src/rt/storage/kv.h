// A durable ordered map of byte strings (LMDB). One writer thread at a time; any number of short readers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rt {

class KvWriter {
 public:
  virtual ~KvWriter() = default;
  virtual void put(std::string_view key, std::string_view value) = 0;
  virtual void erase(std::string_view key) = 0;
};

class KvStore {
 public:
  virtual ~KvStore() = default;
  // One synced transaction: after an ok the changes survive kill -9 and power loss. On an error (a full disk:
  // kUnavailable, naming path and reason) nothing was changed.
  virtual base::Status commit(const std::function<void(KvWriter&)>& changes) = 0;
  // The same for changes that give room back (deletions): it may use the room that is kept for them when a disk is
  // full.
  virtual base::Status commit_with_reserve(const std::function<void(KvWriter&)>& changes) { return commit(changes); }
  // Visits the keys in [begin, end) in order until `visit` returns false. An empty `end` means "no end".
  // Views are valid during the call only.
  virtual base::Status scan(std::string_view begin, std::string_view end,
                            const std::function<bool(std::string_view key, std::string_view value)>& visit) const = 0;
};

// Opens or creates `path` (a folder, mode 0700). The file is looked through first (rt/storage/lmdb_file.h): a damaged,
// emptied or missing one is an error that says what is wrong and what can be done, never a new database in its place.
// Another process that has it open is waited for a moment (one that was killed lets go of its lock late), then an
// error.
base::Result<std::unique_ptr<KvStore>> open_lmdb(const std::string& path, std::size_t map_bytes_max);
// Keeps other processes from opening the store in the folder `path`, until destroyed. Waits as open_lmdb() does.
class StoreLock {
 public:
  virtual ~StoreLock() = default;
};
base::Result<std::unique_ptr<StoreLock>> lock_store(const std::string& path);
// In memory, for tests and simulation.
std::unique_ptr<KvStore> make_memory_kv();

}  // namespace rt

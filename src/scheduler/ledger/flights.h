// Which writes are under way, unconfirmed or lost, and does the server's word count meanwhile?
//
// Owned by the ledger; loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace scheduler {

// Fields that are written together. Pods are told apart by their uid, groups by "namespace/name", the others by name.
enum class Entry : std::uint8_t { kPodStatus, kBinding, kEviction, kGate, kGroup, kQueue, kShard };

class Flights {
 public:
  void begin(Entry entry, std::string_view key);
  // `version`: of the object after the write, as answered; empty: it was not written. True when the server said
  // something later meanwhile, which did not count: it has to be asked.
  bool end(Entry entry, std::string_view key, std::string_view version = {});
  bool is_under_way(Entry entry, std::string_view key) const;
  std::size_t under_way(Entry entry) const { return open_[static_cast<std::size_t>(entry)]; }

  // A write failed, so that the object may say something else than the ledger does, until it is heard again.
  void doubt(Entry entry, std::string_view key) { flights_[flight_key(entry, key)].is_doubtful = true; }
  // Whether the server agrees is not known: a write failed, and nothing has been heard since.
  bool is_doubtful(Entry entry, std::string_view key) const;

  // Whether the server's word at this version counts; then our own writes are known to be part of it.
  bool counts(Entry entry, std::string_view key, std::string_view version);
  // The server has no such object any more: what was lost of it is of no interest, and nothing of it is kept.
  void forget(Entry entry, std::string_view key);
  // The number of objects with a write under way, unconfirmed or lost.
  std::size_t size() const { return flights_.size(); }

 private:
  struct Flight {
    int open = 0;
    bool is_doubtful = false;
    bool is_forgotten = false;  // the object is gone
    std::string answered;       // version that our last write made, as long as no watch has shown it
    std::string unheard;        // the last version that did not count while a write was under way
  };
  static std::string flight_key(Entry entry, std::string_view key);

  static constexpr std::size_t kEntries = 7;

  std::unordered_map<std::string, Flight> flights_;
  std::size_t open_[kEntries] = {};
};

// Versions of one resource grow; where they are missing (files) everything counts as new.
bool is_newer(std::string_view version, std::string_view than);

}  // namespace scheduler

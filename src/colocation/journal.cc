// How entries are counted and kept.
#include "colocation/journal.h"

#include <algorithm>

namespace colocation {

namespace {

constexpr std::size_t kEntriesMax = 1024;

}  // namespace

void Journal::add(const JournalEntry& entry) {
  if (means_.options.metrics)
    means_.options.metrics
        ->counter("volcano_agent_group_writes_total", {entry.feature, entry.error.empty() ? "ok" : "error"})
        .add();
  // The same failure each ten seconds says nothing new.
  const bool repeated = !entry.error.empty() && std::ranges::any_of(entries_, [&entry](const JournalEntry& other) {
    return other.file == entry.file && other.error == entry.error && other.after == entry.after;
  });
  if (repeated) return;
  entries_.push_back(entry);
  if (entries_.size() > kEntriesMax) entries_.pop_front();
}

}  // namespace colocation

// The journal of what the agent has written: values of control groups, and packet rules.
#pragma once

#include <deque>

#include "colocation/agent_means.h"
#include "colocation/machine/group_writer.h"

namespace colocation {

// Owns the latest entries, and counts all of them. Loop thread only.
class Journal {
 public:
  explicit Journal(const AgentMeans& means) : means_(means) {}

  void add(const JournalEntry& entry);
  const std::deque<JournalEntry>& entries() const { return entries_; }

 private:
  const AgentMeans& means_;
  std::deque<JournalEntry> entries_;
};

}  // namespace colocation

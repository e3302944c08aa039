// Small counts per node.
#pragma once

#include <cstdint>
#include <vector>

namespace scheduler {

// Sorted by node; zero entries are dropped.
class NodeCounts {
 public:
  struct Entry {
    std::uint32_t node;
    std::int64_t count;
  };
  void add(std::uint32_t node, std::int64_t amount);
  std::int64_t get(std::uint32_t node) const;
  const std::vector<Entry>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }

 private:
  std::vector<Entry> entries_;
};

}  // namespace scheduler

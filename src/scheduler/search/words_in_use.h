// The words of a set that hold its members: a domain's nodes mostly stand together, and the rest need not be looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/model/nodes/node_set.h"

namespace scheduler {

struct WordRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};
inline WordRange words_in_use(const NodeSet& nodes) {
  const std::vector<std::uint64_t>& words = nodes.words();
  WordRange out{0, words.size()};
  while (out.begin < out.end && words[out.begin] == 0) ++out.begin;
  while (out.end > out.begin && words[out.end - 1] == 0) --out.end;
  return out;
}

}  // namespace scheduler

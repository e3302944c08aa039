// In which order do jobs stand by their keys? Kept from one question to the next; what came and went is put right when
// somebody asks, so that loading many jobs costs one sort.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/model/core/ids.h"
#include "scheduler/model/core/job.h"

namespace scheduler {

class SortedJobs {
 public:
  void add(JobId id) { added_.push_back(id); }
  void remove(JobId id) { removed_.push_back(id); }
  // The jobs in use, by their keys. An id that was removed may have been added again, with another key.
  const std::vector<JobId>& of(const std::vector<Job>& jobs) {
    if (!removed_.empty()) {
      std::vector<bool> gone(jobs.size());
      for (const JobId id : std::exchange(removed_, {})) gone[id.index] = true;
      std::erase_if(sorted_, [&](JobId id) { return gone[id.index]; });
    }
    if (!added_.empty()) {
      const auto before = [&](JobId a, JobId b) { return jobs[a.index].key < jobs[b.index].key; };
      std::erase_if(added_, [&](JobId id) { return !jobs[id.index].in_use; });
      // API servers list in this order.
      if (!std::is_sorted(added_.begin(), added_.end(), before)) sort(added_, jobs);
      added_.erase(std::unique(added_.begin(), added_.end()), added_.end());
      const auto middle = static_cast<std::ptrdiff_t>(sorted_.size());
      sorted_.insert(sorted_.end(), added_.begin(), added_.end());
      std::inplace_merge(sorted_.begin(), sorted_.begin() + middle, sorted_.end(), before);
      added_ = {};
    }
    return sorted_;
  }

 private:
  // By the eight bytes behind what all keys have in common, and by whole keys where these are equal.
  static void sort(std::vector<JobId>& ids, const std::vector<Job>& jobs) {
    const std::string_view first = jobs[ids.front().index].key;
    std::size_t common = first.size();
    for (const JobId id : ids) {
      const std::string_view key = jobs[id.index].key;
      const std::size_t most = std::min(common, key.size());
      common =
          static_cast<std::size_t>(std::mismatch(key.begin(), key.begin() + most, first.begin()).first - key.begin());
    }
    std::vector<std::pair<std::uint64_t, JobId>> ranked;
    ranked.reserve(ids.size());
    for (const JobId id : ids) {
      const std::string_view rest = std::string_view(jobs[id.index].key).substr(common);
      std::uint64_t rank = 0;
      for (std::size_t i = 0; i < sizeof rank; ++i)
        rank = rank << 8 | (i < rest.size() ? static_cast<unsigned char>(rest[i]) : 0U);
      ranked.emplace_back(rank, id);
    }
    std::sort(ranked.begin(), ranked.end(), [&](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : jobs[a.second.index].key < jobs[b.second.index].key;
    });
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = ranked[i].second;
  }

  std::vector<JobId> sorted_, added_, removed_;
};

}  // namespace scheduler

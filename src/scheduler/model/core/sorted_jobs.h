// In which order do jobs stand by their keys? Kept from one question to the next; what came and went is put right when
// somebody asks, so that loading many jobs costs one sort.
#pragma once

#include <algorithm>
#include <iterator>
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
      if (!std::is_sorted(added_.begin(), added_.end(), before)) std::sort(added_.begin(), added_.end(), before);
      added_.erase(std::unique(added_.begin(), added_.end()), added_.end());
      const auto middle = static_cast<std::ptrdiff_t>(sorted_.size());
      sorted_.insert(sorted_.end(), added_.begin(), added_.end());
      std::inplace_merge(sorted_.begin(), sorted_.begin() + middle, sorted_.end(), before);
      added_ = {};
    }
    return sorted_;
  }

 private:
  std::vector<JobId> sorted_, added_, removed_;
};

}  // namespace scheduler

// The troubles that jobs met while they were tried in this session.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler/framework/wait_reason.h"
#include "scheduler/model/core/digest.h"
#include "scheduler/model/core/ids.h"
#include "scheduler/search/fit.h"

namespace scheduler {

struct JobProblem {
  std::map<std::string, FitErrors, std::less<>> by_task;  // by pod name, so that the quoted one is the smallest
  // Some task of the role (Role position), of this part of the job (SubJob), found no node.
  bool has_failed(std::uint32_t part, std::uint32_t role) const {
    return std::binary_search(failed_roles.begin(), failed_roles.end(), std::pair(part, role));
  }
  void record_failed(std::uint32_t part, std::uint32_t role) {
    const auto at = std::lower_bound(failed_roles.begin(), failed_roles.end(), std::pair(part, role));
    if (at == failed_roles.end() || *at != std::pair(part, role)) failed_roles.insert(at, {part, role});
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> failed_roles;  // ascending
  std::string text;                                                   // of the job as a whole
  // Parts of the job with a task that the queue may not take; what lacked for the first of each, beside what was
  // placed before it.
  std::map<std::uint32_t, std::optional<Shortage>> over_limit;
  std::string evictions;  // why no eviction makes room for it, in the words of the actions that looked for one
  // A digest of the messages for the job and its pods, without the amounts that a queue lacked.
  std::uint64_t digest() const;
};

inline std::uint64_t JobProblem::digest() const {
  Digest out;
  out.add(text);
  out.add(evictions);
  for (const auto& [pod, errors] : by_task) {
    out.add(pod);
    out.add(errors.digest());
  }
  for (const auto& [part, shortage] : over_limit) out.add(part);
  return out.value();
}

class JobProblems {
 public:
  JobProblem& of(JobId job) { return jobs_[job.index]; }
  JobProblem* find(JobId job) {
    const auto found = jobs_.find(job.index);
    return found == jobs_.end() ? nullptr : &found->second;
  }
  const JobProblem* find(JobId job) const {
    const auto found = jobs_.find(job.index);
    return found == jobs_.end() ? nullptr : &found->second;
  }
  void clear(JobId job) { jobs_.erase(job.index); }
  // 0: it met none.
  std::uint64_t digest_of(JobId job) const {
    const JobProblem* found = find(job);
    return found == nullptr ? 0 : found->digest();
  }

  // Allocate passed the queue over: others come first.
  void record_overused(QueueId queue) { overused_.insert(queue.index); }
  bool is_overused(QueueId queue) const { return overused_.contains(queue.index); }

 private:
  std::unordered_map<std::uint32_t, JobProblem> jobs_;
  std::set<std::uint32_t> overused_;  // queues
};

}  // namespace scheduler

// What did jobs meet while they were tried in this session?
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "scheduler/framework/wait_reason.h"
#include "scheduler/model/core/ids.h"
#include "scheduler/search/fit.h"

namespace scheduler {

struct JobTrouble {
  std::map<std::string, FitErrors, std::less<>> by_task;    // by pod name, so that the quoted one is the smallest
  std::map<std::uint32_t, std::vector<bool>> failed_roles;  // by part of the job (SubJob), by Role position
  bool has_failed(std::uint32_t part, std::uint32_t role) const {
    auto found = failed_roles.find(part);
    return found != failed_roles.end() && role < found->second.size() && found->second[role];
  }
  std::string text;  // of the job as a whole
  // Parts of the job with a task that the queue may not take; what lacked for the first of each, beside what was
  // placed before it.
  std::map<std::uint32_t, std::optional<Shortage>> over_limit;
};

class Troubles {
 public:
  JobTrouble& of(JobId job) { return jobs_[job.index]; }
  JobTrouble* find(JobId job) {
    const auto found = jobs_.find(job.index);
    return found == jobs_.end() ? nullptr : &found->second;
  }
  const JobTrouble* find(JobId job) const {
    const auto found = jobs_.find(job.index);
    return found == jobs_.end() ? nullptr : &found->second;
  }
  void clear(JobId job) { jobs_.erase(job.index); }

  // Allocate passed the queue over: others come first.
  void note_overused(QueueId queue) { overused_.insert(queue.index); }
  bool is_overused(QueueId queue) const { return overused_.contains(queue.index); }

 private:
  std::unordered_map<std::uint32_t, JobTrouble> jobs_;
  std::set<std::uint32_t> overused_;  // queues
};

}  // namespace scheduler

// Why does each group wait? Found at the close, for those that were looked at and did not start.
#pragma once

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler/session/job_problems.h"
#include "scheduler/session/session_input.h"
#include "scheduler/session/statuses.h"
#include "scheduler/session/unschedulable.h"

namespace scheduler {

class Reasons {
 public:
  // All of them outlive it.
  Reasons(const SessionInput& input, const JobProblems& troubles, const Statuses& statuses)
      : in_(input), troubles_(troubles), statuses_(statuses), impossible_(input.model, input.plugins) {}

  // The reason as people are told it. Says the same as before as long as nothing but the amounts changed that come and
  // go with other groups, so that it need not be written again. Empty where nothing is known. Valid until the next
  // call.
  Explanation sentence(const Job& job);
  // Reasons of quiet jobs, before the close: other reasons than admission's depend on what other jobs of the queue
  // hold. A job whose sentence is no longer true counts as changed.
  void refresh(const std::vector<JobId>& quiet_jobs);
  // The job waits: its reason is handed out at the end.
  void record(const Job& job) {
    of(job);
    waiting_.push_back(job.id);
  }
  std::vector<std::pair<JobId, WaitReason>> take();
  // Wishes that nodes and queues, as they are in this cycle, can never meet.
  Unschedulable& impossible() { return impossible_; }

 private:
  template <class P, class... A>
  decltype(auto) ask(const A&... args) const {
    return in_.plugins.ask<P>(args...);
  }
  // Why the job waits now, in numbers. Before the close undoes anything. `may_be_impossible`: as far as is known.
  WaitReason reason_of(const Job& job, bool may_be_impossible);
  WaitReason cause_of(const Job& job, bool may_be_impossible);
  const WaitReason& of(const Job& job);
  void add_evictions(const Job& job, WaitReason& out) const;
  bool refused_by_admission(const Job& job, bool may_be_impossible, WaitReason& out);
  bool met_trouble(const Job& job, WaitReason& out) const;
  void describe_search(const Job& job, const std::string& pod, const FitErrors& errors, WaitReason& out) const;
  void describe_room(Dim dim, std::int64_t amount, WaitReason& out) const;
  // The free amount of a resource on nodes: the one that has most, and all together.
  struct Room {
    std::int64_t most = 0;
    std::int64_t sum = 0;
    std::string most_text, sum_text;
  };
  const Room& room_of(Dim dim) const;
  bool limited_by_queue(const Job& job, TaskId first, WaitReason& out) const;
  // The last reason of the job holds but for amounts, which are renewed.
  bool is_still_true(const Job& job) const;
  // The same of one that its search gave: false when now one pod would fit where none did, or the other way round.
  bool renew_room(WaitReason& shown) const;
  // True while the shortage that made the job impossible lasts.
  bool still_limits(const Job& job, const Shortage& shown) const;

  const SessionInput& in_;
  const JobProblems& troubles_;
  const Statuses& statuses_;
  Unschedulable impossible_;
  std::unordered_map<std::uint32_t, WaitReason> found_;  // by job
  std::vector<JobId> waiting_;
  mutable std::map<Dim, Room> rooms_;  // while no node is touched
  mutable std::pair<std::uint64_t, std::size_t> rooms_at_{};
};

}  // namespace scheduler

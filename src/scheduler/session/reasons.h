// Why does each group wait? Found at the close, for those that were looked at and did not start.
#pragma once

#include <utility>
#include <vector>

#include "scheduler/session/session_input.h"
#include "scheduler/session/statuses.h"
#include "scheduler/session/troubles.h"

namespace scheduler {

class Reasons {
 public:
  // All of them outlive it.
  Reasons(const SessionInput& input, const Troubles& troubles, const Statuses& statuses)
      : in_(input), troubles_(troubles), statuses_(statuses) {}

  // Why the job waits now, in numbers. Before the close undoes anything.
  WaitReason reason_of(const Job& job) const;
  // Of quiet jobs: other reasons than admission's depend on what other jobs of the queue hold.
  void refresh();
  void find(const Job& job) { found_.emplace_back(job.id, reason_of(job)); }
  std::vector<std::pair<JobId, WaitReason>> take() { return std::move(found_); }

 private:
  template <class P, class... A>
  decltype(auto) ask(const A&... args) const {
    return in_.plugins.ask<P>(args...);
  }

  const SessionInput& in_;
  const Troubles& troubles_;
  const Statuses& statuses_;
  std::vector<std::pair<JobId, WaitReason>> found_;
};

}  // namespace scheduler

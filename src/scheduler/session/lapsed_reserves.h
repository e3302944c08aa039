// Which admitted groups hold nothing back any more? Groups that can never start, and groups whose pods do not come.
//
// A group that was let in keeps its minimum from others until it runs. When it can never run, or when fewer pods than
// its minimum exist for a minute, the plugins are told in each cycle that its reserve has lapsed (ReserveLapsed), until
// that has ended.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "scheduler/model/core/ids.h"

namespace scheduler {

struct Job;
class Unschedulable;
struct SessionInput;

// How long an admitted group may lack pods before its reserve lapses.
inline constexpr base::Duration kPodsMissingMax = base::seconds(60);
// The reason of the condition of a group whose reserve lapsed for lack of pods: what was found survives a restart.
inline constexpr std::string_view kReserveLapsed = "ReserveLapsed";

// Owned by the decider.
class LapsedReserves {
 public:
  // Once in a cycle, when the plugins are open.
  void settle(const SessionInput& in, Unschedulable& impossible);
  bool has(JobId job) const { return why(job) != Why::kHolds; }
  bool lacks_pods(JobId job) const { return why(job) == Why::kLacksPods; }
  // When the next reserve lapses for lack of pods although nothing else happens; unset: never.
  std::optional<base::Time> next_due() const { return next_due_; }

 private:
  enum class Why : std::uint8_t { kHolds, kNever, kLacksPods };
  struct Verdict {
    std::uint64_t changes = 0;  // Job::changes when it was found whether the job can never start
    bool is_never = false;
    Why why = Why::kHolds;
  };

  void follow(const SessionInput& in);
  Why why(JobId job) const { return job.index < verdicts_.size() ? verdicts_[job.index].why : Why::kHolds; }
  bool can_never_start(const SessionInput& in, Unschedulable& impossible, const Job& job);
  bool has_lacked_pods(const SessionInput& in, const Job& job);

  std::vector<Verdict> verdicts_;  // by job
  std::set<JobId> admitted_;       // jobs that were let in and are short of their minimum
  std::vector<JobId> lapsed_;      // of the last cycle
  std::optional<base::Time> next_due_;
};

}  // namespace scheduler

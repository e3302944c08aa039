// Which single pods are held back because a ResourceClaim of theirs is not there yet?
//
// They have no turn, as kube-scheduler's have none: most claims are made from templates a moment after their pods. A
// pod that still lacks one after a while has one turn, to be told why it waits.
//
// A value without a clock: every call is told the time. Pods are known by their uid.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "scheduler/single_pods/pod_queue.h"

namespace scheduler {

class ClaimHolds {
 public:
  // The pod lacks this claim ("namespace/name"; empty: its status does not name it yet). False: it was held before.
  bool hold(WaitingPod pod, std::string claim, base::Time now);
  // It has its claims, or is gone.
  void release(std::string_view uid);
  bool holds(std::string_view uid) const { return entries_.find(uid) != entries_.end(); }
  // The pods that lack this claim.
  std::vector<WaitingPod> lacking(std::string_view claim) const;

  // The pods that have lacked a claim for so long that they have their turn to be told; each once.
  std::vector<WaitingPod> take_overdue(base::Time now);
  std::optional<base::Time> next_due() const;
  // The pods that had it, in the order of their keys.
  std::vector<std::string> reported_keys() const;

 private:
  struct Entry {
    WaitingPod pod;
    std::string claim;
    bool is_reported = false;
  };
  struct Overdue {
    base::Time due;
    std::string uid;  // it may be gone, and come again
  };

  std::map<std::string, Entry, std::less<>> entries_;                            // by uid
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> uids_;  // by claim; none is empty
  std::deque<Overdue> overdue_;                                                  // in order of time
};

}  // namespace scheduler

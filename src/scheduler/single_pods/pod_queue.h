// In which order do single pods have their turn, and when does one that found no node have another?
//
//            came                      its turn                    a node was found
//   ------------------------> active ----------------> deciding ----------------------> gone
//                              ^  ^                     |     |
//          the pause is over   |  | it was not bound    |     | no node
//                  back-off ---+  +---------------------+     v
//                      ^                                 unschedulable
//                      +---- something changed that may help, or five minutes passed
//
// A value without a clock: every call is told the time. Pods are known by their uid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/time.h"

namespace scheduler {

// How urgent a pod is that has to be decided once more; users may write any number of their own.
inline constexpr std::int64_t kUrgentPod = 100;

struct WaitingPod {
  std::string uid;
  std::string key;              // "namespace/name"
  std::int64_t urgency = 0;     // volcano.sh/scheduling-priority; higher goes first
  std::int32_t priority = 0;    // of the pod; higher goes first
  bool waits_for_pods = false;  // where it may go depends on other pods
};

class PodQueue {
 public:
  // A pod waits for a node. `is_other`: it is new, or differs so that it may find one now where it did not before. A
  // pod that is being decided stays so.
  void put(WaitingPod pod, bool is_other, base::Time now);
  // It is gone, or has a node.
  void remove(std::string_view uid);
  // The pod whose turn it is; until one of the two below or remove() it is being decided.
  std::optional<WaitingPod> take();
  void found_no_node(std::string_view uid, base::Time now);
  // A node was found, and the pod could not be bound to it: at once, and before others. From the second time on only
  // after a pause.
  void was_not_bound(std::string_view uid, base::Time now);

  // Room came, or facts changed: unschedulable pods may find a node. After a pause that grows with their failures.
  void something_changed(base::Time now) { wake_unschedulable(now, false); }
  // A pod was placed, which takes room, and helps only those that wish to be near others.
  void pod_was_placed(base::Time now) { wake_unschedulable(now, true); }
  // Pauses end.
  void pass_time(base::Time now);
  // When pass_time() would move a pod; unset: never.
  std::optional<base::Time> next_due() const;

  bool has_active() const { return !active_.empty(); }
  std::size_t size() const { return entries_.size(); }
  // In the order of their turns, for tests and for people.
  std::vector<std::string> active_keys() const;
  std::vector<std::string> unschedulable_keys() const;

 private:
  enum class At : std::uint8_t { kActive, kBackOff, kUnschedulable, kDeciding };
  struct Entry {
    WaitingPod pod;
    At at = At::kActive;
    std::uint64_t number = 0;  // who came first, where times are equal
    std::int64_t urgency = 0;  // of this turn
    base::Time since;          // when it came to where it is
    int failures = 0;          // turns without a node
    int lost_bindings = 0;     // in a row
    base::Time due;            // kBackOff: the end of the pause; kUnschedulable: when it is tried again in any case
  };
  using Order = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::uint64_t>;
  using Due = std::pair<std::int64_t, std::uint64_t>;
  using Entries = std::map<std::string, Entry, std::less<>>;

  static Order order_of(const Entry& entry);
  static base::Duration pause_after(int failures);
  void leave(Entries::iterator at);
  void enter(Entries::iterator at, At where, base::Time now, base::Time due = {});
  void wake(Entries::iterator at, base::Time now);
  void wake_unschedulable(base::Time now, bool only_near_pods);

  Entries entries_;  // by uid
  std::map<Order, Entries::iterator> active_;
  std::map<Due, Entries::iterator> backing_off_;
  std::map<Due, Entries::iterator> unschedulable_;
  std::size_t unschedulable_near_pods_ = 0;  // of them, those that wait for pods
  std::uint64_t last_number_ = 0;
};

}  // namespace scheduler

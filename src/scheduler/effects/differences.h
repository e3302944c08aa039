// Decisions in which this scheduler differs from the one that runs. For a scheduler that decides and writes nothing.
//
// Both see the same cluster. A plan says what is new: what it decided about a pod counts until the pod is bound by the
// other, which is when both are compared. An act of only one of the two is a difference after a while, for the other
// may be about to do the same.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/time.h"
#include "scheduler/session/plan.h"

namespace scheduler {

struct Difference {
  enum class Kind : std::uint8_t {
    kSame,         // bound to the node that we would have taken; none, and counted only
    kNode,         // bound to another node
    kOnlyThere,    // bound, where it would wait here
    kOnlyHere,     // would be bound here, and waits
    kEvictedHere,  // would be evicted here, and stays
    kEvictedBoth,  // would be evicted here, and has gone; counted only
  };
  Kind kind = Kind::kSame;
  std::string group;  // "ns/group", or "ns/pod" of a pod without one
  std::string ns, pod, uid;
  std::string here, there;  // nodes; empty: it waits
  base::Time at;
};
std::string_view word_for(Difference::Kind kind);

// Loop thread only. Bounded: of differences the last ones are kept.
class Differences {
 public:
  explicit Differences(std::vector<std::string> scheduler_names) : names_(std::move(scheduler_names)) {}

  // A pod as it is now, or is no more.
  void saw(const api::Json& pod, base::Time now);
  void gone(std::string_view uid, base::Time now);
  void decided(const Plan& plan, base::Time now);

  // The differences since this was asked last.
  std::vector<Difference> take_news();
  // One line for each group of them.
  static std::vector<std::string> lines(const std::vector<Difference>& news);
  // When something may become a difference by itself; unset: nothing does.
  std::optional<base::Time> next_due() const;
  // For /debug/differences.
  api::Json report() const;

 private:
  struct Waiting {
    std::string group, ns, pod, here;
    base::Time since{};  // when `here` was first one
    bool reported = false;
  };
  struct Evicted {
    std::string group, ns, pod, node;
    base::Time since;
    bool reported = false;
  };
  void add(Difference difference);

  std::vector<std::string> names_;
  std::map<std::string, Waiting, std::less<>> waiting_;  // by uid, as what follows
  std::map<std::string, Evicted, std::less<>> evicted_;
  std::map<Difference::Kind, std::uint64_t> counts_;
  std::vector<Difference> news_;
  std::deque<Difference> last_;
};

}  // namespace scheduler

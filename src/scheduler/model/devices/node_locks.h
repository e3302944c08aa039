// Which nodes count as locked by the pods that are on their way to them?
//
// Until a node's annotation says so itself. A pod may be bound long before it starts, and nobody sees when its lock was
// released: it counts from `since` for as long as locks last.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"

namespace scheduler {

class NodeLocks {
 public:
  using Times = std::map<std::string, base::Time, std::less<>>;

  void take(std::string_view annotation, std::string_view pod_uid, base::Time since) {
    times_.insert_or_assign(key_of(annotation, pod_uid), since);
  }
  bool is_taken(std::string_view annotation, std::string_view pod_uid) const {
    return times_.contains(key_of(annotation, pod_uid));
  }
  // Ends the locks taken at that time or before.
  void end(base::Time taken_until) {
    std::erase_if(times_, [&](const auto& one) { return one.second <= taken_until; });
  }
  // By "annotation/uid of the pod"; for dumps.
  const Times& times() const { return times_; }
  void restore(std::string key, base::Time since) { times_.insert_or_assign(std::move(key), since); }

 private:
  static std::string key_of(std::string_view annotation, std::string_view pod_uid) {
    std::string out(annotation);
    out += '/';
    out += pod_uid;
    return out;
  }

  Times times_;
};

}  // namespace scheduler

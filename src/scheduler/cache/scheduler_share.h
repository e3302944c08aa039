// Which part of the pods, groups and nodes is this scheduler's, where several schedulers of one name share them?
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "api/json/json.h"

namespace scheduler {

// A ring of points, twenty for each member "<base>-<i>", at the CRC-32 (IEEE) of "<point><member>". A key belongs to
// the member of the next point clockwise from its own CRC-32.
class SchedulerShare {
 public:
  SchedulerShare() = default;  // everything is ours
  // `pod_name` is "<base>-<i>"; of `members` schedulers. Anything else, or one member, makes everything ours.
  SchedulerShare(std::string_view pod_name, int members);

  bool owns(std::string_view key) const { return ring_.empty() || member_of(key) == self_; }
  // Pods and groups go by the name of their first owner, or else their own; nodes by their name.
  bool owns_object(const api::Json& object) const;

 private:
  const std::string& member_of(std::string_view key) const;

  std::string self_;
  std::map<std::uint32_t, std::string> ring_;
};

}  // namespace scheduler

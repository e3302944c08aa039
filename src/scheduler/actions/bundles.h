// Which pods of other groups could go from a domain together, and at what price to their groups?
//
// The pods that one group has in the domain fall into two bundles: those it can lose and go on (safe), and the rest,
// whose loss ends the group (whole). A group that is disrupted as a whole is one bundle, with its pods outside the
// domain; one whose pods are disrupted each alone has no pods but safe ones.
#pragma once

#include <vector>

#include "scheduler/session/session.h"

namespace scheduler {

struct Bundle {
  enum class Type : std::uint8_t { kSafe, kWhole };
  Type type = Type::kSafe;
  JobId job;
  std::vector<TaskId> tasks;  // in the domain, unless the group goes as a whole
};

struct BundleRequest {
  GangEviction eviction;
  Request need;           // of what is to be placed
  const NodeSet& inside;  // the nodes of the domain
  bool allow_whole = true;
};

// In the order in which they are to go; plugins have agreed to every task.
std::vector<Bundle> select_bundles(Session& session, const BundleRequest& request);

}  // namespace scheduler

// Why does a group wait? The smallest true reason, as numbers; the text for people is made from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "api/json/json.h"

namespace scheduler {

// What a queue lacks for a request: amounts are quantities ("1500m", "8Gi").
struct QueueShortage {
  std::string queue;  // the one whose limit it is: the group's own or an ancestor
  std::string limit;  // which of its numbers: capability, deserved
  std::string resource;
  std::string allowed;  // at most
  std::string used;     // by what runs, is promised or admitted
  std::string wanted;   // by the pod, or by the group's minimum at its admission
};

enum class WaitKind : std::uint8_t {
  kQueueNotFound,
  kQueueNotOpen,
  kNotEnoughPods,  // fewer pods exist than the group must start with
  kNotAdmitted,    // some plugin holds the group back, in its own words
  kQueueLimit,
  kQueueOverused,
  kGated,
  kRefused,    // no node was looked at: the pod itself cannot be placed
  kResources,  // nodes lack a resource
  kFilter,     // nodes drop out for another reason
  kDomain,     // no domain of the network is large enough
  kReleasing,  // places are promised and not yet free
  kUnknown,
};
std::string_view name_of(WaitKind kind);

struct WaitReason {
  WaitKind kind = WaitKind::kUnknown;
  std::string queue;
  std::int32_t pods = 0;     // of the group that exist
  std::int32_t minimum = 0;  // that must start together
  std::int32_t missing = 0;  // of them, that have no place
  std::string detail;        // a plugin's or a filter's words
  std::string pod;           // whose search is described
  QueueShortage shortage;    // kQueueLimit
  // kResources, kFilter: nodes looked at, and those that the resource or the filter removed.
  std::size_t nodes = 0;
  std::size_t refused = 0;
  std::string resource;   // kResources
  std::string wanted;     // by one pod
  std::string most_free;  // on one node, without the group
  std::string free;       // on all nodes together, without the group
  std::string domain;     // kDomain, kResources and kFilter inside one

  // One sentence.
  std::string message() const;
  api::Json json() const;
};

// {"ns/group": {"reason", "message", ...}}.
api::Json waiting_json(const std::map<std::string, WaitReason>& waiting);

}  // namespace scheduler

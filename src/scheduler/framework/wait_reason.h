// Why does a group wait? The smallest true reason, as numbers; the sentence for people is made from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/schema/quantity.h"

namespace scheduler {

enum class Limit : std::uint8_t {
  kCapability,  // what a queue may hold, spec.capability or what the nodes leave it
  kDeserved,    // its share, which changes with what others ask for
  kQuota,       // a ResourceQuota of the namespace
  kOvercommit,  // what the cluster admits
};
std::string_view name_of(Limit limit);

// A limit that leaves less of a resource than is wanted.
struct Shortage {
  Limit limit = Limit::kCapability;
  std::string name;  // of the queue (the group's own or an ancestor), or of the ResourceQuota
  std::string resource;
  api::Quantity allowed;      // at most
  double factor = 1;          // `allowed` is this multiple of what there is
  api::Quantity used;         // by what runs, is promised or admitted
  api::Quantity wanted;       // by the pods that are missing, or by the group's minimum at its admission
  bool is_admission = false;  // `used` counts admitted groups
  // The limit stays as it is until somebody changes a queue, a quota or the nodes.
  bool is_fixed() const { return limit == Limit::kCapability || limit == Limit::kQuota; }
  bool is_impossible() const { return is_fixed() && wanted > allowed; }
};

enum class WaitKind : std::uint8_t {
  kQueueNotFound,
  kQueueNotOpen,
  kNoNodes,
  kNotEnoughPods,  // fewer pods exist than the group must start with
  kNotAdmitted,    // some plugin holds the group back, in its own words
  kQueueLimit,
  kQueueOverused,
  kNamespaceQuota,  // a ResourceQuota of the namespace
  kClusterFull,     // the cluster admits no more
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
  // Not while nodes, queues and quotas are as large as they are, whoever leaves.
  bool is_impossible = false;
  bool holds_nothing = false;  // it was admitted, and keeps nothing from others meanwhile
  std::string queue;
  std::int32_t pods = 0;     // of the group that exist
  std::int32_t minimum = 0;  // that must start together
  std::int32_t missing = 0;  // of them, that have no place
  std::string detail;        // a plugin's or a filter's words
  std::string pod;           // whose search is described
  Shortage shortage;         // kQueueLimit, kNamespaceQuota, kClusterFull
  // kResources, kFilter: nodes looked at, and those that the resource or the filter removed.
  std::size_t nodes = 0;
  std::size_t refused = 0;
  std::string resource;    // kResources
  std::string wanted;      // by one pod
  std::string most_free;   // on one node, without the group
  std::string free;        // on all nodes together, without the group
  bool is_of_pod = false;  // kFilter: the pod itself is refused, whatever the nodes are like
  bool fits_one = false;   // one node has enough for one pod, but not all that are missing find room
  std::string domain;      // kDomain, kResources and kFilter inside one
  std::string evictions;   // why no eviction makes room, where the configuration has evictions

  // One sentence.
  std::string message() const;
  api::Json json() const;
  // A digest of the sentence without the amounts that change as other groups come and go: where it is the same, an
  // earlier sentence need not be said again. Never 0.
  std::uint64_t digest() const;
};

// {"ns/group": {"reason", "message", ...}}.
api::Json waiting_json(const std::map<std::string, WaitReason>& waiting);

}  // namespace scheduler

// User namespaces of pods: which ids of the host they have, the namespaces, and mounts in which files change owners.
//
// Id n of a pod is id FIRST + n of the host, 0 <= n < 65536, and no two pods have a FIRST in common. A mount with
// mapped ids shows the host's id n as the pod's id n.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "node/machine/security_context.h"

namespace node {

// Above the ids that machines give to users, and below those that some programs take for negative.
inline constexpr std::int64_t kPodIdsBegin = kPodIds * 16;
inline constexpr std::int64_t kPodIdsEnd = std::int64_t{1} << 31;

// The first id of a range that is not taken; the same for one pod wherever that can be. Pure.
std::optional<std::int64_t> choose_pod_ids(std::string_view pod_uid, const std::set<std::int64_t>& taken);

// Files on which the namespaces of one pod are kept; the last two belong to the first.
struct NamespaceFiles {
  std::string user;
  std::string network;
  std::string ipc;
};
// Makes the namespaces, and mounts them on the files, which are there.
base::Status pin_namespaces(const NamespaceFiles& files, std::int64_t first_id);

// Mounts what lies at `source` on `at`, with the ids of the namespace kept on `user_file`.
struct MappedMount {
  std::string source;
  std::string at;
  std::string user_file;
  bool read_only = false;
  bool below = true;  // with what is mounted below `source`
};
base::Status mount_mapped(const MappedMount& mount);

// Tries all that a pod with a user namespace needs. The part that failed, or nothing.
struct MappedTrial {
  std::string scratch;  // a folder of the data folder's, made and taken away
  std::string roots;    // where root file systems are mounted
  std::string lower;    // what the first layer of one can be
};
std::string missing_for_user_namespaces(const MappedTrial& trial);

}  // namespace node

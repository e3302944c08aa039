// Words that webhooks and policies share: what may be said, and what is said of the rest.
#pragma once

#include <array>
#include <string_view>

namespace admission {

// The events of lifecycle policies of jobs and tasks; other events and actions are internal.
inline constexpr std::array<std::string_view, 8> kPolicyEvents = {
    "*", "PodPending", "PodFailed", "PodEvicted", "Unknown", "TaskCompleted", "TaskFailed", "JobUpdated"};
inline constexpr std::array<std::string_view, 8> kPolicyActions = {"AbortJob",    "RestartJob",       "RestartTask",
                                                                   "RestartPod",  "RestartPartition", "TerminateJob",
                                                                   "CompleteJob", "ResumeJob"};

// Plugins that need the others of their job: they get `svc`.
inline constexpr std::array<std::string_view, 4> kDistributedPlugins = {"tensorflow", "mpi", "pytorch", "ray"};

// Resources that are counted in whole numbers, beside extended ones.
inline constexpr std::array<std::string_view, 9> kCountedResources = {"pods",
                                                                      "services",
                                                                      "replicationcontrollers",
                                                                      "resourcequotas",
                                                                      "secrets",
                                                                      "configmaps",
                                                                      "persistentvolumeclaims",
                                                                      "services.nodeports",
                                                                      "services.loadbalancers"};

inline constexpr std::string_view kHierarchy = "volcano.sh/hierarchy";
inline constexpr std::string_view kWeights = "volcano.sh/hierarchy-weights";
inline constexpr std::string_view kMinAvailable = "volcano.sh/jdb-min-available";
inline constexpr std::string_view kMaxUnavailable = "volcano.sh/jdb-max-unavailable";
inline constexpr std::string_view kNamespaceQueue = "scheduling.volcano.sh/queue-name";
inline constexpr std::string_view kAllowedNamespaces = "volcano.sh/allowed-namespaces";
inline constexpr std::string_view kAllowedUsers = "volcano.sh/allowed-users";
inline constexpr std::string_view kAllowedGroups = "volcano.sh/allowed-groups";

inline constexpr std::string_view kBothTiers =
    "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously";
inline constexpr std::string_view kTwoClaims =
    "conflict: If you want to use an existing PVC, just specify VolumeClaimName.If you want to create a new "
    "PVC, you do not need to specify VolumeClaimName";
inline constexpr std::string_view kFrozenJob =
    "job updates may not change fields other than `minAvailable`, `tasks[*].replicas under spec` and "
    "`PriorityClassName`";
inline constexpr std::string_view kFrozenRoot =
    "root queue's resource attributes (capability, deserved, guarantee) cannot be modified";

}  // namespace admission

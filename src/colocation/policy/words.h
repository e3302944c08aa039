// The names of labels, annotations, resources and features of co-location (agent.md 1).
#pragma once

#include <string_view>

#include "base/flags.h"

namespace colocation {

inline constexpr std::string_view kColocationLabel = "volcano.sh/colocation";
inline constexpr std::string_view kOversubscriptionLabel = "volcano.sh/oversubscription";
inline constexpr std::string_view kPolicyLabel = "colocation-policy";
inline constexpr std::string_view kTypesAnnotation = "volcano.sh/oversubscription-types";
inline constexpr std::string_view kBandwidthAnnotation = "volcano.sh/network-bandwidth-rate";
inline constexpr std::string_view kEvictingTaint = "volcano.sh/offline-job-evicting";

inline constexpr std::string_view kQosLevel = "volcano.sh/qos-level";
inline constexpr std::string_view kBurstAnnotation = "volcano.sh/enable-quota-burst";
inline constexpr std::string_view kBurstTimeAnnotation = "volcano.sh/quota-burst-time";
inline constexpr std::string_view kPodConfigAnnotation = "volcano.sh/colocation-config";

inline constexpr std::string_view kBatchCpu = "kubernetes.io/batch-cpu";
inline constexpr std::string_view kBatchMemory = "kubernetes.io/batch-memory";

// The words that Go takes for true; any other is false.
inline bool is_true(std::string_view text) { return base::parse_bool(text).value_or(false); }

}  // namespace colocation

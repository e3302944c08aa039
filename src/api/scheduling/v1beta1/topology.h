// The limits on how far the pods of a group may spread over the network: shared by Job, PodGroup and their parts.
#pragma once

#include <cstdint>

#include "api/schema/fields.h"

namespace api {

inline constexpr std::string_view kDnsSubdomainPattern =
    R"(^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$)";
inline constexpr std::string_view kDnsLabelPattern = R"(^[a-z0-9]([-a-z0-9]*[a-z0-9])?$)";

struct NetworkTopologySpec {
  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.NetworkTopologySpec";
  static constexpr auto fields() {
    return rows(
        field<Text>("mode", {.default_json = "\"hard\"", .enumeration = "hard|soft"},
                    "hard: must fit inside the allowed tier; soft: a preference."),
        field<std::int64_t>("highestTierAllowed", {.minimum = 0}, "The highest HyperNode tier the pods may span."),
        field<Text>("highestTierName", {.length_max = 253}, "The same, by the tier's name."));
  }
};

}  // namespace api

// Offline jobs of vsub: they ask for the idle amounts that a node offers (docs/colocation.md).
#pragma once

#include <string_view>

#include "api/json/json.h"

namespace cli {

inline constexpr std::string_view kQosLevelAnnotation = "volcano.sh/qos-level";

// Processors and memory of requests and limits become idle ones.
void ask_for_idle_amounts(api::Json& resources);

}  // namespace cli

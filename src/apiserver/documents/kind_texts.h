// The texts of `kubectl explain` about kinds, and about the two members that every object begins with.
#pragma once

#include <string_view>

#include "api/kinds.h"

namespace apiserver {

// One or two sentences about a kind of this program; empty for Kubernetes' own kinds.
std::string_view kind_text(const api::KindInfo& kind);

constexpr std::string_view kApiVersionText =
    "The group and version whose form this object has; a server may show the same object in several.";
constexpr std::string_view kKindText = "What this object is: the name of its type, in CamelCase. It never changes.";

}  // namespace apiserver

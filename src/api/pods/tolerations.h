// Which taints of nodes does a pod put up with? Pure functions; any thread.
#pragma once

#include <initializer_list>
#include <string_view>

#include "api/json/json.h"

namespace api {

// The first of a pod's tolerations that tolerates `taint`; null: none does.
const Json* toleration_of(const Json& spec, const Json& taint);

// Whether `node` has a taint of one of these effects that a pod of this spec does not tolerate.
bool has_taint_against(const Json& spec, const Json& node, std::initializer_list<std::string_view> effects);

}  // namespace api

// Why does a PodGroup wait, as the controller of its job tells people?
#pragma once

#include <string>

#include "api/json/json.h"

namespace controllers {

// The group's newest condition that holds, in the group; null: there is none, or it is that the group was scheduled.
const api::Json* trouble_of_group(const api::Json& group);
// The first sentence of the condition, 1 KiB at most: why the group waits. The rest counts pods, which come and go. Of
// null: empty.
std::string waiting_sentence(const api::Json* trouble);

}  // namespace controllers

// Was a pod taken away by others? Its end then says nothing about what ran in it.
#pragma once

#include "api/json/json.h"

namespace controllers {

// True if a pod that has failed was deleted, preempted or evicted, or its node was shut down. A pod that went beyond a
// limit of its own failed by itself.
bool is_disrupted(const api::Json& pod);

// True if all containers of a pod that is being deleted had ended before the second in which the deletion was asked
// for.
bool ended_before_deletion(const api::Json& pod);

}  // namespace controllers

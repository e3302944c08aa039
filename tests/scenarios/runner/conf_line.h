// Which configuration does a conf line say?
//
//   conf actions="enqueue, allocate" tiers="priority gang(enablePreemptable=false) | predicates" ACTION.ARGUMENT=VALUE
#pragma once

#include "api/json/json.h"
#include "line.h"

namespace scenario {

// The document that a file of the scheduler's configuration would hold.
api::Json configuration_from(const Line& line);

}  // namespace scenario

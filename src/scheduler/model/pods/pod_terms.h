// The terms of a pod about other pods: affinity, anti-affinity and spread constraints of its shape.
#pragma once

#include "scheduler/model/pods/shape.h"

namespace scheduler {

// Into `out`; too many (kPodTermsMax, kPodRequirementsMax): `has_too_many_terms`, and none of them.
void read_pod_terms(const api::Json& pod, Symbols& symbols, MatcherSource& matchers, Shape& out);

}  // namespace scheduler

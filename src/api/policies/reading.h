// The shared parts of the readers of policies and of webhooks.
#pragma once

#include <string>
#include <vector>

#include "api/policies/policy.h"
#include "api/policies/problems.h"

namespace api::policies::policy_detail {

// The parts of a policy beside its expressions (check.cc).
void read_frame(const Json& spec, Policy& out, Problems& problems);
// Rules and selectors (check.cc); `path` is where they are.
Rule read_rule(const Json& given, const std::string& path, Problems& problems);
LabelSelector read_selector(const Json& given, const std::string& path, Problems& problems);
// Further problems of a selector that can be read: it goes on selecting where it is stored already.
void check_selector_names(const Json& given, const std::string& path, Problems& problems);
// Match conditions without variables and parameters (expressions.cc). `out.conditions` receives them.
void read_plain_conditions(const Json& list, const std::string& path, Policy& out, Problems& problems);

}  // namespace api::policies::policy_detail

// Do the writes of a plan keep to the rows of its controller?
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controllers/framework/controller.h"
#include "controllers/framework/plan.h"

namespace controllers {

// The verbs of the API that an action needs, separated by blanks. Empty: it writes no object, or only events, which
// every controller makes, or it writes in the name of another account, whose rights decide.
std::string_view write_verbs_of(const Action& action);

// The first write of a plan that no row allows, as "VERB RESOURCE.GROUP". Empty: the rows allow all.
std::string write_beyond(const std::vector<Write>& rows, const Plan& plan);

}  // namespace controllers

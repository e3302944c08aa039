// A random configuration: actions, plugins in tiers, their arguments and switches.
#pragma once

#include <set>
#include <string>

#include "base/random.h"

namespace scenario {

struct Policy {
  std::string line;  // "conf actions=... tiers=..." with its patch, if any
  std::set<std::string> plugins;
  bool hierarchy = false;  // of capacity or drf
  bool shares_cards = false, shares_vgpus = false, shares_npus = false;
};

Policy random_policy(base::Random& dice);

}  // namespace scenario

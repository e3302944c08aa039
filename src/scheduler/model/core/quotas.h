// Which ResourceQuotas does each namespace have, and how much of them is used? As their status says, by raw names.
#pragma once

#include <map>
#include <string>

#include "api/schema/quantity.h"

namespace scheduler {

struct Quota {
  api::ResourceList hard;
  api::ResourceList used;
  bool operator==(const Quota&) const = default;
};

// By namespace, then by name.
using Quotas = std::map<std::string, std::map<std::string, Quota>, std::less<>>;

}  // namespace scheduler

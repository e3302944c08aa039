// By how much does a queue's limit fall short of what is wanted?
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "scheduler/framework/wait_reason.h"
#include "scheduler/model/model.h"

namespace scheduler {

// Of the dimensions in which `used` + `wanted` exceed `allowed`, the one that exceeds it most in proportion; the first
// dimension among equals. Nothing when all fit.
inline std::optional<QueueShortage> shortage_of(const Model& model, const Queue& limited, std::string limit,
                                                const Resource& used, const Resource& wanted, const Resource& allowed) {
  std::vector<Dim> failing;
  const Resource sum = used + wanted;
  if (sum.fits_wanted(allowed, wanted, &failing)) return std::nullopt;
  Dim worst = failing.front();
  const auto excess = [&](Dim d) { return sum.get(d) / std::max(allowed.get(d), 1.0); };
  for (const Dim d : failing) {
    if (excess(d) > excess(worst)) worst = d;
  }
  const auto text = [&](const Resource& amount) {
    return Dimensions::quantity_of(worst, amount.get(worst)).to_string();
  };
  return QueueShortage{limited.name,  std::move(limit), model.dimensions.name(worst),
                       text(allowed), text(used),       text(wanted)};
}

}  // namespace scheduler

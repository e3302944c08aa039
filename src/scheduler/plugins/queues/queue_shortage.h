// By how much does a limit fall short of what is wanted?
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "scheduler/framework/amount_text.h"
#include "scheduler/framework/wait_reason.h"
#include "scheduler/model/model.h"

namespace scheduler {

// The dimension in which `used` + `wanted` exceed `allowed` that tells most: one in which more is wanted than is
// allowed at all, then the one that exceeds it most in proportion; among equals the one that stands before the others
// in texts. `limited` null: the cluster. Empty when all fit.
inline std::optional<Shortage> shortage_of(const Model& model, const Queue* limited, Limit limit, const Resource& used,
                                           const Resource& wanted, const Resource& allowed) {
  std::vector<Dim> failing;
  const Resource sum = used + wanted;
  if (sum.fits_wanted(allowed, wanted, &failing)) return std::nullopt;
  const auto rank = [&](Dim d) {
    return std::pair(wanted.get(d) > allowed.get(d), sum.get(d) / std::max(allowed.get(d), 1.0));
  };
  Dim worst = failing.front();
  for (const Dim d : failing) {
    if (rank(d) > rank(worst) || (rank(d) == rank(worst) && stands_before(model.dimensions, d, worst))) worst = d;
  }
  const auto quantity = [&](const Resource& amount) { return Dimensions::quantity_of(worst, amount.get(worst)); };
  return Shortage{.limit = limit,
                  .name = limited != nullptr ? limited->name : "",
                  .resource = model.dimensions.name(worst),
                  .allowed = quantity(allowed),
                  .used = quantity(used),
                  .wanted = quantity(wanted)};
}

}  // namespace scheduler

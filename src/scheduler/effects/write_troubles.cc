// Each kind of trouble with a kind of write is logged once, until such a write succeeds.
#include "scheduler/effects/write_troubles.h"

#include <utility>

#include "base/format.h"
#include "base/log.h"
#include "scheduler/effects/retry.h"

namespace scheduler {

void WriteTroubles::report(const client::Request& request, const base::Result<api::Json>& result) {
  const std::string what = request.resource.plural + (request.subresource.empty() ? "" : "/" + request.subresource);
  const bool is_there = !result.ok() && result.error().code == base::Code::kAlreadyExists;
  if (result.ok() || is_there || is_overtaken(result.error().code)) {
    if (result.ok() || is_there) known_.erase(what);
    return;
  }
  const auto [known, fresh] = known_.try_emplace(what, result.error().code);
  if (fresh || std::exchange(known->second, result.error().code) != result.error().code)
    base::log_warning("scheduler", base::format("{} cannot be written: {}", what, result.error().message));
}

}  // namespace scheduler

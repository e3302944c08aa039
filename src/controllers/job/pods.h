// The pods of a Job as it wants them: metadata, spec, volumes, and the plugins' edits.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "api/json/json.h"
#include "base/result.h"
#include "controllers/job/job.h"

namespace controllers::job {

inline constexpr std::string_view kOutOfSync = "volcano.sh/controller-out-of-sync";

struct MadePod {
  api::Json object;
  std::size_t bytes;  // as text, about
};

// Pod `index` of `task`. An error comes from a plugin, and names it, or says that the pod is too large.
base::Result<MadePod> pod_for(const Job& job, const Task& task, std::int64_t index, bool forwarding);

// `length` characters of [0-9a-z] that only the uid and `salt` decide: hard to guess, the same when asked again.
std::string derived_text(std::string_view uid, std::string_view salt, std::size_t length);

}  // namespace controllers::job

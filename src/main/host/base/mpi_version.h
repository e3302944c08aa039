// --mpi-job-version: which of the two kinds of MPIJob a cluster has.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "api/kubeflow/v1/run_policy.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/result.h"

namespace volcano_main {

inline constexpr std::string_view kMpiVersionHelp =
    "which MPIJobs there are: v1 (its launcher reaches workers by exec) or v2beta1 (by ssh)";

inline base::Status check_mpi_version(std::string_view version) {
  if (std::ranges::find(api::kMpiJobVersions, version) != std::end(api::kMpiJobVersions)) return {};
  return base::make_error(base::Code::kInvalid,
                          base::format("--mpi-job-version: \"{}\" is none of v1, v2beta1", version));
}

}  // namespace volcano_main

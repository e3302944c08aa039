// The limits that the kernel holds a container to, by its control group, and the order in which its processes die.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "api/json/json.h"
#include "node/os/cgroups.h"

namespace node {

// The limits of a control group. An unset one was not to be read.
struct KernelLimits {
  std::optional<std::int64_t> cpu_shares;          // of v1; v2 has a weight, which each runtime makes in its own way
  std::optional<std::int64_t> cpu_quota;           // of 100 ms; 0: none
  std::optional<std::int64_t> memory_limit_bytes;  // 0: none
};
// `read` gives a file's text; `path` as in cgroups.h. Pure.
KernelLimits kernel_limits(const CgroupLayout& layout, const std::string& path,
                           const std::function<std::string(const std::string&)>& read);
// `resources` that a container was told to have, with other amounts where the kernel has others. Pure.
api::Json with_kernel_limits(const api::Json& reported, const KernelLimits& limits);

// The processes of the group and of those below it that have the one score get the other.
void set_oom_scores(const CgroupLayout& layout, const std::string& path, int before, int after);

}  // namespace node

// Which system calls a container may make: the profile that RuntimeDefault names, as an OCI runtime takes it. Pure.
#pragma once

#include <string>
#include <vector>

#include "api/json/json.h"

namespace node {

// `capabilities` are the container's, by their full names: some calls belong to one. A call that is not listed fails
// with EPERM; names that the machine's kernel or library does not know are left out by the runtime.
api::Json default_seccomp(const std::vector<std::string>& capabilities);

}  // namespace node

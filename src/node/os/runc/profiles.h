// The machine's own profiles that a pod can name: seccomp files, AppArmor profiles.
#pragma once

#include <set>
#include <string>

#include "api/json/json.h"
#include "base/result.h"
#include "node/machine/runtime.h"

namespace node {

// `name` is a path below `folder`, as OCI runtimes read it.
base::Result<api::Json> seccomp_profile(const std::string& folder, const std::string& name);

struct AppArmor {
  bool enabled = false;
  std::set<std::string> profiles;  // loaded into the kernel
};
AppArmor read_apparmor();
// The profile to start a container under, or empty for none.
std::string apparmor_profile_for(const Confinement& wanted, const AppArmor& machine);

}  // namespace node

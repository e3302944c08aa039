// The rights that a pod may ask for its containers: every field of its security contexts is obeyed or refused by name.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "api/json/json.h"
#include "node/machine/runtime.h"

namespace node {

// The means of this machine and its runtime.
struct SecurityMeans {
  bool containers = true;  // false: plain processes of the host
  bool root = true;        // this program runs as root
  std::int64_t user = 0;   // and if not, as whom
  bool seccomp = true;
  bool apparmor = false;
  std::set<std::string> apparmor_profiles;  // loaded
  // Why pods cannot have user namespaces; empty: they can.
  std::string no_user_namespaces = "user namespaces are not supported by this node's runtime";
};

// How many ids a pod with a user namespace has, as users and as groups.
inline constexpr std::int64_t kPodIds = 65536;

// The AppArmor profile that RuntimeDefault means, where the machine's administrator has loaded one of that name.
inline constexpr std::string_view kAppArmorDefault = "volcano-default";

// Why the pod cannot run, beginning with the field's path; or nothing.
std::optional<std::string> security_refusal(const api::Json& pod, const SecurityMeans& means);
// Names that become paths, numbers that become ids: the same for every runtime.
std::optional<std::string> shape_refusal(const api::Json& pod);
// Sets the rights of a pod that was not refused.
void set_security(const api::Json& pod, const api::Json& container, ContainerSpec& spec);

}  // namespace node

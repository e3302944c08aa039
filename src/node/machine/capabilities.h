// The kernel's capabilities, and which of them a container has. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "node/machine/runtime.h"

namespace node {

// "NET_ADMIN", "CAP_NET_ADMIN", in any case; "ALL".
bool is_capability(std::string_view name);
// Full names. `available` are those that the machine has to give, as bits.
std::vector<std::string> capabilities_of(const ContainerSpec& spec, std::uint64_t available);

}  // namespace node

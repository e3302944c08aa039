// The address of a server that a stranger names, for a program that reaches more than the stranger does.
#pragma once

#include <string>

#include "base/result.h"

namespace rt {

// The first address of `host`, a name or an address, that other machines could reach, too: none of this machine's
// loopback, of its links (where clouds answer with credentials), or of groups. Blocks while the name is looked up.
base::Result<std::string> open_address(const std::string& host);

}  // namespace rt

// Which sockets are in a folder, and in folders below it.
#pragma once

#include <map>
#include <string>

namespace node {

inline constexpr std::size_t kSocketsMax = 256;
inline constexpr int kSocketDepthMax = 4;

// By path, and what tells a socket from another one that took its path. Names that begin with a dot are left out, as
// by a kubelet; so is what goes beyond the limits. Blocking.
std::map<std::string, std::string> sockets_below(const std::string& folder);

}  // namespace node

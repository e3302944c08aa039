// Bridges whose program was killed for good: who has one, which are left, and their removal.
//
// A bridge says in its alias that it is ours, and in which subnet. Its user holds a claim, a socket's abstract name:
// the kernel keeps such names for each network namespace, as it does with bridges, and drops them with the process.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json/json.h"

namespace node {

class BridgeClaim {
 public:
  // Empty while another process holds it.
  static std::optional<BridgeClaim> take(const std::string& bridge);
  BridgeClaim(BridgeClaim&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  BridgeClaim& operator=(BridgeClaim&& other) noexcept {
    std::swap(socket_, other.socket_);
    return *this;
  }
  ~BridgeClaim();

 private:
  explicit BridgeClaim(int socket) : socket_(socket) {}
  int socket_;
};

// "volcano:10.200.7.0/24".
std::string bridge_alias(const std::string& subnet);

// Whether this network namespace has any of ours.
bool has_bridges();

struct LeftBridge {
  std::string name;
  std::string subnet;
  bool operator==(const LeftBridge&) const = default;
};
// The bridges in the output of `ip -json link show` that are ours and that nothing is plugged into, but `own`. Pure.
std::vector<LeftBridge> unused_bridges(const api::Json& links, std::string_view own);

// The bridges of them that are not claimed: a pod that still runs keeps its bridge, for whoever starts there again.
// Blocks.
struct ClaimedBridge {
  LeftBridge bridge;
  BridgeClaim claim;  // until the bridge is gone
};
std::vector<ClaimedBridge> claim_left_bridges(std::string_view own);

}  // namespace node

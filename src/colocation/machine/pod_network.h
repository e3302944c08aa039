// The network of this machine as the agent asks and sets it: the interfaces whose other ends are in pods, which pod
// that is, and the packet rules. Tests have another one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "colocation/machine/packet_rules.h"

namespace colocation {

// An interface of this machine whose other end is in another network namespace.
struct PodInterface {
  std::string name;
  std::uint32_t peer = 0;  // the kernel's number of that namespace
};

// One user at a time. Errors are those of the kernel: kNotFound, kForbidden, kUnavailable.
class PodNetwork {
 public:
  virtual ~PodNetwork() = default;
  virtual base::Result<std::vector<PodInterface>> interfaces() = 0;
  // The number of the network namespace that a process is in; unset: no interface leads there, or the process has
  // ended.
  virtual std::optional<std::uint32_t> namespace_of(int pid) = 0;
  // kNotFound: an interface is gone, and nothing has changed.
  virtual base::Status set(const std::string& table, const PacketRules& rules) = 0;
  // kNotFound: the table is gone.
  virtual base::Result<PacketCounts> counts(const std::string& table) = 0;
};

// By netlink, so that no program is needed: CAP_NET_ADMIN for rules, no right for the rest.
std::unique_ptr<PodNetwork> make_kernel_network();

}  // namespace colocation

// Pods' addresses: one bridge, and a pair of virtual interfaces a pod. The settings are made with iproute2.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "node/os/network/guard.h"
#include "node/os/network/left_bridges.h"
#include "node/os/user_namespace.h"

namespace node {

// The files that hold a pod's namespaces.
struct PodNamespaces {
  NamespaceFiles files;
  std::optional<std::int64_t> first_id = {};  // of the host's ids, when it has a user namespace of its own
};

// The hardware address of who has this address of IPv4: "10.1.2.3" is "0a:58:0a:01:02:03". The next owner of the
// address has the same one, so that no neighbour table is wrong.
std::string hardware_address(const std::string& ip);

// Thread-safe.
class Network {
 public:
  // `folder` keeps which bridge and subnet are ours. An empty `subnet` means a free one.
  base::Status open(const std::string& folder, const std::string& subnet);
  // Addresses that running pods have.
  void take(const std::string& ip);
  base::Status ensure_bridge();
  const std::string& gateway() const { return gateway_; }
  const std::string& bridge() const { return bridge_; }
  std::string subnet() const { return prefix_ + "0/24"; }
  // Addresses of services, which this machine must have a way to although nobody has them: "10.96.0.0/12". Before
  // ensure_bridge().
  void reach(std::string services) { services_ = std::move(services); }

  // Makes the pinned namespaces and the interfaces; gives the pod's address. `wanted` is used if it is free.
  base::Result<std::string> connect(const std::string& pod_uid, const PodNamespaces& pod, const std::string& wanted);
  void disconnect(const std::string& pod_uid, const PodNamespaces& pod, const std::string& ip);
  // Takes the bridge away.
  void close();

 private:
  base::Status choose(const std::string& subnet);
  void make_way_to_services();
  std::string free_address(const std::string& wanted);

  std::mutex mutex_;
  std::string folder_;
  std::string bridge_;
  std::optional<BridgeClaim> claim_;  // of the bridge, as long as we are there
  std::string prefix_;                // "10.231.7."
  std::string gateway_;               // prefix + "1"
  std::string services_;
  std::set<std::string> used_;
  int next_ = 2;  // the last byte that is tried first
  NetworkGuard guard_;
  bool up_ = false;
  bool forwarding_set_ = false;
};

// Whether packet filters see what pods of one bridge say to each other; makes it so where the kernel can. Blocks.
bool sees_bridged_packets();

bool is_namespace_file(const std::string& path);

}  // namespace node

// Pods' addresses: one bridge, and a pair of virtual interfaces a pod. The settings are made with iproute2.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "base/result.h"

namespace node {

// Thread-safe.
class Network {
 public:
  // `folder` keeps which bridge and subnet are ours. An empty `subnet` means a free one.
  base::Status open(const std::string& folder, const std::string& subnet);
  // Addresses that running pods have.
  void take(const std::string& ip);
  base::Status ensure_bridge();
  const std::string& gateway() const { return gateway_; }

  // Makes the pinned namespaces and the interfaces; gives the pod's address. `wanted` is used if it is free.
  base::Result<std::string> connect(const std::string& pod_uid, const std::string& network_file,
                                    const std::string& ipc_file, const std::string& wanted);
  void disconnect(const std::string& pod_uid, const std::string& network_file, const std::string& ipc_file,
                  const std::string& ip);
  // Takes the bridge away.
  void close();

 private:
  base::Status choose(const std::string& subnet);
  std::string free_address(const std::string& wanted);

  std::mutex mutex_;
  std::string folder_;
  std::string bridge_;
  std::string prefix_;   // "10.231.7."
  std::string gateway_;  // prefix + "1"
  std::set<std::string> used_;
  int next_ = 2;  // the last byte that is tried first
  bool up_ = false;
  bool forwarding_set_ = false;
};

bool is_namespace_file(const std::string& path);

}  // namespace node

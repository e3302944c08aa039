// The frames that a pod's interface may send: those of IPv4 and ARP with the pod's own addresses. Pods have raw
// sockets, and one that speaks with another's address would be judged as that one. A table of nftables, before the
// bridge learns anything.
#pragma once

#include <mutex>
#include <string>
#include <vector>

namespace node {

// Thread-safe; its methods block.
class NetworkGuard {
 public:
  // Makes the table, unless an earlier run has. A kernel that cannot is named in the log, and pods are not held to
  // their addresses.
  void open(const std::string& bridge);
  // Before the interface is plugged into the bridge.
  void let(const std::string& interface, const std::string& hardware, const std::string& ip);
  // An interface that is gone.
  void forget(const std::string& interface, const std::string& hardware, const std::string& ip);
  void close();

 private:
  std::mutex mutex_;
  std::string table_;              // empty: there is none
  std::vector<std::string> gone_;  // words that go with the next ones
};

// Takes away the tables of a bridge that nobody uses any more: of services, policies and this one.
void remove_tables_of(const std::string& bridge);

// The table of policies.
std::string policy_table_of(const std::string& bridge);

}  // namespace node

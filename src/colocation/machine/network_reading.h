// One look at the network of pods: which interfaces are whose, the uplink, and what was sent. Blocks for as long as a
// few files and questions a pod take.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "colocation/files/host_files.h"
#include "colocation/machine/pod_network.h"
#include "colocation/policy/network_rate.h"

namespace colocation {

struct NetworkRequest {
  HostPaths paths;
  GroupTree tree;
  std::map<std::string, std::vector<std::string>> groups;  // of pods whose interfaces are looked for, by uid
};
struct NetworkReading {
  std::map<std::string, std::vector<std::string>> interfaces;  // by uid; a pod without one is not among them
  bool sees_processes = false;                                 // of at least one pod
  Uplink uplink;
  std::string trouble;  // empty: none
};
NetworkReading read_network(PodNetwork& network, const NetworkRequest& request);

// An interface that is gone, or whose counter makes no sense, is not among them.
SentBytes read_sent_bytes(const HostPaths& paths, const std::vector<std::string>& interfaces);

// Sets the rules, without the interfaces that have gone meanwhile, and gives those that were written.
base::Result<PacketRules> set_packet_rules(PodNetwork& network, const std::string& table, PacketRules rules);

}  // namespace colocation

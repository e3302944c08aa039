// The kernel's work with packets for NetworkPolicies: a value, and the words that lead the kernel from one such value
// to the next. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace node {

// A port of a pod that has a name.
struct PodPort {
  std::uint32_t address = 0;
  std::string protocol;  // as nftables names it
  std::uint16_t port = 0;

  auto operator<=>(const PodPort&) const = default;
};

// A part that has not changed is shared by two values, so that a comparison costs what differs.
template <class T>
using PolicyParts = std::map<std::string, std::shared_ptr<const T>>;

// Everything is found by its name. Names are digests: policies, namespaces and selectors have longer ones than the
// kernel takes.
struct PolicyRules {
  PolicyParts<std::set<std::uint32_t>> peers;    // sets of the pods that a selector of peers selects
  PolicyParts<std::set<PodPort>> ports;          // sets of all ports of pods with one name and protocol
  PolicyParts<std::vector<std::string>> chains;  // the rules of each, in order
  std::map<std::uint32_t, std::string> coming;   // pods isolated for ingress: the chain that judges their packets
  std::map<std::uint32_t, std::string> leaving;  // pods isolated for egress

  bool isolates(std::uint32_t address) const { return coming.contains(address) || leaving.contains(address); }
  bool empty() const { return coming.empty() && leaving.empty(); }
};
bool operator==(const PolicyRules& one, const PolicyRules& other);

// The chain that ends a packet.
inline constexpr const char* kRefuseChain = "refuse";

struct PolicyTable {
  std::string name;
  std::string bridge;  // that pods are on
  std::string subnet;  // of pods: "10.200.7.0/24"
};
// Input for `nft -f -`, one transaction. `before` is null for a table that is made anew.
std::string transaction(const PolicyTable& table, const PolicyRules* before, const PolicyRules& after);

}  // namespace node

// From pods, namespaces and NetworkPolicies to the kernel's rules. A book remembers what it was told, so that a change
// costs what it is about: its rules are always those of a new book that is told everything at once. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "node/policies/policy_rules.h"

namespace node {

// A port of a container that has a name, for policies that call it by that.
struct NamedPort {
  std::string name;
  std::string protocol;  // as nftables names it
  std::uint16_t port = 0;

  bool operator==(const NamedPort&) const = default;
};

// A pod with an address of its own. Pods on the host's network are the node, which policies do not judge.
struct PolicyPod {
  std::string ns;
  api::Json labels;
  std::uint32_t address = 0;
  std::vector<NamedPort> ports;

  bool operator==(const PolicyPod&) const = default;
};
PolicyPod policy_pod(const api::Json& pod, std::uint32_t address);

struct PolicyObjects {
  std::vector<PolicyPod> pods;  // of two with one address the last counts
  std::vector<const api::Json*> namespaces;
  std::vector<const api::Json*> policies;
};

// How many rules the kernel is told of for the policies of one namespace. A policy that goes beyond, by name, isolates
// its pods and allows nothing.
inline constexpr std::size_t kRulesOfANamespace = 4096;

class PolicyBook {
 public:
  PolicyBook();
  ~PolicyBook();
  PolicyBook(const PolicyBook&) = delete;
  PolicyBook& operator=(const PolicyBook&) = delete;

  const PolicyRules& update(const PolicyObjects& objects);
  const PolicyRules& rules() const;
  // The policies ("ns/name") that allow nothing because of their number of rules: that number.
  const std::map<std::string, std::size_t>& left_out() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A sentence for each part of a policy that matches nothing on this node: blocks of IPv6 addresses.
std::vector<std::string> policy_warnings(const api::Json& policy);

}  // namespace node

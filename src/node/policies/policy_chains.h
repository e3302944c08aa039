// The rules of one NetworkPolicy in the kernel's words, and the selectors that they stand on. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "api/selector.h"

namespace node {

// As nftables names the protocol of a port; empty: none that we know.
std::string_view policy_protocol(std::string_view protocol);

// The pods that a policy speaks of: of one namespace, or of all that their labels select.
struct PodSelection {
  std::string ns = {};  // empty: `of_namespaces` decides
  api::LabelSelector of_namespaces = {};
  api::LabelSelector of_pods = {};
  bool none = false;  // a malformed one selects nothing
};
struct NamedSelection {
  std::string name;  // of its set in the kernel
  PodSelection selection;
};

// One direction of one policy.
struct PolicyChain {
  std::vector<std::string> rules;             // those that accept
  std::size_t cost = 0;                       // how many there are; above kRulesOfAPolicy none was made
  std::map<std::string, PodSelection> peers;  // by the name of the set
  std::map<std::string, std::pair<std::string, std::string>> named_ports;  // by the set's name: protocol, name
};

struct PolicyFacts {
  NamedSelection subject;
  std::optional<PolicyChain> coming;   // unset: the policy does not isolate its pods for ingress
  std::optional<PolicyChain> leaving;  // the same for egress
};
// At most so many rules are made for one direction.
PolicyFacts policy_facts(const api::Json& policy, std::size_t rules_max);

// The digest of a text as the name of a set or chain: "peers-0123456789abcdef0123456789abcdef".
std::string policy_name(std::string_view what, std::string_view text);

// The addresses of {cidr, except}, as ranges in order that do not touch. A block of IPv6 has none.
struct AddressRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;

  bool operator==(const AddressRange&) const = default;
};
std::vector<AddressRange> block_ranges(const api::Json& block);

}  // namespace node

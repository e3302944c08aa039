// Peers and ports of policies as matches of nftables.
#include "node/policies/policy_chains.h"

#include <algorithm>
#include <set>

#include "api/ipv4.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "base/number.h"
#include "rt/tls/tls.h"

namespace node {

using api::Json;

namespace {

constexpr std::size_t kDigits = 32;
constexpr std::uint32_t kLastAddress = UINT32_MAX;
constexpr std::int64_t kLastPort = 65535;

// Ranges in order; those that overlap or touch are one.
template <class Number>
std::vector<std::pair<Number, Number>> merged(std::vector<std::pair<Number, Number>> ranges) {
  std::ranges::sort(ranges);
  std::vector<std::pair<Number, Number>> out;
  for (const auto& [first, last] : ranges) {
    if (!out.empty() && (first <= out.back().second || first == out.back().second + 1))
      out.back().second = std::max(out.back().second, last);
    else
      out.push_back({first, last});
  }
  return out;
}

// Bits behind the prefix may be set.
std::optional<AddressRange> range_of(std::string_view cidr) {
  const std::size_t slash = cidr.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto address = api::parse_ipv4(cidr.substr(0, slash));
  const auto bits = base::parse_number<unsigned>(cidr.substr(slash + 1));
  if (!address || !bits || *bits > 32) return std::nullopt;
  const std::uint32_t rest = *bits == 0 ? kLastAddress : *bits == 32 ? 0 : kLastAddress >> *bits;
  return AddressRange{*address & ~rest, *address | rest};
}

using Range64 = std::pair<std::int64_t, std::int64_t>;

std::string text_of(const std::vector<AddressRange>& ranges) {
  std::string text;
  for (const auto& [first, last] : ranges)
    text += base::format(
        "{}{}", text.empty() ? "" : ", ",
        first == last ? api::ipv4_text(first) : base::format("{}-{}", api::ipv4_text(first), api::ipv4_text(last)));
  return text;
}
std::string text_of(const std::vector<Range64>& ports) {
  std::string text;
  for (const auto& [first, last] : ports)
    text += base::format("{}{}", text.empty() ? "" : ", ",
                         first == last ? base::format("{}", first) : base::format("{}-{}", first, last));
  return text;
}

PodSelection selection_of(const std::string& ns, const Json& pods, const Json& namespaces) {
  PodSelection selection;
  const auto labels = [&](const Json& json) -> api::LabelSelector {
    if (!json.is_object()) return {};
    auto selector = api::label_selector_from(json);
    selection.none = selection.none || !selector.ok();
    return selector.ok() ? *std::move(selector) : api::LabelSelector{};
  };
  selection.of_pods = labels(pods);
  if (namespaces.is_object())
    selection.of_namespaces = labels(namespaces);
  else
    selection.ns = ns;
  return selection;
}

NamedSelection named(const std::string& ns, const Json& pods, const Json& namespaces) {
  const std::string where = namespaces.is_object() ? namespaces.sorted().dump() : ns;
  return {policy_name("peers", base::format("{} {}", where, pods.is_object() ? pods.sorted().dump() : "{}")),
          selection_of(ns, pods, namespaces)};
}

// The matches of the peers of one rule: any of them. An empty text matches everything.
std::vector<std::string> peer_matches(const Json& peers, const std::string& ns, const char* address,
                                      PolicyChain& chain) {
  if (peers.empty()) return {""};
  std::set<std::string> sets;
  std::vector<std::pair<std::int64_t, std::int64_t>> blocks;
  for (const Json& peer : peers.items()) {
    if (peer["ipBlock"].is_object()) {
      for (const AddressRange& range : block_ranges(peer["ipBlock"])) blocks.push_back({range.first, range.last});
      continue;
    }
    if (!peer["podSelector"].is_object() && !peer["namespaceSelector"].is_object()) continue;
    NamedSelection selection = named(ns, peer["podSelector"], peer["namespaceSelector"]);
    sets.insert(selection.name);
    chain.peers.emplace(selection.name, std::move(selection.selection));
  }
  std::vector<AddressRange> ranges;
  for (const auto& [first, last] : merged(std::move(blocks)))
    ranges.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last)});
  if (ranges == std::vector<AddressRange>{{0, kLastAddress}}) return {""};
  std::vector<std::string> matches;
  if (!ranges.empty()) matches.push_back(base::format("{} {{ {} }} ", address, text_of(ranges)));
  for (const std::string& set : sets) matches.push_back(base::format("{} @{} ", address, set));
  return matches;
}

// The matches of the ports of one rule: any of them.
std::vector<std::string> port_matches(const Json& ports, PolicyChain& chain) {
  if (ports.empty()) return {""};
  std::set<std::string> whole, names;
  std::map<std::string, std::vector<Range64>> numbers;
  for (const Json& port : ports.items()) {
    const std::string protocol(policy_protocol(port["protocol"].as_string()));
    const Json& number = port["port"];
    if (protocol.empty()) continue;
    if (number.is_null()) {
      whole.insert(protocol);
    } else if (number.is_string()) {
      const std::string set = policy_name("ports", base::format("{} {}", protocol, number.as_string()));
      chain.named_ports.emplace(set, std::pair(protocol, number.str()));
      names.insert(set);
    } else if (const std::int64_t first = number.as_int(), last = port["endPort"].as_int(first);
               first >= 1 && first <= last && last <= kLastPort) {
      numbers[protocol].push_back({first, last});
    }
  }
  std::vector<std::string> matches;
  for (const std::string& protocol : whole) matches.push_back(base::format("meta l4proto {} ", protocol));
  for (auto& [protocol, ranges] : numbers)
    if (!whole.contains(protocol))
      matches.push_back(base::format("{} dport {{ {} }} ", protocol, text_of(merged(std::move(ranges)))));
  for (const std::string& set : names) matches.push_back(base::format("ip daddr . meta l4proto . th dport @{} ", set));
  return matches;
}

PolicyChain chain_of(const Json& rules, const char* peers, const char* address, const std::string& ns,
                     std::size_t rules_max) {
  PolicyChain chain;
  for (const Json& rule : rules.items()) {
    const std::vector<std::string> from = peer_matches(rule[peers], ns, address, chain);
    const std::vector<std::string> to = port_matches(rule["ports"], chain);
    chain.cost += from.size() * to.size();
    if (chain.cost > rules_max) continue;
    for (const std::string& peer : from)
      for (const std::string& port : to) chain.rules.push_back(base::format("{}{}accept", peer, port));
  }
  if (chain.cost > rules_max) chain.rules.clear(), chain.peers.clear(), chain.named_ports.clear();
  return chain;
}

}  // namespace

std::string_view policy_protocol(std::string_view protocol) {
  if (protocol.empty() || protocol == "TCP") return "tcp";
  if (protocol == "UDP") return "udp";
  if (protocol == "SCTP") return "sctp";
  return {};
}

std::string policy_name(std::string_view what, std::string_view text) {
  return base::format("{}-{}", what, rt::sha256_hex(text).substr(0, kDigits));
}

std::vector<AddressRange> block_ranges(const Json& block) {
  const auto whole = range_of(block["cidr"].as_string());
  if (!whole) return {};
  std::vector<std::pair<std::int64_t, std::int64_t>> holes;
  for (const Json& one : block["except"].items())
    if (const auto hole = range_of(one.as_string())) holes.push_back({hole->first, hole->last});
  std::vector<AddressRange> ranges;
  std::int64_t at = whole->first;
  const auto add_until = [&](std::int64_t end) {
    if (at < end) ranges.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end - 1)});
  };
  for (const auto& [first, last] : merged(std::move(holes))) {
    if (last < at) continue;
    if (first > whole->last) break;
    add_until(first);
    at = last + 1;
  }
  add_until(std::int64_t{whole->last} + 1);
  return ranges;
}

PolicyFacts policy_facts(const Json& policy, std::size_t rules_max) {
  const Json& spec = policy["spec"];
  const std::string ns(api::namespace_of(policy));
  PolicyFacts facts{.subject = named(ns, spec["podSelector"], {}), .coming = {}, .leaving = {}};
  const Json& types = spec["policyTypes"];
  const auto is_of = [&](const char* type) {
    return std::ranges::any_of(types.items(), [&](const Json& one) { return one.as_string() == type; });
  };
  if (types.empty() || is_of("Ingress")) facts.coming = chain_of(spec["ingress"], "from", "ip saddr", ns, rules_max);
  if (types.empty() ? !spec["egress"].is_null() : is_of("Egress"))
    facts.leaving = chain_of(spec["egress"], "to", "ip daddr", ns, rules_max);
  return facts;
}

}  // namespace node

// The words that lead the kernel from one set of service rules to another.
#include <algorithm>
#include <set>

#include "api/ipv4.h"
#include "base/format.h"
#include "node/machine/service_rules.h"

namespace node {

namespace {

constexpr std::size_t kElementsOfALine = 1000;

// The parts of a table that no service changes.
std::string base_text(const ProxyTable& table) {
  static constexpr std::string_view kPort = "ip daddr . meta l4proto . th dport";
  std::string text = base::format("table ip {0}\ndelete table ip {0}\ntable ip {0} {{\n", table.name);
  text += "map services {\n type ipv4_addr . inet_proto . inet_service : verdict\n}\n";
  text += "map machine_ports {\n type inet_proto . inet_service : verdict\n}\n";
  // The number is which of the port's targets; a chain for each count of targets finds one at random. nft 1.0.6
  // cannot read a map back that it has written with `th` in its value.
  static constexpr std::string_view kTarget = "ip daddr . tcp dport", kNumber = "numgen random mod 65536";
  const auto map = [&](const char* name, std::string_view key) {
    text += base::format("map {} {{\n typeof {} : {}\n}}\n", name, key, kTarget);
  };
  map("service_targets", base::format("{} . {}", kPort, kNumber));
  map("machine_targets", base::format("meta l4proto . th dport . {}", kNumber));
  map("host_addresses", kPort);
  text += "set live {\n type ipv4_addr . inet_proto . inet_service\n}\n";
  text += "set addresses {\n type ipv4_addr\n}\n";
  text += "set dead_ports {\n type inet_proto . inet_service\n}\n";
  text += "set own {\n type ipv4_addr . ipv4_addr\n}\n";
  const std::string refuse_service = base::format("ip daddr @addresses ct state new {} != @live reject\n", kPort);
  const std::string refuse_port = "fib daddr type local ct state new meta l4proto . th dport @dead_ports reject\n";
  const std::string names_and_server =
      table.gateway.empty()
          ? std::string()
          : base::format("ip daddr {} meta l4proto {{ tcp, udp }} th dport {{ 53{} }} return\n", table.gateway,
                         table.api_port == 0 ? "" : base::format(", {}", table.api_port));
  const std::string server =
      table.api_port == 0 ? std::string() : base::format("fib daddr type local tcp dport {} return\n", table.api_port);
  // Packets to the loopback stay there: the kernel sends none of them on to pods. A pod's hostIP is this
  // machine's, or leads nowhere: else its maker would have what is meant for others.
  const std::string find_port =
      names_and_server + server +
      base::format(
          "fib daddr type local dnat ip to {} map @host_addresses\n"
          "ip daddr != 127.0.0.0/8 fib daddr type local meta l4proto . th dport vmap @machine_ports\n",
          kPort);
  // Other clusters of this machine may have the same addresses: pods mean those of their own.
  const std::string ours = base::format("iifname \"{}\" ", table.bridge);
  const auto chain = [&](const char* name, const char* head, const std::string& rules) {
    text += base::format("chain {} {{\ntype {}; policy accept;\n{}}}\n", name, head, rules);
  };
  chain("refuse_coming", "filter hook prerouting priority dstnat - 10", ours + refuse_service + refuse_port);
  chain("refuse_own", "filter hook output priority -110", refuse_service + refuse_port);
  chain("coming", "nat hook prerouting priority dstnat",
        base::format("{}{} vmap @services\n{}", ours, kPort, find_port));
  chain("own_output", "nat hook output priority -100", base::format("{} vmap @services\n{}", kPort, find_port));
  std::string leaving = "ct status dnat ip saddr . ip daddr @own masquerade\n";
  if (table.masquerade_all)
    leaving += base::format("ct status dnat ip saddr {0} ip daddr {0} masquerade\n", table.subnet);
  chain("leaving", "nat hook postrouting priority srcnat", leaving);
  return text + "}\n";
}

// A map of ports and the map of their targets.
struct PortMaps {
  const char* ports;
  const char* targets;
  char chain;         // the first letter of the chains that find a target
  const char* place;  // what they look up, but for the number
};
constexpr PortMaps kServicePorts{"services", "service_targets", 's', "ip daddr . meta l4proto . th dport"};
constexpr PortMaps kMachinePorts{"machine_ports", "machine_targets", 'm', "meta l4proto . th dport"};

std::string chain_of(const PortMaps& maps, const PortRules& rules) {
  return rules.chain.empty() ? base::format("{}{}", maps.chain, rules.targets.size()) : rules.chain;
}
std::string text_of(const Target& target) {
  return base::format("{} . {}", api::ipv4_text(target.address), target.port);
}

class Words {
 public:
  explicit Words(std::string table) : table_(std::move(table)) {}

  void line(const char* verb, const char* what, const std::string& rest) {
    text_ += base::format("{} {} ip {} {}\n", verb, what, table_, rest);
  }
  // Many to a line: nft reads each line as a command.
  void elements(const char* verb, const char* set, const std::vector<std::string>& all) {
    for (std::size_t at = 0; at < all.size(); at += kElementsOfALine) {
      std::string list;
      for (std::size_t i = at; i < std::min(all.size(), at + kElementsOfALine); ++i)
        list += (i == at ? "" : ", ") + all[i];
      line(verb, "element", base::format("{} {{ {} }}", set, list));
    }
  }
  void elements(const char* verb, const char* set, const std::set<std::string>& from,
                const std::set<std::string>& other) {
    std::vector<std::string> changed;
    std::ranges::set_difference(from, other, std::back_inserter(changed));
    elements(verb, set, changed);
  }
  // Ports, and their targets, of `from` that are not the same in `other`.
  void ports(const char* verb, const PortMaps& maps, const std::map<std::string, PortRules>& from,
             const std::map<std::string, PortRules>& other) {
    std::vector<std::string> ports, targets;
    for (const auto& [key, rules] : from) {
      const auto found = other.find(key);
      if (found != other.end() && found->second == rules) continue;
      const std::string chain = chain_of(maps, rules);
      if (found == other.end() || chain_of(maps, found->second) != chain)
        ports.push_back(base::format("{} : goto {}", key, chain));
      if (!rules.chain.empty()) continue;
      const bool compare = found != other.end() && found->second.chain.empty();
      for (std::size_t i = 0; i < rules.targets.size(); ++i)
        if (!compare || i >= found->second.targets.size() || found->second.targets[i] != rules.targets[i])
          targets.push_back(base::format("{} . {} : {}", key, i, text_of(rules.targets[i])));
    }
    elements(verb, maps.ports, ports);
    elements(verb, maps.targets, targets);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string table_;
  std::string text_;
};

std::set<std::string> keys_of(const std::map<std::string, PortRules>& map) {
  std::set<std::string> keys;
  for (const auto& [key, value] : map) keys.insert(key);
  return keys;
}

void write_elements(Words& words, const char* verb, const ServiceRules& from, const ServiceRules& other) {
  words.ports(verb, kServicePorts, from.services, other.services);
  words.elements(verb, "live", keys_of(from.services), keys_of(other.services));
  words.ports(verb, kMachinePorts, from.machine_ports, other.machine_ports);
  std::vector<std::string> hosts, own;
  for (const auto& [key, target] : from.host_addresses)
    if (const auto found = other.host_addresses.find(key);
        found == other.host_addresses.end() || found->second != target)
      hosts.push_back(base::format("{} : {}", key, text_of(target)));
  words.elements(verb, "host_addresses", hosts);
  words.elements(verb, "addresses", from.addresses, other.addresses);
  words.elements(verb, "dead_ports", from.dead_ports, other.dead_ports);
  for (const std::uint32_t address : from.own)
    if (!other.own.contains(address)) own.push_back(base::format("{0} . {0}", api::ipv4_text(address)));
  words.elements(verb, "own", own);
}

// All chains: those of services that keep their clients, and one for each count of targets.
std::map<std::string, std::vector<std::string>> chains_of(const ServiceRules& rules) {
  std::map<std::string, std::vector<std::string>> chains = rules.chains;
  const auto add = [&](const PortMaps& maps, const std::map<std::string, PortRules>& ports) {
    for (const auto& [key, port] : ports)
      if (port.chain.empty())
        if (const auto [at, is_new] = chains.try_emplace(chain_of(maps, port)); is_new)
          at->second = {base::format("dnat ip to {} . numgen random mod {} map @{}", maps.place, port.targets.size(),
                                     maps.targets)};
  };
  add(kServicePorts, rules.services);
  add(kMachinePorts, rules.machine_ports);
  return chains;
}

}  // namespace

std::string transaction(const ProxyTable& table, const ServiceRules* before, const ServiceRules& after) {
  static const ServiceRules kNothing;
  const ServiceRules& old = before != nullptr ? *before : kNothing;
  const auto old_chains = chains_of(old), new_chains = chains_of(after);
  Words words(table.name);
  // Chains and sets that others point at come first and go last.
  for (const auto& [set, seconds] : after.affinities)
    if (!old.affinities.contains(set))
      words.line("add", "set",
                 base::format("{} {{ type ipv4_addr; flags dynamic,timeout; timeout {}s; }}", set, seconds));
  for (const auto& [chain, rules] : new_chains)
    if (!old_chains.contains(chain)) words.line("add", "chain", chain);
  write_elements(words, "delete", old, after);
  for (const auto& [chain, rules] : old_chains) {
    const auto found = new_chains.find(chain);
    if (found == new_chains.end() || found->second != rules) words.line("flush", "chain", chain);
  }
  for (const auto& [chain, rules] : new_chains) {
    const auto found = old_chains.find(chain);
    if (found != old_chains.end() && found->second == rules) continue;
    for (const std::string& rule : rules) words.line("add", "rule", base::format("{} {}", chain, rule));
  }
  for (const auto& [chain, rules] : old_chains)
    if (!new_chains.contains(chain)) words.line("delete", "chain", chain);
  for (const auto& [set, seconds] : old.affinities)
    if (!after.affinities.contains(set)) words.line("delete", "set", set);
  write_elements(words, "add", after, old);
  return before != nullptr ? words.take() : base_text(table) + words.take();
}

}  // namespace node

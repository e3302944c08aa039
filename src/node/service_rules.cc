// How Services become chains and maps.
#include "node/service_rules.h"

#include <algorithm>
#include <map>
#include <optional>

#include "api/ipv4.h"
#include "api/network_resources.h"
#include "api/schema/names.h"
#include "base/format.h"

namespace node {

using api::Json;

namespace {

constexpr std::int64_t kAffinitySeconds = 10800;

bool is_port(std::int64_t number) { return number >= 1 && number <= 65535; }

// As nftables names it; empty: none that we know.
std::string_view protocol_word(std::string_view protocol) {
  if (protocol.empty() || protocol == "TCP") return "tcp";
  if (protocol == "UDP") return "udp";
  if (protocol == "SCTP") return "sctp";
  return {};
}

struct Target {
  std::string address;
  std::int64_t port = 0;

  auto operator<=>(const Target&) const = default;
};

// An address that packets may be sent to; on loopback it is this machine.
std::string usable_address(std::string_view text, const std::string& gateway) {
  const auto address = api::parse_ipv4(text);
  if (!address) return {};
  const std::uint32_t first = *address >> 24;
  if (first == 127) return gateway;
  const bool link_local = *address >> 16 == 0xa9fe;
  return first == 0 || first >= 224 || link_local ? std::string() : api::ipv4_text(*address);
}

// By name and protocol, which is how a service and its slices know them.
using PortKey = std::pair<std::string_view, std::string_view>;
PortKey key_of_port(const Json& port) { return {port["name"].as_string(), port["protocol"].as_string("TCP")}; }

struct SlicePort {
  const Json* slice;
  std::int64_t port;
};
using SlicePorts = std::map<PortKey, std::vector<SlicePort>>;

SlicePorts ports_of(const std::vector<const Json*>& slices) {
  SlicePorts ports;
  for (const Json* slice : slices) {
    if ((*slice)["addressType"].as_string() != "IPv4") continue;
    for (const Json& port : (*slice)["ports"].items())
      if (const std::int64_t number = port["port"].as_int(); is_port(number))
        ports[key_of_port(port)].push_back({slice, number});
  }
  return ports;
}

// The targets of one port of a service: those that are ready, or, where there are none, those that still serve.
std::set<Target> targets_of(const SlicePorts& ports, const Json& service_port, const std::string& gateway) {
  std::set<Target> ready, serving;
  const auto found = ports.find(key_of_port(service_port));
  if (found == ports.end()) return {};
  for (const auto& [slice, port] : found->second) {
    for (const Json& endpoint : (*slice)["endpoints"].items()) {
      Target target{usable_address(endpoint["addresses"][std::size_t{0}].as_string(), gateway), port};
      if (target.address.empty()) continue;
      const Json& conditions = endpoint["conditions"];
      if (conditions["ready"].as_bool(true))
        ready.insert(std::move(target));
      else if (conditions["serving"].as_bool() && conditions["terminating"].as_bool())
        serving.insert(std::move(target));
    }
  }
  return ready.empty() ? serving : ready;
}

// One set of rules as it grows.
class Rules {
 public:
  explicit Rules(const ServiceObjects& objects) : objects_(objects) {
    for (const Json* slice : objects.slices)
      slices_[base::format("{}/{}", api::namespace_of(*slice),
                           api::label_of(*slice, api::resources::kServiceNameLabel))]
          .push_back(slice);
  }

  void add_service(const Json& service) {
    const Json& spec = service["spec"];
    const auto address = api::parse_ipv4(spec["clusterIP"].as_string());
    if (!address || spec["type"].as_string() == "ExternalName" || !api::is_dns_label(api::name_of(service)) ||
        !api::is_dns_label(api::namespace_of(service)))
      return;
    rules_.addresses.insert(api::ipv4_text(*address));
    const SlicePorts ports = ports_of(slices_[api::key_of(service)]);
    for (const Json& port : spec["ports"].items()) add_port(service, api::ipv4_text(*address), port, ports);
  }

  void add_host_port(const HostPort& wanted) {
    const std::string_view protocol = protocol_word(wanted.protocol);
    const std::string pod = usable_address(wanted.pod_ip, {});
    if (protocol.empty() || pod.empty() || !is_port(wanted.host_port) || !is_port(wanted.pod_port)) return;
    const std::string chain = plain_chain(protocol, {pod, wanted.pod_port});
    const std::string key = base::format("{} . {}", protocol, wanted.host_port);
    if (wanted.host_ip.empty() || wanted.host_ip == "0.0.0.0") {
      rules_.machine_ports.insert_or_assign(key, chain);
      rules_.dead_ports.erase(key);
    } else if (const std::string ip = usable_address(wanted.host_ip, {}); !ip.empty()) {
      rules_.host_addresses.emplace(base::format("{} . {}", ip, key), chain);
    }
  }

  ServiceRules take() { return std::move(rules_); }

 private:
  void add_port(const Json& service, const std::string& address, const Json& port, const SlicePorts& ports) {
    const std::string_view protocol = protocol_word(port["protocol"].as_string());
    const std::int64_t number = port["port"].as_int(), node_port = port["nodePort"].as_int();
    if (protocol.empty() || !is_port(number)) return;
    const std::string node_key = base::format("{} . {}", protocol, node_port);
    const std::set<Target> targets = targets_of(ports, port, objects_.gateway);
    if (targets.empty()) {
      if (is_port(node_port)) rules_.dead_ports.insert(node_key);
      return;
    }
    const std::string place = base::format("{}/{}/{}", api::key_of(service), protocol, number);
    const std::string chain = "s-" + place;
    rules_.chains[chain] = rules_of(service, place, protocol, targets);
    rules_.services.emplace(base::format("{} . {} . {}", address, protocol, number), chain);
    if (is_port(node_port)) rules_.machine_ports.emplace(node_key, chain);
  }

  std::vector<std::string> rules_of(const Json& service, const std::string& place, std::string_view protocol,
                                    const std::set<Target>& targets) {
    const Json& spec = service["spec"];
    std::vector<std::string> rules;
    std::string choice;
    std::size_t index = 0;
    for (const Target& target : targets) {
      std::string chain = plain_chain(protocol, target);
      if (spec["sessionAffinity"].as_string() == "ClientIP") {
        const std::int64_t seconds = std::clamp<std::int64_t>(
            spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"].as_int(kAffinitySeconds), 1, 86400);
        // The time is in the name: a set with another one is another set.
        const std::string set = base::format("c-{}/{}/{}/{}", place, target.address, target.port, seconds);
        const std::string kept = base::format("a-{}/{}/{}", place, target.address, target.port);
        rules_.affinities[set] = seconds;
        rules_.chains[kept] = {base::format("update @{} {{ ip saddr }}", set), base::format("goto {}", chain)};
        rules.push_back(base::format("ip saddr @{} goto {}", set, kept));
        chain = kept;
      }
      choice += base::format("{}{} : goto {}", index == 0 ? "" : ", ", index, chain);
      ++index;
    }
    rules.push_back(base::format("numgen random mod {} vmap {{ {} }}", index, choice));
    return rules;
  }

  // That sends packets to one target.
  std::string plain_chain(std::string_view protocol, const Target& target) {
    std::string chain = base::format("t-{}/{}/{}", protocol, target.address, target.port);
    rules_.chains[chain] = {base::format("meta l4proto {} dnat to {}:{}", protocol, target.address, target.port)};
    rules_.own.insert(base::format("{0} . {0}", target.address));
    return chain;
  }

  const ServiceObjects& objects_;
  std::map<std::string, std::vector<const Json*>> slices_;  // by the key of their service
  ServiceRules rules_;
};

// --- words ---

// The parts of a table that no service changes.
std::string base_text(const ProxyTable& table) {
  static constexpr std::string_view kPort = "ip daddr . meta l4proto . th dport";
  std::string text = base::format("table ip {0}\ndelete table ip {0}\ntable ip {0} {{\n", table.name);
  for (const char* map : {"services", "host_addresses"})
    text += base::format("map {} {{\n type ipv4_addr . inet_proto . inet_service : verdict\n}}\n", map);
  text += "map machine_ports {\n type inet_proto . inet_service : verdict\n}\n";
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
  // What goes to the loopback stays there: the kernel sends nothing from there to pods. A pod's hostIP is this
  // machine's, or leads nowhere: else its maker would have what is meant for others.
  const std::string find_port =
      names_and_server + server +
      base::format(
          "fib daddr type local {} vmap @host_addresses\n"
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

class Words {
 public:
  explicit Words(std::string table) : table_(std::move(table)) {}

  void line(const char* verb, const char* what, const std::string& rest) {
    text_ += base::format("{} {} ip {} {}\n", verb, what, table_, rest);
  }
  void elements(const char* verb, const char* set, const std::map<std::string, std::string>& from,
                const std::map<std::string, std::string>& other) {
    for (const auto& [key, chain] : from)
      if (const auto found = other.find(key); found == other.end() || found->second != chain)
        line(verb, "element", base::format("{} {{ {} : goto {} }}", set, key, chain));
  }
  void elements(const char* verb, const char* set, const std::set<std::string>& from,
                const std::set<std::string>& other) {
    for (const std::string& key : from)
      if (!other.contains(key)) line(verb, "element", base::format("{} {{ {} }}", set, key));
  }
  std::string take() { return std::move(text_); }

 private:
  std::string table_;
  std::string text_;
};

std::set<std::string> keys_of(const std::map<std::string, std::string>& map) {
  std::set<std::string> keys;
  for (const auto& [key, value] : map) keys.insert(key);
  return keys;
}

void write_elements(Words& words, const char* verb, const ServiceRules& from, const ServiceRules& other) {
  words.elements(verb, "services", from.services, other.services);
  words.elements(verb, "live", keys_of(from.services), keys_of(other.services));
  words.elements(verb, "host_addresses", from.host_addresses, other.host_addresses);
  words.elements(verb, "machine_ports", from.machine_ports, other.machine_ports);
  words.elements(verb, "addresses", from.addresses, other.addresses);
  words.elements(verb, "dead_ports", from.dead_ports, other.dead_ports);
  words.elements(verb, "own", from.own, other.own);
}

}  // namespace

std::vector<HostPort> host_ports_of(const Json& pod, const std::string& pod_ip) {
  std::vector<HostPort> ports;
  for (const char* list : {"containers", "initContainers"})
    for (const Json& container : pod["spec"][list].items())
      for (const Json& port : container["ports"].items())
        if (is_port(port["hostPort"].as_int()))
          ports.push_back({port["hostIP"].str(), std::string(port["protocol"].as_string("TCP")),
                           port["hostPort"].as_int(), pod_ip, port["containerPort"].as_int()});
  return ports;
}

bool share_a_port(const std::vector<HostPort>& some, const std::vector<HostPort>& others) {
  const auto is_any = [](const HostPort& port) { return port.host_ip.empty() || port.host_ip == "0.0.0.0"; };
  return std::ranges::any_of(some, [&](const HostPort& one) {
    return std::ranges::any_of(others, [&](const HostPort& other) {
      return one.host_port == other.host_port && one.protocol == other.protocol &&
             (is_any(one) || is_any(other) || one.host_ip == other.host_ip);
    });
  });
}

ServiceRules service_rules(const ServiceObjects& objects) {
  Rules rules(objects);
  for (const Json* service : objects.services) rules.add_service(*service);
  for (const HostPort& port : objects.host_ports) rules.add_host_port(port);
  return rules.take();
}

std::string transaction(const ProxyTable& table, const ServiceRules* before, const ServiceRules& after) {
  static const ServiceRules kNothing;
  const ServiceRules& old = before != nullptr ? *before : kNothing;
  Words words(table.name);
  // What is pointed at comes first and goes last.
  for (const auto& [set, seconds] : after.affinities)
    if (!old.affinities.contains(set))
      words.line("add", "set",
                 base::format("{} {{ type ipv4_addr; flags dynamic,timeout; timeout {}s; }}", set, seconds));
  for (const auto& [chain, rules] : after.chains)
    if (!old.chains.contains(chain)) words.line("add", "chain", chain);
  write_elements(words, "delete", old, after);
  for (const auto& [chain, rules] : old.chains) {
    const auto found = after.chains.find(chain);
    if (found == after.chains.end() || found->second != rules) words.line("flush", "chain", chain);
  }
  for (const auto& [chain, rules] : after.chains) {
    const auto found = old.chains.find(chain);
    if (found != old.chains.end() && found->second == rules) continue;
    for (const std::string& rule : rules) words.line("add", "rule", base::format("{} {}", chain, rule));
  }
  for (const auto& [chain, rules] : old.chains)
    if (!after.chains.contains(chain)) words.line("delete", "chain", chain);
  for (const auto& [set, seconds] : old.affinities)
    if (!after.affinities.contains(set)) words.line("delete", "set", set);
  write_elements(words, "add", after, old);
  return before != nullptr ? words.take() : base_text(table) + words.take();
}

}  // namespace node

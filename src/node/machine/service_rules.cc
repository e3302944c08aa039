// How Services become lists of targets.
#include "node/machine/service_rules.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include "api/ipv4.h"
#include "api/network_resources.h"
#include "api/schema/names.h"
#include "base/format.h"
#include "base/number.h"

namespace node {

using api::Json;

namespace {

constexpr std::int64_t kAffinitySeconds = 10800;
constexpr std::int64_t kAffinityWeight = 16;  // a target that keeps its clients costs the kernel two chains and a set

bool is_port(std::int64_t number) { return number >= 1 && number <= 65535; }

// As nftables names it; empty: none that we know.
std::string_view protocol_word(std::string_view protocol) {
  if (protocol.empty() || protocol == "TCP") return "tcp";
  if (protocol == "UDP") return "udp";
  if (protocol == "SCTP") return "sctp";
  return {};
}

// An address that packets may be sent to; on loopback it is this machine.
std::optional<std::uint32_t> usable_address(std::string_view text, const std::optional<std::uint32_t>& gateway) {
  const auto address = api::parse_ipv4(text);
  if (!address) return std::nullopt;
  const std::uint32_t first = *address >> 24;
  if (first == 127) return gateway;
  const bool link_local = *address >> 16 == 0xa9fe;
  if (first == 0 || first >= 224 || link_local) return std::nullopt;
  return address;
}

// The endpoints of a slice, looked at once whatever number of ports lead to them.
struct SliceAddresses {
  std::vector<std::uint32_t> ready, serving;  // the latter end, and still serve
};

SliceAddresses addresses_of(const Json& slice, const std::optional<std::uint32_t>& gateway) {
  SliceAddresses addresses;
  for (const Json& endpoint : slice["endpoints"].items()) {
    const auto address = usable_address(endpoint["addresses"][std::size_t{0}].as_string(), gateway);
    if (!address) continue;
    const Json& conditions = endpoint["conditions"];
    if (conditions["ready"].as_bool(true))
      addresses.ready.push_back(*address);
    else if (conditions["serving"].as_bool() && conditions["terminating"].as_bool())
      addresses.serving.push_back(*address);
  }
  return addresses;
}

// By name and protocol, which is how a service and its slices know them.
using PortKey = std::pair<std::string_view, std::string_view>;
PortKey key_of_port(const Json& port) { return {port["name"].as_string(), port["protocol"].as_string("TCP")}; }

struct SlicePort {
  const SliceAddresses* addresses;
  std::uint16_t port;
};

// One port of a service, and where it leads.
struct PortRequest {
  std::string_view protocol;
  std::int64_t number = 0;
  std::int64_t node_port = 0;
  const std::vector<SlicePort>* found = nullptr;  // null: nowhere
  bool ready = false;                             // there are targets that are
  std::int64_t targets = 0;                       // at the most: slices may name one twice
};

// At most `most` of them.
std::vector<Target> targets_of(const PortRequest& request, std::int64_t most) {
  std::set<Target> targets;
  for (const SlicePort& slice : *request.found)
    for (const std::uint32_t address : request.ready ? slice.addresses->ready : slice.addresses->serving) {
      if (static_cast<std::int64_t>(targets.size()) >= most) break;
      targets.insert({address, slice.port});
    }
  return {targets.begin(), targets.end()};
}

struct ServiceRequest {
  const Json* service = nullptr;
  std::uint32_t address = 0;
  bool keeps_clients = false;
  std::map<PortKey, std::vector<SlicePort>> slice_ports;
  std::vector<PortRequest> ports;
  std::int64_t leading = 0;  // ports that lead somewhere
  std::int64_t targets = 0;
  std::int64_t cost() const { return targets * (keeps_clients ? kAffinityWeight : 1); }
};

// One set of rules as it grows.
class Rules {
 public:
  explicit Rules(const ServiceObjects& objects)
      : gateway_(api::parse_ipv4(objects.gateway)), machine_ip_(objects.machine_ip) {
    for (const Json* slice : objects.slices) {
      if ((*slice)["addressType"].as_string() != "IPv4") continue;
      const std::string key =
          base::format("{}/{}", api::namespace_of(*slice), api::label_of(*slice, api::resources::kServiceNameLabel));
      slices_[key].push_back({slice, addresses_of(*slice, gateway_)});
    }
  }

  std::optional<ServiceRequest> request_of(const Json& service) const {
    const Json& spec = service["spec"];
    const auto address = api::parse_ipv4(spec["clusterIP"].as_string());
    if (!address || spec["type"].as_string() == "ExternalName" || !api::is_dns_label(api::name_of(service)) ||
        !api::is_dns_label(api::namespace_of(service)))
      return std::nullopt;
    ServiceRequest request{.service = &service, .address = *address, .slice_ports = {}, .ports = {}};
    request.keeps_clients = spec["sessionAffinity"].as_string() == "ClientIP";
    if (const auto slices = slices_.find(api::key_of(service)); slices != slices_.end())
      for (const auto& [slice, addresses] : slices->second)
        for (const Json& port : (*slice)["ports"].items())
          if (const std::int64_t number = port["port"].as_int(); is_port(number))
            request.slice_ports[key_of_port(port)].push_back({&addresses, static_cast<std::uint16_t>(number)});
    return request;
  }

  void count_targets(ServiceRequest& request) const {
    for (const Json& port : (*request.service)["spec"]["ports"].items()) {
      PortRequest one{.protocol = protocol_word(port["protocol"].as_string()),
                      .number = port["port"].as_int(),
                      .node_port = port["nodePort"].as_int()};
      if (one.protocol.empty() || !is_port(one.number)) continue;
      if (const auto found = request.slice_ports.find(key_of_port(port)); found != request.slice_ports.end()) {
        std::int64_t ready = 0, serving = 0;
        for (const SlicePort& slice : found->second) {
          ready += static_cast<std::int64_t>(slice.addresses->ready.size());
          serving += static_cast<std::int64_t>(slice.addresses->serving.size());
        }
        one.found = &found->second;
        one.ready = ready > 0;
        one.targets = one.ready ? ready : serving;
      }
      request.targets += one.targets;
      request.leading += one.targets > 0 ? 1 : 0;
      request.ports.push_back(one);
    }
  }

  // `granted`: of its cost.
  void add_service(const ServiceRequest& request, std::int64_t granted) {
    rules_.addresses.insert(api::ipv4_text(request.address));
    const std::int64_t room = granted / (request.keeps_clients ? kAffinityWeight : 1);
    const bool all = granted >= request.cost();
    const std::int64_t each =
        all ? INT64_MAX : std::max<std::int64_t>(room / std::max<std::int64_t>(request.leading, 1), 1);
    std::int64_t kept = 0, closed = 0;
    for (const PortRequest& port : request.ports) {
      const std::string node_key = base::format("{} . {}", port.protocol, port.node_port);
      std::vector<Target> targets;
      if (port.targets > 0) targets = targets_of(port, all ? INT64_MAX : std::min(each, room - kept));
      if (port.targets > 0 && targets.empty()) ++closed;
      kept += static_cast<std::int64_t>(targets.size());
      if (!targets.empty())
        add_port(request, port, std::move(targets));
      else if (is_port(port.node_port))
        rules_.dead_ports.insert(node_key);
    }
    if (!all) leave_out(request, kept, each, closed);
  }

  // After all services: node ports come first.
  void add_balanced_ports() {
    for (auto& [key, rules] : balanced_)
      if (!rules_.dead_ports.contains(key)) rules_.machine_ports.emplace(key, std::move(rules));
  }

  void add_host_port(const HostPort& wanted) {
    const std::string_view protocol = protocol_word(wanted.protocol);
    const auto pod = usable_address(wanted.pod_ip, {});
    if (protocol.empty() || !pod || !is_port(wanted.host_port) || !is_port(wanted.pod_port)) return;
    const Target target{*pod, static_cast<std::uint16_t>(wanted.pod_port)};
    const std::string key = base::format("{} . {}", protocol, wanted.host_port);
    rules_.own.insert(target.address);
    if (wanted.host_ip.empty() || wanted.host_ip == "0.0.0.0") {
      rules_.machine_ports.insert_or_assign(key, PortRules{{target}});
      rules_.dead_ports.erase(key);
    } else if (const auto ip = usable_address(wanted.host_ip, {})) {
      rules_.host_addresses.emplace(base::format("{} . {}", api::ipv4_text(*ip), key), target);
    }
  }

  ServiceDecision take() { return {std::move(rules_), std::move(left_out_)}; }

 private:
  void add_port(const ServiceRequest& request, const PortRequest& port, std::vector<Target> targets) {
    for (const Target& target : targets) rules_.own.insert(target.address);
    PortRules rules{std::move(targets)};
    if (request.keeps_clients) {
      const std::string place = base::format("{}/{}/{}", api::key_of(*request.service), port.protocol, port.number);
      rules.chain = "s-" + place;
      rules_.chains[rules.chain] = rules_of(*request.service, place, port.protocol, rules.targets);
    }
    if (is_port(port.node_port))
      rules_.machine_ports.emplace(base::format("{} . {}", port.protocol, port.node_port), rules);
    if (is_balanced_here(*request.service))
      balanced_.emplace_back(base::format("{} . {}", port.protocol, port.number), rules);
    rules_.services.emplace(base::format("{} . {} . {}", api::ipv4_text(request.address), port.protocol, port.number),
                            std::move(rules));
  }

  bool is_balanced_here(const Json& service) const {
    if (machine_ip_.empty() || service["spec"]["type"].as_string() != "LoadBalancer") return false;
    return std::ranges::any_of(service["status"]["loadBalancer"]["ingress"].items(),
                               [&](const Json& one) { return one["ip"].as_string() == machine_ip_; });
  }

  std::vector<std::string> rules_of(const Json& service, const std::string& place, std::string_view protocol,
                                    const std::vector<Target>& targets) {
    std::vector<std::string> rules;
    std::string choice;
    std::size_t index = 0;
    const std::int64_t seconds = std::clamp<std::int64_t>(
        service["spec"]["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"].as_int(kAffinitySeconds), 1, 86400);
    for (const Target& target : targets) {
      const std::string address = api::ipv4_text(target.address);
      const std::string chain = base::format("t-{}/{}/{}", protocol, address, target.port);
      rules_.chains[chain] = {base::format("meta l4proto {} dnat to {}:{}", protocol, address, target.port)};
      // The time is in the name: a set with another one is another set.
      const std::string set = base::format("c-{}/{}/{}/{}", place, address, target.port, seconds);
      const std::string kept = base::format("a-{}/{}/{}", place, address, target.port);
      rules_.affinities[set] = seconds;
      rules_.chains[kept] = {base::format("update @{} {{ ip saddr }}", set), base::format("goto {}", chain)};
      rules.push_back(base::format("ip saddr @{} goto {}", set, kept));
      choice += base::format("{}{} : goto {}", index == 0 ? "" : ", ", index, kept);
      ++index;
    }
    rules.push_back(base::format("numgen random mod {} vmap {{ {} }}", index, choice));
    return rules;
  }

  void leave_out(const ServiceRequest& request, std::int64_t kept, std::int64_t each, std::int64_t closed) {
    std::string why = base::format(
        "The ports of the service times their endpoints are {}, of which this node takes {}: each port leads to {} of "
        "its "
        "endpoints",
        request.targets, kept, each);
    if (closed > 0) why += base::format(", and {} ports lead nowhere", closed);
    left_out_.push_back({request.service, request.targets, kept, std::move(why)});
  }

  const std::optional<std::uint32_t> gateway_;
  const std::string machine_ip_;
  std::vector<std::pair<std::string, PortRules>> balanced_;  // ports of this machine that services are to have
  // By the key of their service.
  std::map<std::string, std::vector<std::pair<const Json*, SliceAddresses>>> slices_;
  ServiceRules rules_;
  std::vector<LeftOut> left_out_;
};

// The cost that each service may have, in their order.
std::vector<std::int64_t> grants(const std::vector<ServiceRequest>& requests, const ServiceLimits& limits) {
  std::map<std::string_view, std::vector<std::size_t>> namespaces;
  std::vector<std::int64_t> wanted;
  for (const ServiceRequest& request : requests) {
    namespaces[api::namespace_of(*request.service)].push_back(wanted.size());
    wanted.push_back(std::min(request.cost(), limits.of_a_service));
  }
  std::vector<std::int64_t> of_namespaces;
  for (const auto& [ns, members] : namespaces) {
    std::int64_t sum = 0;
    for (const std::size_t one : members) sum += wanted[one];
    of_namespaces.push_back(std::min(sum, limits.of_a_namespace));
  }
  of_namespaces = even_shares(of_namespaces, limits.of_all);
  std::vector<std::int64_t> granted(wanted.size());
  std::size_t index = 0;
  for (const auto& [ns, members] : namespaces) {
    std::vector<std::int64_t> of_members;
    for (const std::size_t one : members) of_members.push_back(wanted[one]);
    of_members = even_shares(of_members, of_namespaces[index++]);
    for (std::size_t i = 0; i < members.size(); ++i) granted[members[i]] = of_members[i];
  }
  return granted;
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

std::vector<std::int64_t> even_shares(const std::vector<std::int64_t>& wanted, std::int64_t total) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t one) { return wanted[one]; });
  std::vector<std::int64_t> shares(wanted.size());
  std::int64_t rest = total, waiting = static_cast<std::int64_t>(wanted.size());
  for (const std::size_t one : order) {
    shares[one] = std::min(wanted[one], rest / waiting--);
    rest -= shares[one];
  }
  return shares;
}

ServiceDecision service_rules(const ServiceObjects& objects) {
  Rules rules(objects);
  std::vector<ServiceRequest> requests;
  for (const Json* service : objects.services)
    if (auto request = rules.request_of(*service)) requests.push_back(*std::move(request));
  for (ServiceRequest& request : requests) rules.count_targets(request);
  const std::vector<std::int64_t> granted = grants(requests, objects.limits);
  for (std::size_t i = 0; i < requests.size(); ++i) rules.add_service(requests[i], granted[i]);
  rules.add_balanced_ports();
  for (const HostPort& port : objects.host_ports) rules.add_host_port(port);
  return rules.take();
}

namespace {

// Halves what is refused until single parts are left.
void add_accepted(std::span<const ServicePart> parts, ServiceRules& accepted, std::vector<std::string>& refused,
                  const std::function<bool(const ServiceRules&)>& taken) {
  if (parts.empty()) return;
  ServiceRules candidate = accepted;
  for (const ServicePart& part : parts) add_rules(candidate, part.rules);
  if (taken(candidate)) {
    accepted = std::move(candidate);
    return;
  }
  if (parts.size() == 1) return refused.push_back(parts.front().ns);
  add_accepted(parts.first(parts.size() / 2), accepted, refused, taken);
  add_accepted(parts.subspan(parts.size() / 2), accepted, refused, taken);
}

}  // namespace

std::vector<std::string> add_accepted(const std::vector<ServicePart>& parts, ServiceRules& accepted,
                                      const std::function<bool(const ServiceRules&)>& taken) {
  std::vector<std::string> refused;
  add_accepted(std::span(parts), accepted, refused, taken);
  return refused;
}

std::set<std::uint16_t> tcp_ports_of_machine(const ServiceRules& rules) {
  static constexpr std::string_view kTcp = "tcp . ";
  std::set<std::uint16_t> ports;
  for (const auto& [key, port] : rules.machine_ports)
    if (std::string_view(key).starts_with(kTcp))
      ports.insert(base::parse_number<std::uint16_t>(std::string_view(key).substr(kTcp.size())).value_or(0));
  return ports;
}

void add_rules(ServiceRules& rules, const ServiceRules& more) {
  rules.services.insert(more.services.begin(), more.services.end());
  rules.machine_ports.insert(more.machine_ports.begin(), more.machine_ports.end());
  rules.host_addresses.insert(more.host_addresses.begin(), more.host_addresses.end());
  rules.affinities.insert(more.affinities.begin(), more.affinities.end());
  rules.chains.insert(more.chains.begin(), more.chains.end());
  rules.addresses.insert(more.addresses.begin(), more.addresses.end());
  rules.dead_ports.insert(more.dead_ports.begin(), more.dead_ports.end());
  rules.own.insert(more.own.begin(), more.own.end());
}

}  // namespace node

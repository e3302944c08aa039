// The kernel's work with packets for Services: a value made from the API's objects, and the words that lead the kernel
// from one such value to another. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/json/json.h"

namespace node {

// A port of this machine that a container asked for.
struct HostPort {
  std::string host_ip;   // empty: every address of this machine
  std::string protocol;  // TCP, UDP or SCTP
  std::int64_t host_port = 0;
  std::string pod_ip;
  std::int64_t pod_port = 0;

  bool operator==(const HostPort&) const = default;
};
// The host ports of a pod; one on the host's network has those that it listens on.
std::vector<HostPort> host_ports_of(const api::Json& pod, const std::string& pod_ip);
bool share_a_port(const std::vector<HostPort>& some, const std::vector<HostPort>& others);

// A place that packets may go to.
struct Target {
  std::uint32_t address = 0;
  std::uint16_t port = 0;

  auto operator<=>(const Target&) const = default;
};
// Packets for one port go to one of the targets, or a chain decides (of a service that keeps each client at its
// target).
struct PortRules {
  std::vector<Target> targets;
  std::string chain = {};  // empty: any of the targets

  bool operator==(const PortRules&) const = default;
};

// Everything is found by its name or key, so that two of them can be compared part by part.
struct ServiceRules {
  std::map<std::string, PortRules> services;               // "10.96.0.9 . tcp . 80"
  std::map<std::string, PortRules> machine_ports;          // "tcp . 30080"
  std::map<std::string, Target> host_addresses;            // "192.0.2.1 . udp . 53": one address of this machine
  std::map<std::string, std::int64_t> affinities;          // sets of clients: how many seconds they are kept
  std::map<std::string, std::vector<std::string>> chains;  // the rules of each, in order
  std::set<std::string> addresses;                         // of services: other ports of these are refused
  std::set<std::string> dead_ports;                        // "tcp . 30080": node ports behind which nobody is
  std::set<std::uint32_t> own;                             // targets, which may reach themselves through a service

  bool operator==(const ServiceRules&) const = default;
};

// How many targets the kernel is told of: a port of a service and one of its endpoints are one. Targets above
// that are left out evenly: each port of a service keeps some, and each service of a namespace, and each namespace.
struct ServiceLimits {
  std::int64_t of_a_service = 32'768;
  std::int64_t of_a_namespace = 65'536;
  std::int64_t of_all = 131'072;
};
// A service of which targets are left out.
struct LeftOut {
  const api::Json* service = nullptr;
  std::int64_t targets = 0;  // that it has
  std::int64_t kept = 0;
  std::string why;  // for people
};

struct ServiceObjects {
  std::vector<const api::Json*> services;
  std::vector<const api::Json*> slices;  // EndpointSlices
  std::vector<HostPort> host_ports;
  std::string gateway;  // where pods reach this machine: stands for endpoints on its loopback
  ServiceLimits limits = {};
  // Services of type LoadBalancer whose status names this address have their ports on this machine; empty: none has.
  std::string machine_ip = {};
};
struct ServiceDecision {
  ServiceRules rules;
  std::vector<LeftOut> left_out;
};
// Malformed parts are left out: nothing but numbers, checked names and our own words come into the rules.
ServiceDecision service_rules(const ServiceObjects& objects);
// The ports of TCP at which this machine leads to pods.
std::set<std::uint16_t> tcp_ports_of_machine(const ServiceRules& rules);
// How `total` is divided among those that want so much each: nobody gets more than is wanted, and nobody less than
// another who wants as much or more, but for what cannot be divided.
std::vector<std::int64_t> even_shares(const std::vector<std::int64_t>& wanted, std::int64_t total);
// The rules of one namespace.
struct ServicePart {
  std::string ns;
  ServiceRules rules;
};
// Adds to `accepted` the parts that are `taken` with it, and returns the namespaces of the others; asks few times where
// few are refused.
std::vector<std::string> add_accepted(const std::vector<ServicePart>& parts, ServiceRules& accepted,
                                      const std::function<bool(const ServiceRules&)>& taken);
// Adds what is not there yet.
void add_rules(ServiceRules& rules, const ServiceRules& more);

struct ProxyTable {
  std::string name;
  std::string bridge;  // that pods are on
  std::string subnet;  // of pods: "10.200.7.0/24"
  // The address of the bridge's names and of the API server: no pod takes these ports over by asking for them as host
  // ports.
  std::string gateway = {};
  int api_port = 0;  // 0: none
  // The kernel does not see what pods of one bridge say to each other: answers find their way only through this
  // machine.
  bool masquerade_all = false;
};
// Input for `nft -f -`, one transaction. `before` is null for a table that is made anew.
std::string transaction(const ProxyTable& table, const ServiceRules* before, const ServiceRules& after);

}  // namespace node

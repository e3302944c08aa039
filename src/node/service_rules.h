// What the kernel is to do with packets for Services: a value made from the API's objects, and the words that lead the
// kernel from one such value to another. Pure.
#pragma once

#include <cstdint>
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

// Everything is found by its name or key, so that two of them can be compared part by part.
struct ServiceRules {
  std::map<std::string, std::int64_t> affinities;          // sets of clients: how many seconds they are kept
  std::map<std::string, std::vector<std::string>> chains;  // the rules of each, in order
  std::map<std::string, std::string> services;             // "10.96.0.9 . tcp . 80": its chain
  std::map<std::string, std::string> host_addresses;       // the same for ports of one address of this machine
  std::map<std::string, std::string> machine_ports;        // "tcp . 30080": its chain
  std::set<std::string> addresses;                         // of services: other ports of these are refused
  std::set<std::string> dead_ports;                        // "tcp . 30080": node ports behind which nobody is
  std::set<std::string> own;  // "10.200.0.2 . 10.200.0.2": what reaches itself through a service

  bool operator==(const ServiceRules&) const = default;
};

struct ServiceObjects {
  std::vector<const api::Json*> services;
  std::vector<const api::Json*> slices;  // EndpointSlices
  std::vector<HostPort> host_ports;
  std::string gateway;  // where pods reach this machine: stands for endpoints on its loopback
};
// What is malformed is left out: nothing but numbers, checked names and our own words come into the rules.
ServiceRules service_rules(const ServiceObjects& objects);

struct ProxyTable {
  std::string name;
  std::string bridge;  // that pods are on
  std::string subnet;  // of pods: "10.200.7.0/24"
  // Where the bridge's names and the API server are: no pod takes these ports over by asking for them as host ports.
  std::string gateway = {};
  int api_port = 0;  // 0: none
  // The kernel does not see what pods of one bridge say to each other: answers find their way only through this
  // machine.
  bool masquerade_all = false;
};
// Input for `nft -f -`, one transaction. `before` is null for a table that is made anew.
std::string transaction(const ProxyTable& table, const ServiceRules* before, const ServiceRules& after);

}  // namespace node

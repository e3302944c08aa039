// Processes of groups, their namespaces, and the interfaces that lead there.
#include "colocation/machine/network_reading.h"

#include <algorithm>
#include <set>

#include "base/number.h"
#include "base/split.h"
#include "base/trim.h"
#include "colocation/files/kernel_text.h"

namespace colocation {

namespace {

constexpr std::size_t kGroupsAskedMax = 64;  // of one pod
constexpr int kTries = 3;
constexpr std::int64_t kSpeedMax = 100'000'000;  // Mbps; kernels that know no speed may say the largest number

// Any process of the group; unset: it has none, or none that this process can see.
std::optional<int> process_of(const GroupTree& tree, const std::string& path) {
  const auto text = read_host_file(group_folder(tree, "cpu", path) + "/cgroup.procs");
  if (!text.ok()) return std::nullopt;
  const auto pid = base::parse_number<int>(base::trim(text->substr(0, text->find('\n'))));
  return pid && *pid > 0 ? pid : std::nullopt;
}

std::set<int> processes_of(const GroupTree& tree, const std::vector<std::string>& groups) {
  std::set<int> processes;
  for (std::size_t at = 0; at < std::min(groups.size(), kGroupsAskedMax); ++at)
    if (const auto pid = process_of(tree, groups[at])) processes.insert(*pid);
  return processes;
}

std::vector<std::string> interfaces_of(PodNetwork& network, const std::set<int>& processes,
                                       const std::vector<PodInterface>& all) {
  std::set<std::uint32_t> namespaces;
  for (const int pid : processes)
    if (const auto id = network.namespace_of(pid)) namespaces.insert(*id);
  std::vector<std::string> names;
  for (const PodInterface& one : all)
    if (namespaces.contains(one.peer)) names.push_back(one.name);
  std::ranges::sort(names);
  return names;
}

std::optional<std::int64_t> number_in(const std::string& path) {
  const auto text = read_host_file(path);
  return text.ok() ? counter_value(*text) : std::nullopt;
}

Uplink find_uplink(const HostPaths& paths) {
  Uplink found;
  for (const char* file : {"/route", "/ipv6_route"}) {
    const auto routes = read_host_file(paths.network + file);
    if (routes.ok() && found.name.empty()) found.name = default_route_interface(*routes);
  }
  if (found.name.empty()) return found;
  // -1, or an error: the interface has no speed, as those of virtual machines.
  found.mbps = number_in(paths.interfaces + "/" + found.name + "/speed");
  if (found.mbps && (*found.mbps == 0 || *found.mbps > kSpeedMax)) found.mbps.reset();
  return found;
}

}  // namespace

NetworkReading read_network(PodNetwork& network, const NetworkRequest& request) {
  NetworkReading reading;
  reading.uplink = find_uplink(request.paths);
  const auto all = network.interfaces();
  if (!all.ok()) {
    reading.trouble = all.error().message;
    return reading;
  }
  for (const auto& [uid, groups] : request.groups) {
    const std::set<int> processes = processes_of(request.tree, groups);
    reading.sees_processes = reading.sees_processes || !processes.empty();
    auto names = interfaces_of(network, processes, *all);
    if (!names.empty()) reading.interfaces[uid] = std::move(names);
  }
  return reading;
}

SentBytes read_sent_bytes(const HostPaths& paths, const std::vector<std::string>& interfaces) {
  SentBytes sent;
  const auto text = read_host_file(paths.network + "/dev");
  if (!text.ok()) return sent;
  // The other end receives what a pod sends.
  const auto received = received_bytes(*text);
  for (const std::string& name : interfaces)
    if (const auto found = received.find(name); found != received.end()) sent.insert(*found);
  return sent;
}

base::Result<PacketRules> set_packet_rules(PodNetwork& network, const std::string& table, PacketRules rules) {
  for (int tried = 0;; ++tried) {
    const base::Status set = network.set(table, rules);
    if (set.ok()) return rules;
    if (set.error().code != base::Code::kNotFound || tried == kTries) return set.error();
    TRY(const std::vector<PodInterface> present, network.interfaces());
    std::erase_if(rules.interfaces, [&present](const std::string& name) {
      return std::ranges::none_of(present, [&name](const PodInterface& one) { return one.name == name; });
    });
  }
}

}  // namespace colocation

// Which CPUs of a node does numa-aware (5.17) give to a pod?
#include "book_cpus.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace scenario::book {
namespace {

using Cpus = std::set<int>;

std::string policy_of(const Pod& pod) {
  const std::string out = pod.annotation("volcano.sh/numa-topology-policy");
  return out == "none" ? "" : out;
}

bool is_guaranteed(const Pod& pod) {
  return pod.words.find("guaranteed") != nullptr && pod.asks["cpu"] > 0 && pod.asks["memory"] > 0;
}

Cpus on_nodes(const Numa& numa, const std::set<int>& numa_nodes) {
  Cpus out;
  for (const Cpu& cpu : numa.cpus) {
    if (numa_nodes.contains(cpu.socket)) out.insert(cpu.id);
  }
  return out;
}

Cpus both(const Cpus& a, const Cpus& b) {
  Cpus out;
  for (const int cpu : a) {
    if (b.contains(cpu)) out.insert(cpu);
  }
  return out;
}

Cpus without(Cpus a, const Cpus& b) {
  for (const int cpu : b) a.erase(cpu);
  return a;
}

// n of the free CPUs: whole sockets, then whole cores of the sockets with the fewest of them, then threads on the
// sockets and cores that are used most.
Cpus take(const Numa& numa, Cpus free, std::size_t n) {
  Cpus out;
  std::map<int, Cpus> sockets, cores;
  std::map<int, int> socket_of_core;
  for (const Cpu& cpu : numa.cpus)
    sockets[cpu.socket].insert(cpu.id), cores[cpu.core].insert(cpu.id), socket_of_core[cpu.core] = cpu.socket;
  const auto take_whole = [&](const Cpus& cpus) {
    if (both(free, cpus) != cpus || out.size() + cpus.size() > n) return;
    out.insert(cpus.begin(), cpus.end());
    free = without(free, cpus);
  };
  for (const auto& [id, cpus] : sockets) take_whole(cpus);
  std::vector<std::array<int, 3>> order;  // how many free cores its socket has, the socket, the core
  std::map<int, int> free_cores;
  for (const auto& [core, cpus] : cores) free_cores[socket_of_core[core]] += both(free, cpus) == cpus ? 1 : 0;
  for (const auto& [core, cpus] : cores)
    order.push_back({free_cores[socket_of_core[core]], socket_of_core[core], core});
  std::sort(order.begin(), order.end());
  for (const auto& one : order) take_whole(cores[one[2]]);
  std::vector<std::array<int, 6>> threads;
  for (const Cpu& cpu : numa.cpus) {
    if (!free.contains(cpu.id)) continue;
    threads.push_back({-static_cast<int>(both(out, sockets[cpu.socket]).size()),
                       static_cast<int>(both(free, sockets[cpu.socket]).size()),
                       static_cast<int>(both(free, cores[cpu.core]).size()), cpu.socket, cpu.core, cpu.id});
  }
  std::sort(threads.begin(), threads.end());
  for (const auto& one : threads) {
    if (out.size() < n) out.insert(one[5]);
  }
  return out;
}

struct Hint {
  std::set<int> numa_nodes;
  bool preferred = false;
};

// Every set of NUMA nodes with n free CPUs, the narrow ones first, and of those the ones that begin lower.
std::vector<Hint> hints(const Numa& numa, const Cpus& free, std::size_t n) {
  std::set<int> ids;
  for (const Cpu& cpu : numa.cpus) ids.insert(cpu.socket);
  const std::vector<int> all(ids.begin(), ids.end());
  std::vector<Hint> out;
  std::size_t narrowest = all.size();
  for (unsigned mask = 1; mask < 1U << all.size(); ++mask) {
    Hint hint;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((mask >> i & 1) != 0) hint.numa_nodes.insert(all[i]);
    }
    if (on_nodes(numa, hint.numa_nodes).size() >= n) narrowest = std::min(narrowest, hint.numa_nodes.size());
    if (both(free, on_nodes(numa, hint.numa_nodes)).size() >= n) out.push_back(std::move(hint));
  }
  for (Hint& hint : out) hint.preferred = hint.numa_nodes.size() == narrowest;
  std::stable_sort(out.begin(), out.end(),
                   [](const Hint& a, const Hint& b) { return a.numa_nodes.size() < b.numa_nodes.size(); });
  return out;
}

}  // namespace

bool has_numa_policy(const Pod& pod) { return is_guaranteed(pod) && !policy_of(pod).empty(); }

int numa_nodes_of(const Node& node, const std::set<int>& cpus) {
  std::set<int> out;
  for (const Cpu& cpu : node.numa.cpus) {
    if (cpus.contains(cpu.id)) out.insert(cpu.socket);
  }
  return static_cast<int>(out.size());
}

std::optional<std::set<int>> choose_cpus(const Node& node, const Pod& pod, const std::vector<const Pod*>& others) {
  const Numa& numa = node.numa;
  if (!is_guaranteed(pod)) return Cpus();
  if (has_numa_policy(pod)) {
    if (!numa.known || !numa.is_static || numa.policy != policy_of(pod)) return std::nullopt;
    if (!numa.has_layout || numa.free.empty()) return std::nullopt;
  } else if (!numa.known || !numa.is_static || numa.policy == "none") {
    return Cpus();
  }
  const auto milli = static_cast<std::size_t>(pod.asks["cpu"]);
  if (milli == 0 || milli % 1000 != 0) return Cpus();
  const std::size_t n = milli / 1000;
  Cpus every;
  for (const Cpu& cpu : numa.cpus) every.insert(cpu.id);
  Cpus free = without(numa.free, take(numa, every, static_cast<std::size_t>(std::ceil(numa.reserved))));
  for (const Pod* other : others) free = without(free, other->given.cpus);
  const std::vector<Hint> list = hints(numa, free, n);
  const bool preferred = !list.empty() && list.front().preferred;
  if (numa.policy == "restricted" && !preferred) return std::nullopt;
  if (numa.policy == "single-numa-node" && !(preferred && list.front().numa_nodes.size() == 1)) return std::nullopt;
  if (free.size() < n) return std::nullopt;
  Cpus near = list.empty() ? Cpus() : both(free, on_nodes(numa, list.front().numa_nodes));
  Cpus out = take(numa, near, std::min(n, near.size()));
  const Cpus rest = take(numa, without(free, out), n - out.size());
  out.insert(rest.begin(), rest.end());
  return out;
}

}  // namespace scenario::book

// Which CPUs of a node would a pod get, and does its topology policy admit that?
#include "scheduler/plugins/numa/numa_assign.h"

#include <algorithm>
#include <bit>
#include <set>

namespace scheduler {
namespace {

constexpr std::size_t kNumaMax = 12;  // masks are enumerated

bool has(const CpuSet& set, std::int32_t cpu) { return std::binary_search(set.begin(), set.end(), cpu); }

void remove_all(CpuSet& from, const CpuSet& what) {
  std::erase_if(from, [&](std::int32_t cpu) { return has(what, cpu); });
}

// A set of NUMA nodes with enough free CPUs; preferred when no smaller set could hold as many in an empty node.
struct Hint {
  std::uint32_t mask = 0;
  bool preferred = false;
};

struct Layout {
  std::vector<std::int32_t> numas;  // ids, ascending

  explicit Layout(const NumaNode& node) {
    std::set<std::int32_t> ids;
    for (const Cpu& cpu : node.cpus) ids.insert(cpu.numa);
    numas.assign(ids.begin(), ids.end());
    if (numas.size() > kNumaMax) numas.resize(kNumaMax);
  }
  std::uint32_t bit(std::int32_t numa) const {
    auto at = std::lower_bound(numas.begin(), numas.end(), numa);
    return at == numas.end() || *at != numa ? 0 : 1u << (at - numas.begin());
  }
};

std::vector<Hint> hints_for(const NumaNode& node, const Layout& layout, const CpuSet& free, std::int32_t count) {
  std::vector<Hint> out;
  std::vector<std::int32_t> total(layout.numas.size()), available(layout.numas.size());
  for (const Cpu& cpu : node.cpus) {
    const std::uint32_t bit = layout.bit(cpu.numa);
    if (bit == 0) continue;
    const auto at = static_cast<std::size_t>(std::countr_zero(bit));
    ++total[at];
    available[at] += has(free, cpu.id) ? 1 : 0;
  }
  int smallest = static_cast<int>(layout.numas.size());
  for (std::uint32_t mask = 1; mask < 1u << layout.numas.size(); ++mask) {
    std::int32_t could = 0, can = 0;
    for (std::size_t i = 0; i < layout.numas.size(); ++i) {
      if (mask >> i & 1) could += total[i], can += available[i];
    }
    if (could >= count) smallest = std::min(smallest, std::popcount(mask));
    if (can >= count) out.push_back({mask, false});
  }
  for (Hint& hint : out) hint.preferred = std::popcount(hint.mask) == smallest;
  return out;
}

// Preferred before others, then fewer NUMA nodes, then lower ones.
bool better(const Hint& a, const Hint& b) {
  if (a.preferred != b.preferred) return a.preferred;
  if (std::popcount(a.mask) != std::popcount(b.mask)) return std::popcount(a.mask) < std::popcount(b.mask);
  return a.mask < b.mask;
}

// The one provider (CPUs) makes merging a choice of the best hint; a mask of all nodes means no affinity.
Hint merged(const std::string& policy, const std::vector<Hint>& hints, std::uint32_t all) {
  Hint best{all, false};
  bool found = false;
  for (const Hint& hint : hints) {
    if (policy == "single-numa-node" && (!hint.preferred || std::popcount(hint.mask) != 1)) continue;
    if (found && !better(hint, best)) continue;
    best = hint;
    found = true;
  }
  return best;
}

bool admits(const std::string& policy, const Hint& hint) {
  return (policy != "restricted" && policy != "single-numa-node") || hint.preferred;
}

}  // namespace

std::int32_t whole_cpus(const ContainerAsk& ask) {
  return ask.cpu > 0 && ask.cpu % 1000 == 0 && ask.cpu / 1000 < (1 << 20) ? static_cast<std::int32_t>(ask.cpu / 1000)
                                                                          : 0;
}

CpuSet take_by_topology(const NumaNode& node, const CpuSet& free, std::int32_t count) {
  CpuSet out;
  if (count <= 0 || static_cast<std::size_t>(count) > free.size()) return out;
  struct Group {
    std::int32_t socket = 0, core = 0;
    CpuSet free;
    std::size_t size = 0;
  };
  std::map<std::int32_t, Group> sockets;
  std::map<std::pair<std::int32_t, std::int32_t>, Group> cores;
  for (const Cpu& cpu : node.cpus) {
    Group& socket = sockets[cpu.socket];
    Group& core = cores[{cpu.socket, cpu.core}];
    socket.socket = core.socket = cpu.socket;
    core.core = cpu.core;
    ++socket.size, ++core.size;
    if (!has(free, cpu.id)) continue;
    socket.free.push_back(cpu.id);
    core.free.push_back(cpu.id);
  }
  const auto left = [&] { return static_cast<std::size_t>(count) - out.size(); };
  const auto take = [&](const CpuSet& cpus) {
    for (const std::int32_t cpu : cpus) {
      if (left() > 0 && std::find(out.begin(), out.end(), cpu) == out.end()) out.push_back(cpu);
    }
  };
  const auto taken = [&](const CpuSet& cpus) {
    return std::any_of(cpus.begin(), cpus.end(),
                       [&](std::int32_t cpu) { return std::find(out.begin(), out.end(), cpu) != out.end(); });
  };
  for (const auto& [id, socket] : sockets) {
    if (!socket.free.empty() && socket.free.size() == socket.size && socket.size <= left()) take(socket.free);
  }
  std::vector<const Group*> order;
  std::map<std::int32_t, std::size_t> free_cores;
  for (const auto& [id, core] : cores) {
    if (core.free.size() == core.size && !taken(core.free)) order.push_back(&core), ++free_cores[core.socket];
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](const Group* a, const Group* b) { return free_cores[a->socket] < free_cores[b->socket]; });
  for (const Group* core : order) {
    if (core->size <= left()) take(core->free);
  }
  // Single threads: of the sockets and cores that are already in use, and of those with the least left.
  std::vector<const Group*> threads;
  for (const auto& [id, core] : cores) threads.push_back(&core);
  std::map<std::int32_t, bool> used_sockets;
  for (const auto& [id, socket] : sockets) used_sockets[id] = taken(socket.free);
  std::stable_sort(threads.begin(), threads.end(), [&](const Group* a, const Group* b) {
    const bool ua = used_sockets[a->socket], ub = used_sockets[b->socket];
    if (ua != ub) return ua;
    if (sockets[a->socket].free.size() != sockets[b->socket].free.size())
      return sockets[a->socket].free.size() < sockets[b->socket].free.size();
    return a->free.size() < b->free.size();
  });
  for (const Group* core : threads) take(core->free);
  std::sort(out.begin(), out.end());
  return out;
}

std::optional<NumaResult> assign_cpus(const NumaNode& node, const CpuSet& free, const std::vector<ContainerAsk>& asks,
                                      std::string& refused) {
  const Layout layout(node);
  const std::uint32_t all = layout.numas.empty() ? 0 : (1u << layout.numas.size()) - 1;
  NumaResult out;
  CpuSet rest = free;
  std::uint32_t touched = 0;
  for (const ContainerAsk& ask : asks) {
    if (ask.init) continue;
    const std::int32_t count = whole_cpus(ask);
    if (count == 0) continue;
    Hint hint{all, true};
    if (node.topology_policy != "none" && !node.topology_policy.empty())
      hint = merged(node.topology_policy, hints_for(node, layout, rest, count), all);
    if (static_cast<std::size_t>(count) > rest.size() || !admits(node.topology_policy, hint)) {
      refused = ask.name;
      return std::nullopt;
    }
    CpuSet inside;
    for (const Cpu& cpu : node.cpus) {
      if ((layout.bit(cpu.numa) & hint.mask) != 0 && has(rest, cpu.id)) inside.push_back(cpu.id);
    }
    CpuSet given = take_by_topology(node, inside, std::min(count, static_cast<std::int32_t>(inside.size())));
    if (static_cast<std::int32_t>(given.size()) < count) {
      CpuSet others = rest;
      remove_all(others, given);
      for (const std::int32_t cpu : take_by_topology(node, others, count - static_cast<std::int32_t>(given.size())))
        given.push_back(cpu);
      std::sort(given.begin(), given.end());
    }
    remove_all(rest, given);
    for (const Cpu& cpu : node.cpus) {
      if (has(given, cpu.id)) touched |= layout.bit(cpu.numa);
    }
    out.all.insert(out.all.end(), given.begin(), given.end());
    out.containers.emplace_back(ask.name, std::move(given));
  }
  std::sort(out.all.begin(), out.all.end());
  out.numa_nodes = std::popcount(touched);
  return out;
}

}  // namespace scheduler

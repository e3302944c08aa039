// Which CPUs of a node would a pod get, and does its topology policy admit that?
#include "scheduler/plugins/numa/numa_assign.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "base/check.h"
#include "base/format.h"

namespace scheduler {
namespace {

bool has(const CpuSet& set, std::int32_t cpu) { return std::binary_search(set.begin(), set.end(), cpu); }

void remove_all(CpuSet& from, const CpuSet& what) {
  std::erase_if(from, [&](std::int32_t cpu) { return has(what, cpu); });
}

// A set of NUMA nodes with enough free CPUs; preferred when no smaller set could hold as many in an empty node.
struct Hint {
  std::uint64_t mask = 0;
  bool preferred = false;
};

struct Layout {
  std::vector<std::int32_t> numas;  // ids, ascending

  explicit Layout(const NumaNode& node) {
    for (const Cpu& cpu : node.cpus) numas.push_back(cpu.numa);
    std::sort(numas.begin(), numas.end());
    numas.erase(std::unique(numas.begin(), numas.end()), numas.end());
  }
  std::size_t at(std::int32_t numa) const {
    return static_cast<std::size_t>(std::lower_bound(numas.begin(), numas.end(), numa) - numas.begin());
  }
  // Meaningful for kNumaNodesMax of them.
  std::uint64_t bit(std::int32_t numa) const { return std::uint64_t{1} << at(numa); }
  std::uint64_t all() const {
    return numas.size() < kNumaNodesMax ? (std::uint64_t{1} << numas.size()) - 1 : ~std::uint64_t{0};
  }
};

// The sum of the `most` largest amounts seen so far.
class LargestSum {
 public:
  explicit LargestSum(int most) : most_(static_cast<std::size_t>(most)) {}
  void add(std::int32_t amount) {
    kept_.insert(std::upper_bound(kept_.begin(), kept_.end(), amount, std::greater<>()), amount);
    sum_ += amount;
    if (kept_.size() <= most_) return;
    sum_ -= kept_.back();
    kept_.pop_back();
  }
  std::int64_t sum() const { return sum_; }
  bool is_full() const { return kept_.size() == most_; }

 private:
  std::size_t most_;
  std::vector<std::int32_t> kept_;  // descending
  std::int64_t sum_ = 0;
};

// How many of the amounts reach the count together, at least; nothing when all of them do not.
std::optional<int> fewest(std::vector<std::int32_t> amounts, std::int64_t count) {
  std::sort(amounts.begin(), amounts.end(), std::greater<>());
  int out = 0;
  for (const std::int32_t amount : amounts) {
    ++out;
    count -= amount;
    if (count <= 0) return out;
  }
  return std::nullopt;
}

// The lowest number among the masks with so many members whose amounts reach the count: the highest member stands as
// low as it can, then the next. No fewer members may reach it.
std::uint64_t lowest_mask(const std::vector<std::int32_t>& amounts, std::int64_t count, int members) {
  std::uint64_t out = 0;
  for (std::size_t end = amounts.size(); members > 0; --members) {
    LargestSum best(members);
    std::size_t top = 0;
    for (; top < end; ++top) {
      best.add(amounts[top]);
      if (best.is_full() && best.sum() >= count) break;
    }
    CHECK(top < end);
    out |= std::uint64_t{1} << top;
    count -= amounts[top];
    end = top;
  }
  return out;
}

// The best set of NUMA nodes for so many CPUs: preferred before others, then the fewest NUMA nodes, then the lowest.
// The one provider (CPUs) makes merging a choice of the best; a mask of all nodes means no affinity.
Hint best_hint(const NumaNode& node, const Layout& layout, const CpuSet& free, std::int32_t count) {
  std::vector<std::int32_t> total(layout.numas.size()), available(layout.numas.size());
  for (const Cpu& cpu : node.cpus) {
    const std::size_t at = layout.at(cpu.numa);
    ++total[at];
    available[at] += has(free, cpu.id) ? 1 : 0;
  }
  // The free CPUs are a part of the whole: where it takes as few NUMA nodes, these are preferred, and else none are.
  const std::optional<int> could = fewest(std::move(total), count), can = fewest(available, count);
  const bool preferred = can == could;
  if (!can || (node.topology_policy == "single-numa-node" && !(preferred && *can == 1))) return {layout.all(), false};
  return {lowest_mask(available, count, *can), preferred};
}

bool admits(const std::string& policy, const Hint& hint) {
  return (policy != "restricted" && policy != "single-numa-node") || hint.preferred;
}

// The first container for which no CPUs are left, however they are shared out; null where they suffice for all.
const ContainerAsk* first_without_cpus(const CpuSet& free, const std::vector<ContainerAsk>& asks) {
  std::size_t left = free.size();
  for (const ContainerAsk& ask : asks) {
    const auto count = ask.init ? std::size_t{0} : static_cast<std::size_t>(whole_cpus(ask));
    if (count > left) return &ask;
    left -= count;
  }
  return nullptr;
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
                                      std::string& refusal) {
  const Layout layout(node);
  NumaResult out;
  CpuSet rest = free;
  std::uint64_t touched = 0;
  const ContainerAsk* short_of = first_without_cpus(free, asks);
  for (const ContainerAsk& ask : asks) {
    if (ask.init) continue;
    const std::int32_t count = whole_cpus(ask);
    if (count == 0) continue;
    if (layout.numas.size() > kNumaNodesMax) {
      refusal = base::format("container {} cannot be assigned by numa: the node has {} NUMA nodes, more than {}",
                             ask.name, layout.numas.size(), kNumaNodesMax);
      return std::nullopt;
    }
    if (short_of != nullptr) {
      refusal = base::format("container {} cannot be assigned by numa", short_of->name);
      return std::nullopt;
    }
    Hint hint{layout.all(), true};
    if (node.topology_policy != "none" && !node.topology_policy.empty()) hint = best_hint(node, layout, rest, count);
    if (!admits(node.topology_policy, hint)) {
      refusal = base::format("container {} cannot be assigned by numa", ask.name);
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

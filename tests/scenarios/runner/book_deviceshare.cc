// The devices that deviceshare (5.16) gives to a pod of one node, of all families, and its annotations.
#include "book_deviceshare.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/time.h"
#include "book_cards.h"
#include "book_cpus.h"
#include "book_npus.h"

namespace scenario::book {
namespace {

constexpr double kLockLasts = 300;  // seconds

bool is_on(const Objects& objects, const char* argument) {
  const Plugin* plugin = objects.plugin("deviceshare");
  return plugin != nullptr && plugin->is_on(std::string("deviceshare.") + argument);
}

// A node is locked by a note of whoever is at it, and by each pod that has not started on it.
template <class Has>
bool is_locked(const Objects& objects, const Node& node, const std::vector<const Pod*>& others, const char* marked,
               const Has& has) {
  if (!is_on(objects, "NodeLockEnable")) return false;
  const auto is_young = [&](double since) { return objects.now - since < kLockLasts; };
  const auto annotated_at = base::parse_rfc3339(node.annotation(marked));
  if (annotated_at && is_young(static_cast<double>(annotated_at->ns) / 1e9)) return true;
  return std::any_of(others.begin(), others.end(),
                     [&](const Pod* other) { return !other->has_started && has(*other) && is_young(other->bound_at); });
}

bool choose_gpus(const Objects& objects, const Node& node, const Pod& pod, const std::vector<const Pod*>& others,
                 DeviceChoice& out) {
  if (is_on(objects, "VGPUEnable")) {
    if (wants_vgpus(objects, pod) &&
        is_locked(objects, node, others, "hamivgpu", [](const Pod& other) { return !other.given.cards.empty(); }))
      return false;
    return choose_vgpus(objects, node, pod, others, out.given, out.score);
  }
  const bool by_memory = is_on(objects, "GPUSharingEnable");
  if (!by_memory && !is_on(objects, "GPUNumberEnable")) return true;
  if (!choose_shared_gpus(by_memory, node, pod, others, out.given)) return false;
  return out.given.shared_gpus.empty() ||
         !is_locked(objects, node, others, "gpu", [](const Pod& other) { return !other.given.shared_gpus.empty(); });
}

std::string list_of(const std::set<int>& ids) {
  std::string out;
  for (const int id : ids) out += (out.empty() ? "" : ",") + std::to_string(id);
  return out;
}

std::string parts_of(const std::vector<CardPart>& parts, const std::string& type) {
  std::string out;
  for (const CardPart& part : parts)
    out += base::format("{}{},{},{},{}:", part.card, part.instance.empty() ? "" : "[" + part.instance + "]", type,
                        part.memory, part.cores);
  return out;
}

std::string npus_in_json(const std::vector<CardPart>& parts, bool by_share) {
  std::string out;
  for (const CardPart& part : parts) {
    out += base::format("{}{{\"UUID\":\"{}\"", out.empty() ? "" : ",", part.card);
    if (by_share)
      out += base::format(",\"memory\":{},\"core\":{}", part.memory, part.cores);
    else if (!part.cut.empty())
      out += base::format(",\"temp\":\"{}\"", part.cut);
    out += "}";
  }
  return "[" + out + "]";
}

// Each NUMA node with how many of its CPUs the pod has.
std::string cpus_in_json(const Node& node, const std::set<int>& cpus) {
  std::map<int, int> count;
  for (const Cpu& cpu : node.numa.cpus) count[cpu.socket] += cpus.contains(cpu.id) ? 1 : 0;
  std::string out;
  for (const auto& [numa_node, cpus_there] : count) {
    if (cpus_there > 0)
      out += base::format("{}\"{}\":{{\"cpu\":\"{}\"}}", out.empty() ? "" : ",", numa_node, cpus_there);
  }
  return "{" + out + "}";
}

}  // namespace

std::optional<DeviceChoice> choose_shares(const Objects& objects, std::size_t n, const Pod& pod) {
  const Node& node = objects.nodes[n];
  const std::vector<const Pod*> others = objects.pods_on(n);
  DeviceChoice out;
  if (!choose_gpus(objects, node, pod, others, out)) return std::nullopt;
  const auto has_npus = [](const Pod& other) { return !other.given.npus.empty(); };
  if (!choose_npus(objects, node, pod, others, out.given, out.score)) return std::nullopt;
  if (!out.given.npus.empty() && is_locked(objects, node, others, "hami.io/mutex.lock", has_npus)) return std::nullopt;
  if (is_on(objects, "AscendMindClusterVNPUEnable") &&
      !choose_chips(objects, node, pod, others, out.given, out.downgraded))
    return std::nullopt;
  out.score = std::round(out.score);
  return out;
}

std::vector<double> chip_scores(const Objects& objects, const Pod& pod, const std::vector<Candidate>& nodes) {
  std::vector<double> out(nodes.size(), 0);
  if (!is_on(objects, "AscendMindClusterVNPUEnable") || !wants_chips(pod)) return out;
  std::vector<std::size_t> order(nodes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto free = [&](std::size_t i) {
      return free_of_chips(objects, objects.nodes[nodes[i].node], objects.pods_on(nodes[i].node));
    };
    return free(a) < free(b);
  });
  const bool any = std::any_of(nodes.begin(), nodes.end(), [](const Candidate& one) { return one.downgraded; });
  for (const std::size_t i : order) {
    out[i] = any && !nodes[i].downgraded ? 16 : 8;
    if (!nodes[i].downgraded) break;
  }
  return out;
}

std::vector<std::string> device_lines_of(const Objects& objects, const Pod& pod) {
  const Node& node = objects.nodes[static_cast<std::size_t>(pod.node)];
  std::vector<std::string> out;
  const Given& given = pod.given;
  if (!given.shared_gpus.empty()) out.push_back("volcano.sh/gpu-index: " + list_of(given.shared_gpus));
  if (const std::string parts = parts_of(given.cards, "NVIDIA"); !parts.empty()) {
    out.insert(out.end(), {"volcano.sh/bind-phase: allocating", "volcano.sh/devices-to-allocate: " + parts,
                           "volcano.sh/vgpu-ids-new: " + parts, "volcano.sh/vgpu-node: " + node.name});
  }
  for (const auto& [family, held] : given.npus) {
    const std::string parts = parts_of(held, family), prefix = "hami.io/" + family;
    out.insert(out.end(), {"hami.io/bind-phase: allocating", "hami.io/vgpu-node: " + node.name,
                           prefix + "-devices-allocated: " + parts, prefix + "-devices-to-allocate: " + parts,
                           "huawei.com/" + family + ": " + npus_in_json(held, given.npu_cores)});
  }
  if (!given.chips.chips.empty())
    out.push_back("huawei.com/npu-core: " + list_of(given.chips.chips) +
                  (given.chips.cut.empty() ? "" : "-" + given.chips.cut));
  if (!given.cpus.empty()) out.push_back("volcano.sh/topology-decision: " + cpus_in_json(node, given.cpus));
  return out;
}

}  // namespace scenario::book

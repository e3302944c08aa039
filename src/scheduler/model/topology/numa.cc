// How are the CPUs of each node laid out, and which of them are free?
#include "scheduler/model/topology/numa.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "api/schema/quantity.h"
#include "base/number.h"

namespace scheduler {
namespace {

constexpr std::int32_t kCpuMax = 1 << 14;

bool number_from(std::string_view text, std::int32_t& out) {
  const auto number = base::parse_number<std::int32_t>(text);
  out = number.value_or(-1);
  return out >= 0 && out < kCpuMax;
}

std::int32_t small(const api::Json& number) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(number.as_int(), 0, kCpuMax));
}

}  // namespace

CpuSet cpu_set_from(std::string_view text) {
  CpuSet out;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    const std::string_view part = text.substr(start, comma - start);
    start = comma + 1;
    const std::size_t dash = part.find('-');
    std::int32_t first = 0, last = 0;
    if (!number_from(part.substr(0, dash), first)) continue;
    last = first;
    if (dash != std::string_view::npos && !number_from(part.substr(dash + 1), last)) continue;
    for (std::int32_t cpu = first; cpu <= last && out.size() < static_cast<std::size_t>(kCpuMax); ++cpu)
      out.push_back(cpu);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::string to_text(const CpuSet& cpus) {
  std::string out;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t end = i;
    while (end + 1 < cpus.size() && cpus[end + 1] == cpus[end] + 1) ++end;
    if (!out.empty()) out += ',';
    out += std::to_string(cpus[i]);
    if (end > i) out += '-' + std::to_string(cpus[end]);
    i = end + 1;
  }
  return out;
}

bool NumaNodes::set(const api::Json& object) {
  const api::Json& spec = object["spec"];
  NumaNode out;
  out.cpu_policy = spec["policies"]["CPUManagerPolicy"].str();
  out.topology_policy = spec["policies"]["TopologyManagerPolicy"].str();
  for (const auto& member : spec["cpuDetail"].members()) {
    std::int32_t id = 0;
    if (!number_from(member.name(), id)) continue;
    out.cpus.push_back({id, small(member.value["numa"]), small(member.value["socket"]), small(member.value["core"])});
  }
  std::sort(out.cpus.begin(), out.cpus.end(), [](const Cpu& a, const Cpu& b) { return a.id < b.id; });
  const api::Json& cpu = spec["numares"]["cpu"];
  out.has_sets = spec["numares"].is_object() && !spec["numares"].empty();
  out.allocatable = cpu_set_from(cpu["allocatable"].as_string());
  if (const auto reserved = api::Quantity::from_json(spec["resReserved"]["cpu"])) {
    out.reserved = static_cast<std::int32_t>(std::clamp<std::int64_t>(reserved->value(), 0, kCpuMax));
  }
  auto [slot, added] = nodes_.try_emplace(std::string(api::name_of(object)));
  if (!added && slot->second == out) return false;
  slot->second = std::move(out);
  return !added;
}

void NumaNodes::remove(std::string_view node) {
  if (auto found = nodes_.find(node); found != nodes_.end()) nodes_.erase(found);
}

const NumaNode* NumaNodes::find(std::string_view node) const {
  auto found = nodes_.find(node);
  return found == nodes_.end() ? nullptr : &found->second;
}

}  // namespace scheduler

// Watermarks, counts and the order of victims.
#include "colocation/policy/eviction.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/number.h"
#include "base/saturate.h"

namespace colocation {

namespace {

// The annotation under its name of now, or the older one.
std::string_view mark_text(const api::Json& node, std::string_view suffix) {
  const std::string_view now = api::annotation_of(node, base::format("volcano.sh/evicting-{}", suffix));
  return now.empty() ? api::annotation_of(node, base::format("volcano.sh/oversubscription-evicting-{}", suffix)) : now;
}

// The request of a pod; disks, which no pod requests, count what it reads and writes.
std::int64_t request_of(const Candidate& one, NodeResource resource) {
  if (resource == NodeResource::kIo) return one.io_bytes;
  return resource == NodeResource::kCpu ? one.pod->cpu_milli : one.pod->memory_bytes;
}
std::int64_t batch_request_of(const PodFacts& pod, NodeResource resource) {
  if (resource == NodeResource::kIo) return 0;
  return resource == NodeResource::kCpu ? pod.batch_cpu_milli : pod.batch_memory_bytes;
}

std::string gang_key(const PodFacts& pod) { return pod.group.empty() ? std::string() : pod.ns + "/" + pod.group; }

bool breaks_gang(const EvictionInput& input, const PodFacts& pod) {
  const auto gang = input.gangs.find(gang_key(pod));
  // A gang of one is no more than its pod.
  return gang != input.gangs.end() && gang->second.min_member > 1 && gang->second.running <= gang->second.min_member;
}

// Seen use, or the request where nothing is seen.
NodeAmounts frees_of(const Candidate& one) {
  const PodFacts& pod = *one.pod;
  return {one.used.cpu_milli > 0 ? one.used.cpu_milli : std::max(pod.cpu_milli, pod.batch_cpu_milli),
          one.used.memory_bytes > 0 ? one.used.memory_bytes : std::max(pod.memory_bytes, pod.batch_memory_bytes)};
}

}  // namespace

std::string_view resource_word(NodeResource resource) {
  if (resource == NodeResource::kIo) return "io";
  return resource == NodeResource::kCpu ? "cpu" : "memory";
}

std::int64_t amount_of(const NodeAmounts& amounts, NodeResource resource) {
  if (resource == NodeResource::kIo) return 0;
  return resource == NodeResource::kCpu ? amounts.cpu_milli : amounts.memory_bytes;
}

Watermarks watermarks_for(const Config& config, const api::Json& node, std::string* problem) {
  const Watermarks configured{config.cpu_high, config.cpu_low, config.memory_high, config.memory_low};
  Watermarks marks;
  const std::pair<const char*, std::int64_t*> kMarks[] = {{"cpu-high-watermark", &marks.cpu_high},
                                                          {"cpu-low-watermark", &marks.cpu_low},
                                                          {"memory-high-watermark", &marks.memory_high},
                                                          {"memory-low-watermark", &marks.memory_low}};
  bool any = false;
  for (const auto& [suffix, target] : kMarks) {
    const std::string_view text = mark_text(node, suffix);
    if (text.empty()) continue;
    any = true;
    const auto number = base::parse_number<std::int64_t>(text);
    if (number && *number >= 0) {
      *target = *number;
      continue;
    }
    if (problem) *problem = base::format("annotation volcano.sh/evicting-{}: {:?} is not a percentage", suffix, text);
    return configured;
  }
  if (!any) return configured;
  if (marks.cpu_high > marks.cpu_low && marks.memory_high > marks.memory_low) return marks;
  if (problem)
    *problem = base::format(
        "annotations volcano.sh/evicting-*: cpu {} to {} and memory {} to {}: a low watermark must be "
        "below its high one",
        marks.cpu_low, marks.cpu_high, marks.memory_low, marks.memory_high);
  return configured;
}

std::int64_t percent_used(std::int64_t used, std::int64_t allocatable) {
  if (allocatable <= 0 || used < 0) return -1;
  return static_cast<std::int64_t>(static_cast<double>(used) * 100.0 / static_cast<double>(allocatable));
}

void PressureCount::look(NodeResource resource, std::int64_t percent, const Watermarks& marks) {
  int& count = counts_[static_cast<std::size_t>(resource)];
  count = percent >= marks.high(resource) ? std::min(count + 1, 1000) : 0;
}

std::vector<Victim> victims_in_order(const EvictionInput& input) {
  if (input.releasing > 0 && input.releasing >= input.excess) return {};
  std::vector<const Candidate*> order;
  for (const Candidate& one : input.candidates)
    if (one.pod->is_offline() && !one.pod->critical && !one.pod->deleting && !one.pod->ended) order.push_back(&one);
  const auto rank = [&input](const Candidate* one) {
    const PodFacts& pod = *one->pod;
    return std::tuple(breaks_gang(input, pod), -request_of(*one, input.resource),
                      -batch_request_of(pod, input.resource), pod.priority, -pod.started.ns, pod.key());
  };
  std::ranges::sort(order, [&rank](const Candidate* a, const Candidate* b) { return rank(a) < rank(b); });
  std::vector<Victim> victims;
  std::vector<std::string> broken;
  for (const Candidate* one : order) {
    Victim victim;
    const std::string gang = gang_key(*one->pod);
    const bool breaks = breaks_gang(input, *one->pod);
    if (breaks && std::ranges::find(broken, gang) != broken.end()) continue;
    if (breaks) broken.push_back(gang);
    for (const Candidate* other : order) {
      if (other != one && !(breaks && gang_key(*other->pod) == gang)) continue;
      const NodeAmounts frees = frees_of(*other);
      victim.pods.push_back(other->pod);
      victim.frees.cpu_milli = base::saturating_add(victim.frees.cpu_milli, frees.cpu_milli);
      victim.frees.memory_bytes = base::saturating_add(victim.frees.memory_bytes, frees.memory_bytes);
    }
    victims.push_back(std::move(victim));
  }
  return victims;
}

}  // namespace colocation

// One function a feature.
#include "colocation/policy/group_values.h"

#include <algorithm>

#include "api/json/json.h"
#include "base/format.h"
#include "base/number.h"
#include "base/saturate.h"
#include "base/split.h"
#include "base/trim.h"
#include "colocation/files/kernel_text.h"
#include "colocation/policy/words.h"

namespace colocation {

namespace {

constexpr std::int64_t kPeriodUs = 100'000;
constexpr std::int64_t kQuotaMinUs = 1'000;

bool is_v1(const GroupTree& tree) { return tree.version == GroupVersion::kV1; }

std::string weight_file(const GroupTree& tree) { return is_v1(tree) ? "cpu.shares" : "cpu.weight"; }

// The pod's container that has this group; unset: it has none now.
std::optional<std::string> group_of(const GroupTree& tree, const PodGroups& groups, const ContainerFacts& container) {
  const auto name = container_group(tree, container.id);
  if (!name) return std::nullopt;
  std::string path = groups.path + "/" + *name;
  if (std::ranges::find(groups.all, path) == groups.all.end()) return std::nullopt;
  return path;
}

std::int64_t percent_of(std::int64_t amount, std::int64_t percent) {
  return amount / 100 * percent + amount % 100 * percent / 100;
}

// The quota as each version writes it.
GroupValue quota_value(const GroupTree& tree, const std::string& path, std::int64_t milli, Feature feature) {
  const std::int64_t quota = std::max(kQuotaMinUs, base::saturating_multiply(milli, kPeriodUs / 1000));
  if (is_v1(tree)) return {feature, "cpu", path, "cpu.cfs_quota_us", std::to_string(quota)};
  return {feature, "cpu", path, "cpu.max", base::format("{} {}", quota, kPeriodUs)};
}

}  // namespace

void add_cpu_qos(const GroupTree& tree, const PodFacts& pod, const PodGroups& groups, GroupValues& desired) {
  if (groups.files.contains("cpu.qos_level")) {
    for (const std::string& path : groups.all)
      desired.values.push_back({Feature::kCpuQos, "cpu", path, "cpu.qos_level", std::to_string(pod.level)});
    return;
  }
  if (!pod.is_offline()) return;
  if (groups.files.contains("cpu.idle"))
    desired.values.push_back({Feature::kCpuQos, "cpu", groups.path, "cpu.idle", "1", weight_file(tree)});
  else
    desired.values.push_back({Feature::kCpuQos, "cpu", groups.path, weight_file(tree), is_v1(tree) ? "2" : "1"});
}

void add_cpu_burst(const GroupTree& tree, const PodFacts& pod, const PodGroups& groups, GroupValues& desired) {
  if (!is_true(pod.burst)) return;
  const std::string file = is_v1(tree) ? "cpu.cfs_burst_us" : "cpu.max.burst";
  if (!groups.files.contains(file)) return;
  const std::int64_t asked = base::parse_number<std::int64_t>(pod.burst_time).value_or(0);
  std::int64_t total = 0;
  for (const std::string& path : groups.all) {
    const auto quota = groups.quotas.find(path);
    if (quota == groups.quotas.end()) {
      desired.problems.push_back(base::format("pod {}: group {} has no quota that can be read", pod.key(), path));
      return;
    }
    if (path == groups.path || quota->second == kUnlimited) continue;
    const std::int64_t burst = asked <= 0 || asked > quota->second ? quota->second : asked;
    desired.values.push_back({Feature::kCpuBurst, "cpu", path, file, std::to_string(burst)});
    total = base::saturating_add(total, burst);
  }
  const std::int64_t own = groups.quotas.at(groups.path);
  // The kernel takes no burst above the group's own quota.
  if (own != kUnlimited && total > 0)
    desired.values.push_back({Feature::kCpuBurst, "cpu", groups.path, file, std::to_string(std::min(total, own))});
}

void add_memory_qos(const PodFacts& pod, const PodGroups& groups, GroupValues& desired) {
  if (!groups.files.contains("memory.qos_level")) return;
  for (const std::string& path : groups.all)
    desired.values.push_back({Feature::kMemoryQos, "memory", path, "memory.qos_level", pod.is_offline() ? "-1" : "0"});
}

namespace {

struct Ratios {
  std::int64_t high = 100, low = 0, min = 0;
};

// Unset: the annotation is wrong, and `problem` says how.
std::optional<Ratios> ratios_of(const PodFacts& pod, std::string& problem) {
  const auto read = api::parse_json(pod.config);
  if (!read.ok() || !read->is_object()) {
    problem = base::format("pod {}: annotation {} is no JSON object: {:?}", pod.key(), kPodConfigAnnotation,
                           pod.config.substr(0, 100));
    return std::nullopt;
  }
  Ratios ratios;
  const api::Json& qos = (*read)["memoryQos"];
  if (qos.is_null()) return ratios;
  const std::pair<const char*, std::int64_t*> kRatios[] = {
      {"highRatio", &ratios.high}, {"lowRatio", &ratios.low}, {"minRatio", &ratios.min}};
  for (const auto& [name, target] : kRatios) {
    *target = qos[name].as_int();
    const bool fits = (qos[name].is_null() || qos[name].is_int()) && *target >= 0 && *target <= 100;
    if (fits) continue;
    problem = base::format("pod {}: annotation {}: memoryQos.{} must be between 0 and 100, not {}", pod.key(),
                           kPodConfigAnnotation, name, qos[name].dump());
    return std::nullopt;
  }
  return ratios;
}

}  // namespace

void add_memory_qos_v2(const GroupTree& tree, const PodFacts& pod, const PodGroups& groups, GroupValues& desired) {
  if (is_v1(tree) || pod.config.empty()) return;
  std::string problem;
  const auto ratios = ratios_of(pod, problem);
  if (!ratios) return desired.problems.push_back(problem);
  for (const ContainerFacts& container : pod.containers) {
    const auto path = group_of(tree, groups, container);
    if (!path) continue;
    const auto of = [&pod](const Amounts& batch, const Amounts& ordinary) {
      return (pod.uses_batch() && batch.memory_bytes ? batch : ordinary).memory_bytes.value_or(0);
    };
    const std::int64_t limit = of(container.batch_limit, container.limit);
    const std::int64_t request = of(container.batch_request, container.request);
    const bool unlimited = limit == 0 || ratios->high >= 100;
    const auto add = [&](const char* file, std::string value) {
      desired.values.push_back({Feature::kMemoryQosV2, "memory", *path, file, std::move(value)});
    };
    // COMPAT(colocation-high-zero): 0 would stop every allocation, so a ratio of 0 is none.
    add("memory.high",
        unlimited || ratios->high == 0 ? std::string("max") : std::to_string(percent_of(limit, ratios->high)));
    add("memory.low", std::to_string(percent_of(request, ratios->low)));
    add("memory.min", std::to_string(percent_of(request, ratios->min)));
  }
}

namespace {

std::int64_t weight_of(const GroupTree& tree, std::int64_t milli) {
  return is_v1(tree) ? std::clamp<std::int64_t>(base::saturating_multiply(milli, 1024) / 1000, 2, 262'144)
                     : std::clamp<std::int64_t>(milli / 10, 1, 10'000);
}

// The values of a pod as a whole, added up over its containers.
struct PodSums {
  std::int64_t weight = 0, weights = 0;
  std::int64_t quota_milli = 0, memory_bytes = 0;
  bool all_cpu_limits = true, all_memory_limits = true;
};

void add_limits(const GroupTree& tree, const std::string& path, const Amounts& limit, GroupValues& desired) {
  if (limit.cpu_milli && *limit.cpu_milli > 0)
    desired.values.push_back(quota_value(tree, path, *limit.cpu_milli, Feature::kResources));
  else if (limit.cpu_milli && !is_v1(tree))
    desired.values.push_back({Feature::kResources, "cpu", path, "cpu.max", base::format("max {}", kPeriodUs)});
  const std::string memory_file = is_v1(tree) ? "memory.limit_in_bytes" : "memory.max";
  if (limit.memory_bytes && *limit.memory_bytes > 0)
    desired.values.push_back({Feature::kResources, "memory", path, memory_file, std::to_string(*limit.memory_bytes)});
  else if (limit.memory_bytes && !is_v1(tree))
    desired.values.push_back({Feature::kResources, "memory", path, memory_file, "max"});
}

void add_pod_sums(const GroupTree& tree, const PodGroups& groups, const PodSums& sums, GroupValues& desired) {
  const std::int64_t none = is_v1(tree) ? 2 : 100;
  // COMPAT(colocation-pod-weight): the sum stays within what the kernel takes.
  const std::int64_t weight =
      sums.weights == 0 ? none : std::min<std::int64_t>(sums.weight, is_v1(tree) ? 262'144 : 10'000);
  desired.values.push_back({Feature::kResources, "cpu", groups.path, weight_file(tree), std::to_string(weight)});
  Amounts limit;
  if (sums.all_cpu_limits) limit.cpu_milli = sums.quota_milli;
  if (sums.all_memory_limits) limit.memory_bytes = sums.memory_bytes;
  add_limits(tree, groups.path, limit, desired);
}

}  // namespace

void add_resources(const GroupTree& tree, const PodFacts& pod, const PodGroups& groups, GroupValues& desired) {
  const auto names = [](const ContainerFacts& one) {
    return one.batch_request.cpu_milli || one.batch_request.memory_bytes || one.batch_limit.cpu_milli ||
           one.batch_limit.memory_bytes;
  };
  if (!pod.uses_batch() || std::ranges::none_of(pod.containers, names)) return;
  PodSums sums;
  for (const ContainerFacts& one : pod.containers) {
    const Amounts& limit = one.batch_limit;
    if (!limit.cpu_milli) sums.all_cpu_limits = false;
    if (!limit.memory_bytes) sums.all_memory_limits = false;
    sums.quota_milli = base::saturating_add(sums.quota_milli, limit.cpu_milli.value_or(0));
    sums.memory_bytes = base::saturating_add(sums.memory_bytes, limit.memory_bytes.value_or(0));
    const auto path = group_of(tree, groups, one);
    if (one.batch_request.cpu_milli) {
      const std::int64_t weight = weight_of(tree, *one.batch_request.cpu_milli);
      sums.weight = base::saturating_add(sums.weight, weight);
      ++sums.weights;
      if (path)
        desired.values.push_back({Feature::kResources, "cpu", *path, weight_file(tree), std::to_string(weight)});
    }
    if (path) add_limits(tree, *path, limit, desired);
  }
  add_pod_sums(tree, groups, sums, desired);
}

GroupValues values_of_pod(const GroupTree& tree, const SupportedFeatures& supported, const Config& config,
                          const PodFacts& pod, const PodGroups& groups) {
  GroupValues desired;
  const auto on = [&](Feature feature) { return is_active(feature, supported, config); };
  if (on(Feature::kResources)) add_resources(tree, pod, groups, desired);
  if (on(Feature::kCpuQos)) add_cpu_qos(tree, pod, groups, desired);
  if (on(Feature::kCpuBurst)) add_cpu_burst(tree, pod, groups, desired);
  if (on(Feature::kMemoryQos)) add_memory_qos(pod, groups, desired);
  if (on(Feature::kMemoryQosV2)) add_memory_qos_v2(tree, pod, groups, desired);
  // An idle group has no weight of its own: the kernel refuses one. The later one of two values of a file counts.
  std::vector<GroupValue> kept;
  for (std::size_t at = 0; at < desired.values.size(); ++at) {
    const GroupValue& value = desired.values[at];
    const bool overruled =
        std::any_of(desired.values.begin() + static_cast<std::ptrdiff_t>(at) + 1, desired.values.end(),
                    [&value](const GroupValue& other) {
                      const bool same_file = other.file == value.file;
                      return other.path == value.path && (same_file || other.companion == value.file);
                    });
    if (!overruled) kept.push_back(value);
  }
  desired.values = std::move(kept);
  return desired;
}

bool has_value(std::string_view file, std::string_view present, std::string_view value) {
  const std::string_view have = base::trim(present), want = base::trim(value);
  if (have == want) return true;
  if (file == "cpu.max") {
    const auto a = base::split_words(have, ' '), b = base::split_words(want, ' ');
    return a.size() == 2 && a == b;
  }
  if (!file.starts_with("memory.") || file == "memory.qos_level") return false;
  constexpr std::int64_t kPage = 4096;
  const auto a = parse_amount(have), b = parse_amount(want);
  return a && b && *a / kPage == *b / kPage;
}

std::optional<std::int64_t> next_throttle(const Config& config, std::int64_t allocatable_milli, std::int64_t used_milli,
                                          ThrottleState& state) {
  const std::int64_t jitter = config.throttle_jitter < 1 ? 1 : config.throttle_jitter;
  const std::int64_t recover = config.throttle_recover < 1 ? 10 : config.throttle_recover;
  std::int64_t next = std::max<std::int64_t>(0, percent_of(allocatable_milli, config.throttle_threshold) - used_milli);
  const auto last = state.last_milli;
  if (last && *last > 0 && next > *last)
    next = std::min(next, *last + std::max<std::int64_t>(1, percent_of(*last, recover)));
  const std::int64_t change = last ? (next > *last ? next - *last : *last - next) : 0;
  const bool send = !last || (*last == 0 ? next != 0 : base::saturating_multiply(change, 100) >= *last * jitter);
  if (!send) return std::nullopt;
  state.last_milli = next;
  return next;
}

GroupValue throttle_value(const GroupTree& tree, std::int64_t milli) {
  return quota_value(tree, class_path(tree, QosClass::kBestEffort), milli, Feature::kCpuThrottle);
}

}  // namespace colocation

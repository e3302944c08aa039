// Files of control groups as amounts, and /proc/PID/oom_score_adj.
#include "node/os/kernel_limits.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/format.h"
#include "base/split.h"
#include "node/machine/amounts.h"
#include "node/os/pod_folders.h"

namespace node {

using api::Json;

namespace {

constexpr std::int64_t kSharesMax = 262'144;  // of the kernel
constexpr std::int64_t kPeriod = 100'000;     // of our quotas, in microseconds
// The kernel counts in pages, which have 64 KiB at most.
constexpr std::int64_t kPageBytesMax = 65'536;
// The value of v1 without a limit is near the end of the numbers.
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max() - kPageBytesMax;

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  return end.ec == std::errc() ? std::optional(value) : std::nullopt;
}

// "max" and what is below zero are not a limit, which is 0 here.
std::optional<std::int64_t> limit_in(std::string_view text) {
  if (text.starts_with("max")) return 0;
  const auto value = number_in(text);
  if (!value) return value;
  return *value < 0 || *value >= kNoLimit ? 0 : *value;
}

// With another period than ours, as if it were ours.
std::optional<std::int64_t> of_our_period(std::optional<std::int64_t> quota, std::optional<std::int64_t> period) {
  if (!quota || !period || *period <= 0 || *period == kPeriod) return quota;
  return static_cast<std::int64_t>(static_cast<double>(*quota) / static_cast<double>(*period) * kPeriod);
}

// In the folder of a group and in those below it.
void add_processes(const std::string& folder, std::vector<std::string>& pids) {
  const std::string text = read_text(folder + "/cgroup.procs");
  for (const std::string_view line : base::split(text, '\n'))
    if (!line.empty()) pids.emplace_back(line);
  for (const std::string& name : list_folder(folder)) {
    struct stat facts {};
    const std::string path = folder + "/" + name;
    if (::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) add_processes(path, pids);
  }
}

std::vector<std::string> processes_of(const CgroupLayout& layout, const std::string& path) {
  std::vector<std::string> pids;
  const auto memory = layout.v1.find("memory");
  if (!layout.unified() && memory == layout.v1.end()) return pids;
  add_processes((layout.unified() ? layout.v2 : memory->second) + path, pids);
  return pids;
}

void set_or_erase(Json& side, const char* name, const std::optional<std::string>& text) {
  if (text)
    side.set(name, *text);
  else
    side.erase(name);
}

}  // namespace

KernelLimits kernel_limits(const CgroupLayout& layout, const std::string& path,
                           const std::function<std::string(const std::string&)>& read) {
  KernelLimits limits;
  if (layout.unified()) {
    const std::string quota = read(layout.v2 + path + "/cpu.max");
    const std::size_t space = std::min(quota.size(), quota.find(' '));
    const std::string_view period = std::string_view(quota).substr(std::min(quota.size(), space + 1));
    limits.cpu_quota = of_our_period(limit_in(quota), number_in(period));
    limits.memory_limit_bytes = limit_in(read(layout.v2 + path + "/memory.max"));
    return limits;
  }
  if (const auto cpu = layout.v1.find("cpu"); cpu != layout.v1.end()) {
    const std::string folder = cpu->second + path;
    limits.cpu_shares = number_in(read(folder + "/cpu.shares"));
    limits.cpu_quota =
        of_our_period(limit_in(read(folder + "/cpu.cfs_quota_us")), number_in(read(folder + "/cpu.cfs_period_us")));
  }
  if (const auto memory = layout.v1.find("memory"); memory != layout.v1.end())
    limits.memory_limit_bytes = limit_in(read(memory->second + path + "/memory.limit_in_bytes"));
  return limits;
}

Json with_kernel_limits(const Json& reported, const KernelLimits& limits) {
  Json out = reported;
  const PodAmounts amounts = container_amounts(reported);
  const std::int64_t shares = std::min(kSharesMax, cpu_shares(amounts.cpu_request_milli));
  if (limits.cpu_shares && *limits.cpu_shares != shares && reported["requests"].has("cpu"))
    out.edit("requests").set("cpu", base::format("{}m", (*limits.cpu_shares * 1000 + 1023) / 1024));
  const std::int64_t quota = amounts.cpu_limit_milli > 0 ? cpu_quota(amounts.cpu_limit_milli) : 0;
  if (limits.cpu_quota && *limits.cpu_quota != quota && reported["limits"].has("cpu"))
    set_or_erase(out.edit("limits"), "cpu",
                 *limits.cpu_quota == 0 ? std::nullopt : std::optional(base::format("{}m", *limits.cpu_quota / 100)));
  const std::int64_t memory = amounts.memory_limit_bytes;
  if (!limits.memory_limit_bytes || !reported["limits"].has("memory")) return out;
  const std::int64_t has = *limits.memory_limit_bytes;
  if (has > memory || has <= memory - kPageBytesMax || (has == 0) != (memory == 0))
    set_or_erase(out.edit("limits"), "memory", has == 0 ? std::nullopt : std::optional(std::to_string(has)));
  return out;
}

void set_oom_scores(const CgroupLayout& layout, const std::string& path, int before, int after) {
  if (before == after) return;
  // A process that begins meanwhile has what its parent had: once more, until all have it.
  for (int round = 0; round < 3; ++round) {
    bool all = true;
    for (const std::string& pid : processes_of(layout, path)) {
      const std::string file = base::format("/proc/{}/oom_score_adj", pid);
      if (number_in(read_text(file)) != before) continue;
      all = !write_cgroup({{file, std::to_string(after)}}).ok() && all;  // not: it is gone
    }
    if (all) return;
  }
}

}  // namespace node

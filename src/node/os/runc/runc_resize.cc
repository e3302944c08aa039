// Containers that run get other limits: the runtime changes theirs, and the pod's control group is raised before and
// lowered after.
#include <unistd.h>

#include <charconv>

#include "api/node_usage.h"
#include "base/format.h"
#include "base/utf8.h"
#include "node/machine/container_text.h"
#include "node/os/command.h"
#include "node/os/kernel_limits.h"
#include "node/os/runc/runc_runtime.h"
#include "node/os/usage_reader.h"

namespace node {

using base::Code;
using base::make_error;

namespace {

// A limit that is below what is in use would end the container, not shrink it.
std::string below_usage(const CgroupLayout& layout, const std::string& group, std::int64_t limit,
                        const std::string& whose) {
  api::Usage usage;
  if (limit == 0 || !lowers_memory(layout, group, limit) || !read_group(layout, group, usage)) return {};
  if (usage.memory_bytes < limit) return {};
  return base::format("attempting to set {} memory limit ({}) below current usage ({})", whose, limit,
                      usage.memory_bytes);
}

std::vector<std::string> update_words(const PodAmounts& amounts) {
  const bool memory = amounts.memory_limit_bytes > 0;
  const std::int64_t quota = amounts.cpu_limit_milli > 0 ? cpu_quota(amounts.cpu_limit_milli) : -1;
  return {base::format("--cpu-share={}", cpu_shares(amounts.cpu_request_milli)), "--cpu-period=100000",
          base::format("--cpu-quota={}", quota),
          base::format("--memory={}", memory ? amounts.memory_limit_bytes : std::int64_t{-1})};
}

}  // namespace

base::Status RuncRuntime::resize(const PodResize& change) {
  const std::string group = pod_cgroup(change.pod_uid);
  std::string why = below_usage(cgroups_, group, change.pod.memory_limit_bytes, "pod");
  for (const ContainerResize& one : change.containers) {
    const std::string problem = below_usage(cgroups_, group + "/" + one.id, one.amounts.memory_limit_bytes,
                                            base::format("container \"{}\"", one.name));
    if (!problem.empty()) why += (why.empty() ? "" : ", ") + problem;
  }
  if (!why.empty()) return make_error(Code::kUnavailable, "cannot decrease memory limits: " + why);
  const CgroupResize pod = plan_cgroup_resize(
      cgroups_, group, {change.pod.cpu_request_milli, change.pod.cpu_limit_milli, change.pod.memory_limit_bytes},
      read_text);
  TRY_VOID(write_cgroup(pod.before));
  for (const ContainerResize& one : change.containers) {
    const std::string folder = folders_.find_container(change.pod_uid, one.id);
    if (folder.empty()) return make_error(Code::kNotFound, base::format("container {} is gone", one.name));
    std::vector<std::string> words = {runtime_of(folder, programs_.runc), "--root=" + programs_.state, "update"};
    for (std::string& word : update_words(one.amounts)) words.push_back(std::move(word));
    words.push_back(one.id);
    const base::Status updated = must_run(words);
    if (!updated.ok())
      return make_error(Code::kUnavailable,
                        base::format("updating container {}: {}", one.name, reason_text(updated.error().message)));
  }
  for (const ContainerResize& one : change.containers)
    set_oom_scores(cgroups_, group + "/" + one.id, one.oom_score.before, one.oom_score.after);
  return write_cgroup(pod.after);
}

api::Json RuncRuntime::actual_resources(const std::string& pod_uid, const std::string& container_id,
                                        const api::Json& reported) const {
  return with_kernel_limits(reported, kernel_limits(cgroups_, pod_cgroup(pod_uid) + "/" + container_id, read_text));
}

}  // namespace node

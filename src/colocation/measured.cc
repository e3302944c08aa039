// How two looks at the machine become figures of use.
#include "colocation/measured.h"

#include <algorithm>

#include "base/saturate.h"

namespace colocation {

namespace {

constexpr std::int64_t kTicksASecond = 100;  // of /proc/stat, on every Linux

// Thousandths of a processor in use between two counts of nanoseconds; -1: it cannot be said.
std::int64_t milli_between(const std::optional<std::int64_t>& before, const std::optional<std::int64_t>& now,
                           base::Duration span) {
  if (!before || !now || *now < *before || span.ns <= 0) return -1;
  return static_cast<std::int64_t>(static_cast<double>(*now - *before) * 1000.0 / static_cast<double>(span.ns));
}

std::optional<std::int64_t> ticks_ns(const std::optional<std::int64_t>& ticks) {
  if (!ticks) return std::nullopt;
  return base::saturating_multiply(*ticks, 1'000'000'000 / kTicksASecond);
}

}  // namespace

Measured measure(const Looks& looks, const NodeView::Pods& pods, bool include_system_usage) {
  const MachineReading& look = looks.now;
  Measured out;
  out.at = looks.at;
  const base::Duration span = out.at - looks.before_at;
  const MachineReading none;
  const MachineReading& before = looks.before ? *looks.before : none;
  const std::int64_t pods_cpu = milli_between(before.pods.cpu_ns, look.pods.cpu_ns, span);
  const std::int64_t machine_cpu = milli_between(ticks_ns(before.machine_ticks), ticks_ns(look.machine_ticks), span);
  out.has_cpu = pods_cpu >= 0 && (!include_system_usage || machine_cpu >= 0);
  out.has_memory = look.pods.memory_bytes && (!include_system_usage || look.memory);
  out.pods = {std::max<std::int64_t>(0, pods_cpu), look.pods.memory_bytes.value_or(0)};
  out.whole = out.pods;
  if (look.memory) {
    out.memory_total = look.memory->total_bytes;
    out.memory_available = look.memory->available_bytes;
  }
  if (include_system_usage) {
    out.whole.cpu_milli = std::max(out.whole.cpu_milli, machine_cpu);
    if (look.memory) out.whole.memory_bytes = look.memory->total_bytes - look.memory->available_bytes;
  }
  out.online = out.whole;
  const bool exclusive = !look.cpu_manager_policy.empty() && look.cpu_manager_policy != "none";
  for (const auto& [uid, pod] : pods) {
    const auto now = look.of_pod.find(uid);
    if (now == look.of_pod.end()) continue;
    const auto earlier = before.of_pod.find(uid);
    const std::int64_t cpu =
        earlier == before.of_pod.end() ? -1 : milli_between(earlier->second.cpu_ns, now->second.cpu_ns, span);
    const NodeAmounts used{std::max<std::int64_t>(0, cpu), now->second.memory_bytes.value_or(0)};
    out.of_pod[uid] = used;
    // COMPAT(colocation-own-use): what offline pods use of the offer is a part of it, and not online work.
    const bool holds_offer = pod.is_offline() && (pod.batch_cpu_milli > 0 || pod.batch_memory_bytes > 0);
    const bool has_own_processors = exclusive && pod.qos == QosClass::kGuaranteed && !pod.is_offline();
    if (holds_offer || has_own_processors)
      out.online.cpu_milli = std::max<std::int64_t>(0, out.online.cpu_milli - used.cpu_milli);
    if (holds_offer) out.online.memory_bytes = std::max<std::int64_t>(0, out.online.memory_bytes - used.memory_bytes);
  }
  const auto stalls = [span](const std::optional<Pressure>& earlier, const std::optional<Pressure>& now) {
    return earlier && now && is_stalled(now->some_us - earlier->some_us, span);
  };
  out.memory_stalls = stalls(before.memory_stall, look.memory_stall);
  out.cpu_stalls = stalls(before.cpu_stall, look.cpu_stall);
  out.io_stalls = stalls(before.io_stall, look.io_stall);
  out.online_stalls = online_stalls(before.stalls, look.stalls, pods, span);
  return out;
}

}  // namespace colocation

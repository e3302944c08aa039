// In which states can a task be, and what does each state cost its node, job and queue?
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace scheduler {

//            bind flow                      kubelet
//  Pending -> Allocated -> Binding -> Bound -> Running -> Succeeded | Failed
//          -> Pipelined (a promise that ends with the cycle)
//  Bound | Running -> Evicting (decided in this cycle) -> Releasing
enum class TaskStatus : std::uint8_t {
  kPending,
  kAllocated,
  kPipelined,
  kBinding,
  kBound,
  kRunning,
  kReleasing,
  kEvicting,  // counts as Releasing, but filters no longer see the pod on its node
  kSucceeded,
  kFailed,
  kUnknown,
};
constexpr std::size_t kTaskStatusCount = 11;

// The words users see. An evicted task reads as Releasing.
constexpr std::array<std::string_view, kTaskStatusCount> kTaskStatusNames = {
    "Pending",   "Allocated", "Pipelined", "Binding", "Bound",  "Running",
    "Releasing", "Releasing", "Succeeded", "Failed",  "Unknown"};
constexpr std::string_view name_of(TaskStatus status) { return kTaskStatusNames[static_cast<std::size_t>(status)]; }

// The sums in which a task of a status is counted.
enum Effect : std::uint8_t {
  kEffectUsed = 1,        // taken from the node's idle capacity
  kEffectReleasing = 2,   // will be given back
  kEffectPipelined = 4,   // promised on capacity being released
  kEffectSeen = 8,        // filters and scores see the pod on the node
  kEffectAllocated = 16,  // counted as allocated by its job and queue
  kEffectPending = 32,    // counted as wanted by its job and queue
};

constexpr std::array<std::uint8_t, kTaskStatusCount> kTaskStatusEffects = {
    kEffectPending,                                // Pending
    kEffectUsed | kEffectSeen | kEffectAllocated,  // Allocated
    kEffectPipelined | kEffectSeen,                // Pipelined
    kEffectUsed | kEffectSeen | kEffectAllocated,  // Binding
    kEffectUsed | kEffectSeen | kEffectAllocated,  // Bound
    kEffectUsed | kEffectSeen | kEffectAllocated,  // Running
    kEffectUsed | kEffectReleasing | kEffectSeen,  // Releasing
    kEffectUsed | kEffectReleasing,                // Evicting
    0,                                             // Succeeded
    0,                                             // Failed
    kEffectUsed | kEffectSeen,                     // Unknown
};
constexpr std::uint8_t effects_of(TaskStatus status) { return kTaskStatusEffects[static_cast<std::size_t>(status)]; }

constexpr bool is_allocated_like(TaskStatus s) { return effects_of(s) & kEffectAllocated; }
constexpr bool is_terminated(TaskStatus s) { return s == TaskStatus::kSucceeded || s == TaskStatus::kFailed; }
constexpr bool is_scheduled(TaskStatus s) {
  return s == TaskStatus::kRunning || s == TaskStatus::kBound || is_terminated(s);
}
constexpr bool is_releasing(TaskStatus s) { return s == TaskStatus::kReleasing || s == TaskStatus::kEvicting; }

using StatusCounts = std::array<std::int32_t, kTaskStatusCount>;
constexpr std::int32_t count_of(const StatusCounts& counts, TaskStatus s) {
  return counts[static_cast<std::size_t>(s)];
}
constexpr std::int32_t allocated_like(const StatusCounts& c) {
  return count_of(c, TaskStatus::kAllocated) + count_of(c, TaskStatus::kBinding) + count_of(c, TaskStatus::kBound) +
         count_of(c, TaskStatus::kRunning);
}

}  // namespace scheduler

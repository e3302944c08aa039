// Which further facts of a pod do single plugins read? Kept beside the tasks, so that nobody else pays for them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "scheduler/model/core/ids.h"

namespace scheduler {

enum class QosClass : std::uint8_t { kBestEffort, kBurstable, kGuaranteed };

// Limits of cpu (thousandths) and memory (bytes), zero where there is none; pods with equal ones share an entry.
struct PodLimits {
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  QosClass qos = QosClass::kBestEffort;
  auto operator<=>(const PodLimits&) const = default;
};

// The pod's own wish how nodes are scored for it (annotations volcano.sh/resource-strategy-*).
struct ScoringPreference {
  std::string type;
  std::string weights;  // JSON, as annotated
  auto operator<=>(const ScoringPreference&) const = default;
};

class PodDetails {
 public:
  PodDetails() : limits_(1), preferences_(1) {}

  void set(TaskId task, const api::Json& pod);
  const PodLimits& limits(TaskId task) const { return limits_[at(task).limits]; }
  // 0 when the pod has none; equal wishes have equal numbers.
  std::uint32_t preference_id(TaskId task) const { return at(task).preference; }
  const ScoringPreference& preference(std::uint32_t id) const { return preferences_[id]; }
  std::int64_t started_ns(TaskId task) const { return at(task).started_ns; }  // 0: not known to have started
  // The role comes from an annotation, not from a label.
  bool role_is_annotated(TaskId task) const { return at(task).role_annotated; }

 private:
  struct Detail {
    std::int64_t started_ns = 0;
    std::uint32_t limits = 0;
    std::uint32_t preference : 31 = 0;
    std::uint32_t role_annotated : 1 = 0;
  };
  const Detail& at(TaskId task) const {
    static constexpr Detail kNone{};
    return task.index < details_.size() ? details_[task.index] : kNone;
  }

  std::vector<Detail> details_;  // by task
  std::vector<PodLimits> limits_;
  std::map<PodLimits, std::uint32_t> limits_ids_;
  std::vector<ScoringPreference> preferences_;
  std::map<ScoringPreference, std::uint32_t> preference_ids_;
};

}  // namespace scheduler

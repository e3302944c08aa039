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
struct ScoringWish {
  std::string type;
  std::string weights;  // JSON, as annotated
  auto operator<=>(const ScoringWish&) const = default;
};

class PodNotes {
 public:
  PodNotes() : limits_(1), wishes_(1) {}

  void set(TaskId task, const api::Json& pod);
  const PodLimits& limits(TaskId task) const { return limits_[at(task).limits]; }
  // 0 when the pod has none; equal wishes have equal numbers.
  std::uint32_t wish_id(TaskId task) const { return at(task).wish; }
  const ScoringWish& wish(std::uint32_t id) const { return wishes_[id]; }
  std::int64_t started_ns(TaskId task) const { return at(task).started_ns; }  // 0: not known to have started
  // The role comes from an annotation, not from a label.
  bool role_is_annotated(TaskId task) const { return at(task).role_annotated; }

 private:
  struct Note {
    std::int64_t started_ns = 0;
    std::uint32_t limits = 0;
    std::uint32_t wish : 31 = 0;
    std::uint32_t role_annotated : 1 = 0;
  };
  const Note& at(TaskId task) const {
    static constexpr Note kNone{};
    return task.index < notes_.size() ? notes_[task.index] : kNone;
  }

  std::vector<Note> notes_;  // by task
  std::vector<PodLimits> limits_;
  std::map<PodLimits, std::uint32_t> limits_ids_;
  std::vector<ScoringWish> wishes_;
  std::map<ScoringWish, std::uint32_t> wish_ids_;
};

}  // namespace scheduler

// The scheduler's knowledge of a PodGroup with its pods, of a pod, and of a Queue.
#include "scheduler/model/core/job.h"

#include <algorithm>
#include <array>

namespace scheduler {
namespace {

constexpr std::array<std::string_view, 6> kPhaseNames = {"", "Pending", "Inqueue", "Running", "Unknown", "Completed"};

}  // namespace

std::string_view name_of(GroupPhase phase) { return kPhaseNames[static_cast<std::size_t>(phase)]; }

GroupPhase group_phase_from(std::string_view text) {
  auto at = std::find(kPhaseNames.begin(), kPhaseNames.end(), text);
  return at == kPhaseNames.end() ? GroupPhase::kNone : static_cast<GroupPhase>(at - kPhaseNames.begin());
}

bool Job::roles_valid() const {
  if (!checks_roles()) return true;
  return std::all_of(roles.begin(), roles.end(), [](const Role& role) {
    return role.min <= 0 || role.occupied() + count_of(role.counts, TaskStatus::kPipelined) +
                                    count_of(role.counts, TaskStatus::kPending) >=
                                role.min;
  });
}

bool Job::roles_ready() const {
  if (!checks_roles()) return true;
  return std::all_of(roles.begin(), roles.end(), [](const Role& role) {
    return !role.has_min || role.occupied() + role.pending_best_effort >= role.min;
  });
}

bool Job::roles_pipelined() const {
  if (!checks_roles()) return true;
  return std::all_of(roles.begin(), roles.end(), [](const Role& role) {
    return !role.has_min ||
           role.occupied() + role.pending_best_effort + count_of(role.counts, TaskStatus::kPipelined) >= role.min;
  });
}

}  // namespace scheduler

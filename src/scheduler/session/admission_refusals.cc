// Which groups does admission hold back in this cycle, and in which words?
#include "scheduler/session/admission_refusals.h"

#include <functional>
#include <string_view>

#include "scheduler/ledger/ledger.h"

namespace scheduler {

std::uint64_t digest_of(const AdmissionRefusal& refusal) { return std::hash<std::string_view>{}(refusal.message) | 1; }

void AdmissionRefusals::add(const Job& job, std::shared_ptr<const AdmissionRefusal> refusal) {
  if (rehearses_) return rehearsed_.push_back({job.id, std::move(refusal)});
  if (digest_of(*refusal) != in_.ledger.group(job.id).refusal) in_.model.mark_changed(job.id);  // it is closed
  refusals_.insert_or_assign(job.id.index, std::move(refusal));
}

void AdmissionRefusals::end_rehearsal(bool take_effect) {
  rehearses_ = false;
  for (auto& [job, refusal] : std::exchange(rehearsed_, {})) {
    if (take_effect) add(in_.model.job(job), std::move(refusal));
  }
}

const AdmissionRefusal* AdmissionRefusals::of(JobId job) const {
  const auto found = refusals_.find(job.index);
  return found == refusals_.end() ? nullptr : found->second.get();
}

}  // namespace scheduler

// Which groups does admission hold back in this cycle, and in which words?
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler/framework/wait_reason.h"
#include "scheduler/session/session_input.h"

namespace scheduler {

// Admission holds a group back. Groups that ask for the same are refused alike, and share one.
struct AdmissionRefusal {
  std::string message;               // in the plugin's words
  std::optional<Shortage> shortage;  // the limit that is reached, where one is
  bool in_event = true;              // in an event, when it differs from what was said at the job's last close
};

class AdmissionRefusals {
 public:
  // The input outlives it.
  explicit AdmissionRefusals(const SessionInput& input) : in_(input) {}

  void add(const Job& job, std::shared_ptr<const AdmissionRefusal> refusal);
  // A refusal of one job alone.
  void add(const Job& job, AdmissionRefusal refusal) {
    add(job, std::make_shared<const AdmissionRefusal>(std::move(refusal)));
  }
  // Between these, refusals are held back; then they take effect, or were never said.
  void begin_rehearsal() { rehearses_ = true; }
  void end_rehearsal(bool take_effect);
  // Null: admission did not refuse it.
  const AdmissionRefusal* of(JobId job) const;

 private:
  struct Refused {
    JobId job;
    std::shared_ptr<const AdmissionRefusal> refusal;
  };

  const SessionInput& in_;
  std::unordered_map<std::uint32_t, std::shared_ptr<const AdmissionRefusal>> refusals_;  // by job
  bool rehearses_ = false;
  std::vector<Refused> rehearsed_;
};

// As the ledger remembers it; never 0.
std::uint64_t digest_of(const AdmissionRefusal& refusal);

}  // namespace scheduler

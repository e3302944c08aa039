// The answers of plugins: votes, verdicts and victims.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/core/ids.h"

namespace scheduler {

enum class Vote : std::int8_t { kReject = -1, kAbstain = 0, kPermit = 1 };

// Candidates that may be evicted.
struct Victims {
  std::vector<TaskId> tasks;
  Vote vote = Vote::kPermit;
};

// Why something is refused; true when it is.
struct Refusal {
  std::string reason;
  std::string message;
  std::string why = {};  // the message without Volcano's words for its plugins; empty: the message
  explicit operator bool() const { return !reason.empty() || !message.empty(); }
};

// For whom a search for victims is made.
enum class EvictPurpose : std::uint8_t { kPreempt, kReclaim, kGangPreempt, kGangReclaim };

// Whole groups of victims at once, for a job.
struct GangEviction {
  JobId beneficiary;
  EvictPurpose purpose = EvictPurpose::kGangPreempt;
};

// The purpose of a search for domains: with room, or with what could be made room.
enum class DomainPurpose : std::uint8_t { kAllocate, kEvict };
// Domains to try, the nearest group first.
using Gradients = std::vector<std::vector<DomainId>>;

}  // namespace scheduler

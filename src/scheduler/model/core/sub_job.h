// Into which parts does a job fall, and how far apart may the pods of each part be?
//
// Jobs that ask for neither a network topology nor subgroups have none of this. The model counts the tasks of each part
// (Model::move); what a wish comes to depends on the HyperNodes and is settled at the opening of a session.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "scheduler/model/core/ids.h"
#include "scheduler/model/core/selector.h"
#include "scheduler/model/core/status.h"

namespace scheduler {

// A networkTopology as written, and what it comes to among the HyperNodes of now.
struct TopologyConstraint {
  bool present = false;
  bool soft = false;
  std::optional<std::int64_t> tier;  // highestTierAllowed
  Symbol tier_name;                  // highestTierName
  // Soft wishes become hard ones that any tier satisfies; a wish whose tier is not known binds nobody.
  bool hard = false;
  std::int64_t allowed = 0;  // the highest tier, where hard
};

inline constexpr std::uint32_t kWholeJob = 0xffff'ffff;  // where a part of a job could be named
// Each pod is held against each policy of its group; further ones are left out.
inline constexpr std::size_t kSubGroupPoliciesMax = 1024;

struct SubGroupPolicy {
  std::string name;
  TopologyConstraint constraint;
  std::int32_t size = 1;  // subGroupSize
  std::int32_t min_sub_groups = 0;
  bool selects = false;  // has a label selector
  LabelSelector selector;
  std::vector<Symbol> keys;  // matchLabelKeys; a policy without any chooses no pod
};

struct SubJob {
  static constexpr std::uint32_t kNoPolicy = 0xffff'ffff;

  std::string uid;
  std::uint32_t policy = kNoPolicy;  // position in JobTopology::policies; none: the rest of the job
  TopologyConstraint constraint;
  std::int32_t min_available = 1;
  std::int64_t match_index = 0;  // the first value that its pods share, as a number
  std::int32_t priority = 0;     // the highest of its tasks, 0 at least; as of Model::settle_sub_jobs
  StatusCounts counts{};
  std::int32_t pending_best_effort = 0;
  Symbol allocated;  // the HyperNode its placed tasks lie in
  // While it is being placed: the lowest domain around what was placed so far.
  DomainId hint;

  std::int32_t task_count() const;
  std::int32_t ready_count() const { return allocated_like(counts) + count_of(counts, TaskStatus::kSucceeded); }
  bool is_ready() const { return ready_count() + pending_best_effort >= min_available; }
  bool is_pipelined() const {
    return count_of(counts, TaskStatus::kPipelined) + ready_count() + pending_best_effort >= min_available;
  }
};

struct JobTopology {
  TopologyConstraint constraint;
  std::vector<SubGroupPolicy> policies;
  std::vector<SubJob> sub_jobs;  // [0] holds the tasks that no policy takes
  std::map<std::string, std::uint32_t, std::less<>> by_uid;
  Symbol allocated;              // the HyperNode all its placed tasks lie in
  std::uint64_t settled_at = 0;  // generation of the domains that the wishes were settled with

  // A topology is asked for, by the job or by a part.
  bool has_any_constraint() const;
  bool has_hard_constraint() const;
  // At least as many subgroups of each policy as it wants satisfy the test.
  template <class Test>
  bool enough_sub_jobs(const Test& test) const {
    const auto wants = [](const SubGroupPolicy& policy) { return policy.min_sub_groups > 0; };
    auto unmet = std::count_if(policies.begin(), policies.end(), wants);
    if (unmet == 0) return true;
    std::vector<std::int32_t> missing;  // by policy
    missing.reserve(policies.size());
    for (const SubGroupPolicy& policy : policies) missing.push_back(policy.min_sub_groups);
    for (const SubJob& one : sub_jobs) {
      if (one.policy >= missing.size() || missing[one.policy] <= 0 || one.task_count() == 0 || !test(one)) continue;
      if (--missing[one.policy] == 0 && --unmet == 0) return true;
    }
    return false;
  }
};

// The topology that a PodGroup's spec asks for; `min_available` is the job's.
JobTopology topology_from(const api::Json& spec, std::string_view job_key, std::int32_t min_available,
                          Symbols& symbols);
// The part that a task of these labels belongs to, made when it is the first of it.
std::uint32_t sub_job_for(JobTopology& topology, std::string_view job_key, const Labels& labels,
                          const Symbols& symbols);

}  // namespace scheduler

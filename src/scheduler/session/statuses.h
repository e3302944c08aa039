// The writes about groups and pods when a cycle ends.
//
// Collects what plugins and actions say of groups, and at the close compares what should be said with the ledger.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scheduler/session/admission_refusals.h"
#include "scheduler/session/job_problems.h"
#include "scheduler/session/plan.h"
#include "scheduler/session/session_input.h"

namespace scheduler {

// Why a job waits, as people are told it; empty: nothing is known beyond the job's text.
struct Explanation {
  std::string_view sentence;
  bool is_impossible = false;
  WaitKind kind = WaitKind::kUnknown;
};

class Statuses {
 public:
  using Why = std::function<Explanation(const Job&)>;

  // All of them outlive it.
  Statuses(const SessionInput& input, const JobProblems& troubles, Plan& plan);
  void explain_with(Why why) { why_ = std::move(why); }

  void set_condition(JobId job, std::string_view type, std::string_view reason, std::string_view message);
  void set_phase(JobId job, GroupPhase phase);
  AdmissionRefusals& refusals() { return refusals_; }
  const AdmissionRefusals& refusals() const { return refusals_; }

  // "u/n tasks in gang unschedulable: ...", after the sentence that says why.
  std::string waiting_text(const Job& job, std::int32_t unschedulable) const;
  // The reason why the job waits, in the words of its condition; and of one task.
  std::string job_text(const Job& job) const;
  struct TaskReason {
    std::string reason;
    std::string message;
    std::string nominated_node;
  };
  TaskReason task_reason(const Task& task) const;

  // True if all that the close of a job reads, the job itself, its troubles and refusals, is as at its last close:
  // saying it again would change nothing.
  bool is_quiet(const Job& job) const;
  // At the close, when troubles and refusals are known: jobs with something to decide of which nothing new can be said,
  // unless they change from here on.
  const std::vector<JobId>& quiet_jobs();
  // Jobs whose status may differ from what was last written, in the order of their keys. At the close.
  std::vector<JobId> jobs_to_close();
  // True if the group lacks pods or their claims, and some pods came or went a moment ago, or it was made for pods that
  // are not known yet: it is not told that it waits.
  bool still_arrives(const Job& job);
  // Since when the group's pods are the same. `begins`: from now on in any case.
  void update_pod_changes(JobId job, bool begins);

  // Reports on a pod without a group.
  void report_pod(TaskId task, std::string message);
  void close_job(JobId job);

 private:
  template <class P, class... A>
  decltype(auto) ask(const A&... args) const {
    return in_.plugins.ask<P>(args...);
  }
  GroupPhase phase_of(const Job& job) const;
  GroupStatus status_of(const Job& job, bool with_conditions) const;
  void put_volume_wait(const Job& job, std::vector<GroupCondition>& conditions) const;
  GroupCondition new_condition(std::string_view type, std::string_view reason, std::string_view message) const;
  void report_refusal(const Job& job);
  void report_group(const Job& job, bool updated);
  void close_tasks(const Job& job);
  // Plans the pod's condition unless it says that already.
  void report(TaskId task, TaskReason reason);
  std::string text_beside(const Job& job, TaskStatus shown, std::string found) const;

  const SessionInput& in_;
  const JobProblems& troubles_;
  Plan& plan_;
  AdmissionRefusals refusals_;
  Why why_ = [](const Job&) { return Explanation(); };
  std::vector<bool> changed_before_;  // by job: one of the input's changed jobs
  std::unordered_map<std::uint32_t, std::vector<GroupCondition>> conditions_;  // set in this session, by job
  bool sorted_out_ = false;                                                    // into these two, by their keys
  std::vector<JobId> quiet_, loud_;
};

}  // namespace scheduler

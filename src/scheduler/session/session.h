// One scheduling cycle between its opening and its close.
//
// A session works on the live model, and is what plugins and actions see of it. Its parts have a file each: the journal
// (placements and evictions), the statuses (what is written of groups, pods and queues), the problems that jobs met,
// the reasons why they wait, and its notes.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/session/job_problems.h"
#include "scheduler/session/journal.h"
#include "scheduler/session/plan.h"
#include "scheduler/session/reasons.h"
#include "scheduler/session/session_input.h"
#include "scheduler/session/session_notes.h"
#include "scheduler/session/statuses.h"

namespace scheduler {

class Session {
 public:
  explicit Session(SessionInput input);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Model& model() { return in_.model; }
  const Model& model() const { return in_.model; }
  NodeSearch& search() { return in_.search; }
  const SessionInput& input() const { return in_; }

  template <class P, class... A>
  decltype(auto) ask(const A&... args) const {
    return in_.plugins.ask<P>(args...);
  }

  // Each plugin's answer by itself: visit(name, answer).
  template <class P, class Visit, class... A>
  void ask_each(Visit&& visit, const A&... args) const {
    in_.plugins.ask_each<P>(visit, args...);
  }

  // Jobs with something to decide, in the order of their keys. Valid until the model changes its jobs.
  std::vector<JobId> jobs_to_look_at();

  // Orders, with the fallbacks that make them total.
  bool job_before(const Job& a, const Job& b) const;
  bool task_before(const Task& a, const Task& b) const;
  bool queue_before(const Queue& a, const Queue& b) const;
  bool sub_job_before(const SubJob& a, const SubJob& b) const;
  // The answer for one part of a job; the job's own answer where it has no subgroups.
  bool part_ready(const Job& job, std::uint32_t part) const;
  bool part_pipelined(const Job& job, std::uint32_t part) const;

  // Placements and evictions.
  Journal& journal() { return journal_; }
  // Conditions, phases and refusals of groups, and messages for pods without one.
  Statuses& statuses() { return statuses_; }
  // The problems that jobs met.
  JobProblems& problems() { return problems_; }
  const JobProblems& problems() const { return problems_; }
  // The reasons why jobs that were closed wait.
  Reasons& reasons() { return reasons_; }
  Nominations& nominations() { return nominations_; }
  const Nominations& nominations() const { return nominations_; }
  EvictionFigures& evictions() { return evictions_; }
  SessionReport& report() { return report_; }
  const Plan& plan() const { return plan_; }

  // The limits of queues differ from the previous session, though no queue's object does: what groups were told of it
  // may be wrong. Before the close.
  void mark_limits_changed() { in_.queues_changed = true; }
  // Ends the session: statuses, conditions, events; then what was not committed is undone.
  Plan close(const Stopwatch& stopwatch = {});

 private:
  SessionInput in_;
  Plan plan_;
  JobProblems problems_;
  Journal journal_;
  Statuses statuses_;
  Reasons reasons_;
  Nominations nominations_;
  EvictionFigures evictions_;
  SessionReport report_;
};

}  // namespace scheduler

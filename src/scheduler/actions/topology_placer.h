// In which domain of the network does a job go, and where in it does each of its parts go; or in which domain of a node
// label?
//
// Every domain that the gradients name would be tried, in vain or not, and the best of those that work taken. The score
// of a domain is known before it is tried, so they are tried by descending score and the first that works wins; domains
// that cannot hold the least that must be placed are not tried (domain_bounds.h).
#pragma once

#include <map>
#include <optional>

#include "scheduler/actions/domain_bounds.h"
#include "scheduler/actions/placer.h"
#include "scheduler/actions/worksheet.h"
#include "scheduler/search/label_domains.h"

namespace scheduler {

class TopologyPlacer {
 public:
  // Both outlive it.
  TopologyPlacer(Session& session, const DomainBounds& bounds)
      : session_(session), model_(session.model()), bounds_(bounds), placer_(session) {}

  // Placements stay in the journal, and `sheet` keeps what is left. False: nothing was placed.
  bool place_job(JobId job, Worksheet& sheet);
  // To be called once the placements of place_job were committed: the job and its parts lie where they were put.
  void keep_decision(JobId job);

 private:
  struct Decision {
    DomainId job_domain;
    std::map<std::uint32_t, DomainId> parts;
  };
  struct Candidate {
    DomainId domain;
    double score = 0;     // job level: at most; part level: without the bonus for shared scores
    bool placed = false;  // what was tried there was left in the journal
  };
  struct Attempt {
    bool works = false;
    double score = 0;
    Worksheet sheet;
    Decision decision;
    std::vector<std::uint32_t> failed;  // parts that no domain took
  };

  // Placements stay in the journal if the attempt works.
  Attempt try_job(JobId job, const Worksheet& sheet, DomainId domain);
  // Once it is known whether the job starts, its failed parts are tried again in the domain that comes last: that is
  // what people are told. Which domains the search itself left out must not show in messages.
  void explain(JobId job, const Attempt& attempt);
  bool keep(JobId job, Attempt attempt, Worksheet& sheet);
  bool place_in_group(JobId job, Worksheet& sheet, const std::vector<DomainId>& group);
  bool place_part(const PlaceTarget& target, TaskHeap& tasks, double& score, Decision& decision);
  std::optional<Candidate> best_for_part(const PlaceTarget& target, TaskHeap& tasks,
                                         const std::vector<DomainId>& group);
  std::optional<Candidate> best_of_all(const PlaceTarget& target, const TaskHeap& tasks,
                                       const std::vector<DomainId>& group);
  std::optional<Candidate> best_of_tied(const PlaceTarget& target, TaskHeap& tasks, const std::vector<Candidate>& tied);
  bool works_for_part(const PlaceTarget& target, const TaskHeap& tasks);
  bool place_and_stay(const PlaceTarget& target, TaskHeap& tasks);
  bool place_once(const PlaceTarget& target, TaskHeap& tasks);
  std::vector<Candidate> by_score(std::vector<Candidate> candidates) const;
  bool before(DomainId a, DomainId b) const;
  DomainId last_by_name(const std::vector<DomainId>& group) const;

  Session& session_;
  Model& model_;
  const DomainBounds& bounds_;
  Placer placer_;
  Decision decision_;
};

// A group whose pods share a domain of a node label: those domains are tried first that hold most of its waiting pods,
// among equals those that have the least room left, and then by value. The first one with room now is taken, or else
// the first that will have it.
class LabelDomainPlacer {
 public:
  // Both outlive it.
  LabelDomainPlacer(Session& session, const DomainBounds& bounds)
      : session_(session), bounds_(bounds), placer_(session) {}

  // As Placer::place_tasks for a group that has such a label.
  bool place_tasks(JobId job, TaskHeap& tasks, Journal::Mark mark);

 private:
  bool place_in(const LabelDomain& domain, JobId job, TaskHeap& tasks, Journal::Mark mark);

  Session& session_;
  const DomainBounds& bounds_;
  Placer placer_;
};

// In the order in which they are tried.
std::vector<LabelDomain> label_domains_for(Session& session, JobId job, const std::vector<TaskId>& waiting);

// Tries to evict for the group in one domain after the other; once for a group that has no such label. `evict` says
// whether it made an attempt that need not be repeated elsewhere.
template <class Evict>
void evict_by_label_domains(Session& session, JobId id, const Evict& evict) {
  if (!session.model().job(id).extras().domain_key.is_set()) return void(evict());
  std::vector<TaskId> waiting;
  for (const TaskId task : session.model().job(id).tasks)
    if (session.model().task(task).status == TaskStatus::kPending) waiting.push_back(task);
  for (const LabelDomain& domain : label_domains_for(session, id, waiting)) {
    const LabelDomains::Confined here(session.search().domains(), id, domain);
    if (evict()) return;
  }
}

}  // namespace scheduler

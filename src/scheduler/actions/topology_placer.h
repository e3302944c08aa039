// In which domain of the network does a job go, and where in it does each of its parts go?
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

}  // namespace scheduler

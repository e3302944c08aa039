// How much can a domain of the network hold, and score at most, before anything is tried in it?
#pragma once

#include <limits>
#include <optional>

#include "scheduler/actions/placer.h"
#include "scheduler/actions/worksheet.h"

namespace scheduler {

// Domains that are worth a try for a part of a job, the best groups first.
Gradients part_gradients(const Session& session, const PlaceTarget& target);

// Says nothing that a try would not confirm; what it leaves open is tried. Without state.
class DomainBounds {
 public:
  static constexpr double kNoBound = std::numeric_limits<double>::infinity();

  virtual ~DomainBounds() = default;
  // At most what the domain scores for the whole job.
  virtual double score(const Session& session, JobId job, const Worksheet& sheet, DomainId domain) const;
  // The domain's score for the part, apart from a bonus that it shares; nothing: it has to be tried.
  virtual std::optional<double> part_score(const Session& session, const PlaceTarget& target) const;
  // False: the least that must be placed finds no room there.
  virtual bool may_hold(const Session& session, JobId job, const Worksheet& sheet, DomainId domain) const;
  virtual bool may_hold(const Session& session, const PlaceTarget& target, const TaskHeap& tasks) const;
  virtual bool may_hold(const Session& session, JobId job, const TaskHeap& tasks, const NodeSet& nodes) const;
};

}  // namespace scheduler

// How much can a domain of the network hold, and score at most, before anything is tried in it?
#include "scheduler/actions/domain_bounds.h"

#include <algorithm>
#include <map>
#include <vector>

namespace scheduler {
namespace {

// Whether the nodes have room for so many of the tasks, each kind by itself and nothing else in its way.
bool has_copies(const Session& session, const std::vector<std::uint32_t>& nodes, const std::vector<TaskId>& tasks,
                std::int64_t wanted) {
  const Model& model = session.model();
  std::map<std::uint32_t, std::int64_t> kinds;
  for (const TaskId id : tasks) ++kinds[model.task(id).shape.index];
  std::int64_t found = 0;
  for (const auto& [shape, count] : kinds) {
    const Request& request = model.shape(ShapeId{shape}).request;
    std::int64_t copies = 0;
    for (const std::uint32_t node : nodes) {
      std::int64_t here = count;
      for (const Part& part : request.parts) {
        if (part.amount > 0) here = std::min(here, model.nodes.future_idle(part.dim, node) / part.amount);
      }
      copies += std::max<std::int64_t>(here, 0);
      if (copies >= count) break;
    }
    found += std::min(copies, count);
    if (found >= wanted) return true;
  }
  return found >= wanted;
}

const std::vector<std::uint32_t>& nodes_of(const Session& session, DomainId domain) {
  return session.input().model.hyper_nodes.tree()[domain].nodes;
}

}  // namespace

Gradients part_gradients(const Session& session, const PlaceTarget& target) {
  const Job& job = session.model().job(target.job);
  if (!job.topology) return {{target.where}};
  return session.ask<SubJobGradients>(job, job.topology->sub_jobs[target.part], target.where, DomainPurpose::kAllocate)
      .value_or(Gradients{{target.where}});
}

// At most what the domain can score for a job of one part; no bound where parts influence one another, or where one may
// be placed, and score, in several turns.
double DomainBounds::score(const Session& session, JobId id, const Worksheet& sheet, DomainId domain) const {
  const Job& job = session.model().job(id);
  if (sheet.tasks.size() != 1 || !job.topology || job.has_sub_groups()) return kNoBound;
  const std::uint32_t index = sheet.tasks.begin()->first;
  const SubJob& part = job.topology->sub_jobs[index];
  const std::int32_t at_rest = count_of(part.counts, TaskStatus::kPending) +
                               count_of(part.counts, TaskStatus::kSucceeded) +
                               count_of(part.counts, TaskStatus::kFailed);
  if (part.task_count() != at_rest || session.nominations().domain(id, index).is_set()) return kNoBound;
  double most = 0;
  for (const auto& group : part_gradients(session, {id, index, domain})) {
    for (const DomainId one : group) {
      const auto alone = session.ask<HyperNodeOrder>(job, part, std::vector<DomainId>{one});
      if (!alone.empty()) most = std::max(most, alone[0]);
    }
  }
  return most;
}

std::optional<double> DomainBounds::part_score(const Session& session, const PlaceTarget& target) const {
  const Job& job = session.model().job(target.job);
  if (!job.topology) return std::nullopt;
  const auto alone =
      session.ask<HyperNodeOrder>(job, job.topology->sub_jobs[target.part], std::vector<DomainId>{target.where});
  return alone.empty() ? 0 : alone[0];
}

bool DomainBounds::may_hold(const Session& session, const PlaceTarget& target, const TaskHeap& tasks) const {
  const Job& job = session.model().job(target.job);
  if (session.part_pipelined(job, target.part)) return true;  // whatever gang says, another plugin lets it wait
  const std::int64_t missing = session.ask<PlacementsMissing>(job, target.part);
  return has_copies(session, nodes_of(session, target.where), tasks.items(), std::max<std::int64_t>(missing, 1));
}

bool DomainBounds::may_hold(const Session& session, JobId id, const Worksheet& sheet, DomainId domain) const {
  if (session.ask<JobPipelined>(session.model().job(id))) return true;
  std::vector<TaskId> all;
  for (const auto& [part, tasks] : sheet.tasks) all.insert(all.end(), tasks.items().begin(), tasks.items().end());
  const std::int64_t missing = session.ask<PlacementsMissing>(session.model().job(id), kWholeJob);
  return has_copies(session, nodes_of(session, domain), all, std::max<std::int64_t>(missing, 1));
}

bool DomainBounds::may_hold(const Session& session, JobId id, const TaskHeap& tasks, const NodeSet& nodes) const {
  const Job& job = session.model().job(id);
  if (session.ask<JobPipelined>(job)) return true;
  std::vector<std::uint32_t> all;
  nodes.for_each([&](std::uint32_t n) { all.push_back(n); });
  const std::int64_t missing = session.ask<PlacementsMissing>(job, kWholeJob);
  return has_copies(session, all, tasks.items(), std::max<std::int64_t>(missing, 1));
}

}  // namespace scheduler

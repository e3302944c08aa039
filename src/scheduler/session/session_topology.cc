// A session's knowledge of the network: what groups' wishes come to, and where groups already are.
#include "scheduler/session/session_topology.h"

#include <algorithm>

namespace scheduler {
namespace {

void settle_name(TopologyConstraint& constraint, const DomainTree& tree, std::optional<std::int64_t>& tier) {
  tier = constraint.tier;
  if (tier || !constraint.tier_name.is_set()) return;
  bool known = false;
  const std::int64_t found = tree.tier_of_name(constraint.tier_name, known);
  if (known) tier = found;
}

// The lowest domain that holds every task placed for good; unset when there is none.
DomainId domain_around(const Model& model, const Job& job, std::uint32_t part, const DomainTree& tree) {
  std::vector<DomainId> left;
  bool first = true;
  for (const TaskId id : job.tasks) {
    const Task& task = model.task(id);
    if (model.sub_job_of(id) != part || !is_allocated_like(task.status) || !task.node.is_set()) continue;
    const std::vector<DomainId>& around = tree.domains_of(task.node.index);
    if (std::exchange(first, false)) {
      left = around;
    } else {
      std::erase_if(left, [&](DomainId one) { return std::find(around.begin(), around.end(), one) == around.end(); });
    }
  }
  return left.empty() ? DomainId{} : left.front();
}

void settle_constraints(JobTopology& topology, const DomainTree& tree) {
  const std::int64_t top = tree.tiers().back();
  std::optional<std::int64_t> tier;
  settle_name(topology.constraint, tree, tier);
  if (topology.constraint.present && topology.constraint.soft) tier = top;
  topology.constraint.hard = topology.constraint.present && tier.has_value();
  topology.constraint.allowed = tier.value_or(0);
  const std::int64_t for_soft_parts = topology.constraint.hard ? topology.constraint.allowed : top;
  for (SubJob& part : topology.sub_jobs) {
    std::optional<std::int64_t> own;
    settle_name(part.constraint, tree, own);
    if (part.constraint.present && part.constraint.soft) own = for_soft_parts;
    part.constraint.hard = part.constraint.present && own.has_value();
    part.constraint.allowed = own.value_or(0);
  }
}

void settle_allocated(const Model& model, Job& job, const DomainTree& tree) {
  JobTopology& topology = *job.topology;
  const auto exists = [&](Symbol name) { return tree.find(name).is_set(); };
  if (topology.allocated.is_set() && (!exists(topology.allocated) || job.allocated_count() == 0))
    topology.allocated = {};
  for (SubJob& part : topology.sub_jobs) {
    if (part.allocated.is_set() && (!exists(part.allocated) || allocated_like(part.counts) == 0)) part.allocated = {};
  }
  if (!topology.has_any_constraint()) return;
  bool recovered = false;
  DomainId all;
  for (std::uint32_t i = 0; i < topology.sub_jobs.size(); ++i) {
    SubJob& part = topology.sub_jobs[i];
    if (part.constraint.present && !part.allocated.is_set() && allocated_like(part.counts) > 0) {
      const DomainId found = domain_around(model, job, i, tree);
      if (found.is_set()) part.allocated = tree[found].name;
      recovered |= found.is_set();
    }
    if (part.allocated.is_set()) all = tree.common(all, tree.find(part.allocated));
  }
  if ((!topology.allocated.is_set() || recovered) && all.is_set()) topology.allocated = tree[all].name;
}

}  // namespace

void open_topology(Session& session) {
  Model& model = session.model();
  if (model.topology_jobs().empty()) return;
  const std::uint64_t generation = model.hyper_nodes.generation();
  const DomainTree& tree = model.hyper_nodes.tree();
  for (const JobId id : model.topology_jobs()) {
    Job& job = model.edit_job(id);
    if (job.topology->settled_at != generation) settle_constraints(*job.topology, tree);
    job.topology->settled_at = generation;
    if (model.hyper_nodes.is_ready()) settle_allocated(model, job, tree);
  }
}

// Attempts in several domains follow one another; what is told about a task is what the last of them met.
void forget_attempts(Session& session, JobId id, std::uint32_t part) {
  Model& model = session.model();
  const Job& job = model.job(id);
  JobProblem* trouble = session.problems().find(id);
  for (const TaskId task : job.tasks) {
    if (job.topology && model.sub_job_of(task) != part) continue;
    model.edit_task(task).last_cycle = 0;
    if (trouble != nullptr) trouble->by_task.erase(model.text(task).name.str());
  }
  if (trouble == nullptr) return;
  std::erase_if(trouble->failed_roles, [part](const auto& one) { return one.first == part; });
  trouble->over_limit.erase(part);
}

void forget_attempts(Session& session, JobId id) {
  Model& model = session.model();
  for (const TaskId task : model.job(id).tasks) model.edit_task(task).last_cycle = 0;
  JobProblem* trouble = session.problems().find(id);
  if (trouble == nullptr) return;
  trouble->by_task.clear();
  trouble->failed_roles.clear();
  trouble->over_limit.clear();
}

}  // namespace scheduler

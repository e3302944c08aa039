// A session's knowledge of the network: what groups' wishes come to, where groups already are, what was promised?
#include <algorithm>

#include "scheduler/session/session.h"

namespace scheduler {
namespace {

void settle_name(TopologyWish& wish, const DomainTree& tree, std::optional<std::int64_t>& tier) {
  tier = wish.tier;
  if (tier || !wish.tier_name.is_set()) return;
  bool known = false;
  const std::int64_t found = tree.tier_of_name(wish.tier_name, known);
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

}  // namespace

void Session::settle_wishes(JobTopology& topology, const DomainTree& tree) const {
  const std::int64_t top = tree.tiers().back();
  std::optional<std::int64_t> tier;
  settle_name(topology.wish, tree, tier);
  if (topology.wish.present && topology.wish.soft) tier = top;
  topology.wish.hard = topology.wish.present && tier.has_value();
  topology.wish.allowed = tier.value_or(0);
  const std::int64_t for_soft_parts = topology.wish.hard ? topology.wish.allowed : top;
  for (SubJob& part : topology.sub_jobs) {
    std::optional<std::int64_t> own;
    settle_name(part.wish, tree, own);
    if (part.wish.present && part.wish.soft) own = for_soft_parts;
    part.wish.hard = part.wish.present && own.has_value();
    part.wish.allowed = own.value_or(0);
  }
}

void Session::settle_allocated(Job& job, const DomainTree& tree) {
  JobTopology& topology = *job.topology;
  const auto exists = [&](Symbol name) { return tree.find(name).is_set(); };
  if (topology.allocated.is_set() && (!exists(topology.allocated) || job.allocated_count() == 0))
    topology.allocated = {};
  for (SubJob& part : topology.sub_jobs) {
    if (part.allocated.is_set() && (!exists(part.allocated) || allocated_like(part.counts) == 0)) part.allocated = {};
  }
  if (!topology.wishes_any()) return;
  bool recovered = false;
  DomainId all;
  for (std::uint32_t i = 0; i < topology.sub_jobs.size(); ++i) {
    SubJob& part = topology.sub_jobs[i];
    if (part.wish.present && !part.allocated.is_set() && allocated_like(part.counts) > 0) {
      const DomainId found = domain_around(in_.model, job, i, tree);
      if (found.is_set()) part.allocated = tree[found].name;
      recovered |= found.is_set();
    }
    if (part.allocated.is_set()) all = tree.common(all, tree.find(part.allocated));
  }
  if ((!topology.allocated.is_set() || recovered) && all.is_set()) topology.allocated = tree[all].name;
}

void Session::open_topology() {
  Model& model = in_.model;
  if (model.topology_jobs().empty()) return;
  const std::uint64_t generation = model.hyper_nodes.generation();
  const DomainTree& tree = domains();
  for (const JobId id : model.topology_jobs()) {
    Job& job = model.edit_job(id);
    if (job.topology->settled_at != generation) settle_wishes(*job.topology, tree);
    job.topology->settled_at = generation;
    if (model.hyper_nodes.is_ready()) settle_allocated(job, tree);
  }
}

DomainId Session::nominated_domain(JobId job, std::uint32_t part) const {
  auto found = nominated_.find({job.index, part});
  return found == nominated_.end() ? DomainId{} : found->second;
}

void Session::nominate_domain(JobId job, std::uint32_t part, DomainId domain) {
  if (domain.is_set())
    nominated_[{job.index, part}] = domain;
  else
    nominated_.erase({job.index, part});
}

// Attempts in several domains follow one another; what is told about a task is what the last of them met.
void Session::forget_attempts(JobId id, std::uint32_t part) {
  const Job& job = in_.model.job(id);
  JobProblem* trouble = troubles_.find(id);
  for (const TaskId task : job.tasks) {
    if (job.topology && in_.model.sub_job_of(task) != part) continue;
    in_.model.edit_task(task).last_cycle = 0;
    if (trouble != nullptr) trouble->by_task.erase(in_.model.text(task).name.str());
  }
  if (trouble == nullptr) return;
  std::erase_if(trouble->failed_roles, [part](const auto& one) { return one.first == part; });
  trouble->over_limit.erase(part);
}

void Session::forget_attempts(JobId id) {
  for (const TaskId task : in_.model.job(id).tasks) in_.model.edit_task(task).last_cycle = 0;
  JobProblem* trouble = troubles_.find(id);
  if (trouble == nullptr) return;
  trouble->by_task.clear();
  trouble->failed_roles.clear();
  trouble->over_limit.clear();
}

bool Session::sub_job_before(const SubJob& a, const SubJob& b) const {
  if (const int order = ask<SubJobOrder>(a, b); order != 0) return order < 0;
  if (a.match_index != b.match_index) return a.match_index < b.match_index;
  return a.uid < b.uid;
}

bool Session::part_ready(const Job& job, std::uint32_t part) const {
  return job.has_sub_groups() ? ask<SubJobReady>(job, job.topology->sub_jobs[part]) : ask<JobReady>(job);
}

bool Session::part_pipelined(const Job& job, std::uint32_t part) const {
  return job.has_sub_groups() ? ask<SubJobPipelined>(job, job.topology->sub_jobs[part]) : ask<JobPipelined>(job);
}

}  // namespace scheduler

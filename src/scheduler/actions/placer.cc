// How do the waiting tasks of a job, or of one part of it, get nodes inside one domain of the network?
#include "scheduler/actions/placer.h"

#include "base/format.h"

namespace scheduler {
namespace {

// The queue may not take the task, of this part of the job, now.
void record_over_limit(Session& session, const Job& job, std::uint32_t part, const Task& task) {
  const auto [found, first] = session.problems().of(job.id).over_limit.try_emplace(part);
  if (!first || !session.input().keeps_reasons) return;
  const Model& model = session.model();
  found->second =
      session.ask<QueueLimit>(model.queue(job.queue), Resource(model.shape_of(task).request), LimitQuestion::kNow);
}

}  // namespace

bool is_placeable(const Model& model, TaskId id) {
  const Task& task = model.task(id);
  if (task.status != TaskStatus::kPending || task.best_effort || !task.ours) return false;
  return !task.gated || task.queue_gate_only;
}

const NodeSet* Placer::nodes_of(DomainId where) const {
  return where == kRootDomain ? nullptr : &session_.model().hyper_nodes.tree().set_of(where);
}

SubJob* Placer::topology_part(const PlaceTarget& target) const {
  JobTopology* topology = model_.job(target.job).topology.get();
  if (topology == nullptr || !topology->sub_jobs[target.part].constraint.present) return nullptr;
  return &topology->sub_jobs[target.part];
}

bool Placer::place_tasks(const PlaceTarget& target, TaskHeap& tasks, Journal::Mark mark) {
  const Job& job = model_.job(target.job);
  SubJob* part = topology_part(target);
  if (part != nullptr) {
    part->hint = part->allocated.is_set() ? session_.model().hyper_nodes.tree().find(part->allocated) : DomainId{};
  }
  while (!tasks.empty()) {
    const Task& task = model_.task(tasks.pop());
    const Outcome outcome = place_task(target, job, task);
    if (outcome == Outcome::kFailed && !worth_going_on(target, job)) break;
    if (outcome != Outcome::kPlaced) continue;
    if (part != nullptr)
      part->hint = session_.model().hyper_nodes.tree().common(
          session_.model().hyper_nodes.tree().leaf_of(task.node.index), part->hint);
    if (session_.part_ready(job, target.part)) break;
  }
  if (part != nullptr) part->hint = {};
  if (session_.part_ready(job, target.part) || session_.part_pipelined(job, target.part)) return true;
  session_.journal().rollback(mark);
  return false;
}

Placer::Outcome Placer::place_task(const PlaceTarget& target, const Job& job, const Task& task) {
  if (!session_.ask<Allocatable>(model_.queue(job.queue), task)) {
    record_over_limit(session_, job, target.part, task);
    return Outcome::kSkipped;
  }
  if (task.gated) {
    session_.journal().remove_queue_gate(task);
    return Outcome::kSkipped;
  }
  const Role& role = job.roles[task.role];
  const JobProblem* trouble = session_.problems().find(job.id);
  if (trouble != nullptr && !role.name.empty() && trouble->has_failed(target.part, task.role)) {
    FitErrors errors;
    errors.set_text(base::format("Task {} with role spec {} has already predicated failed, skip",
                                 model_.text(task.id).name, role.name));
    record(target, job, task, std::move(errors));
    return Outcome::kSkipped;
  }
  FitErrors errors;
  const NodeSet* within = nodes_of(target.where);
  if (within != nullptr)
    errors.set_hyper_node(model_.symbols.text(session_.model().hyper_nodes.tree()[target.where].name));
  if (Refusal refusal = session_.ask<PrePredicate>(task)) {
    const std::size_t count = within != nullptr ? within->count() : model_.nodes.known_count();
    errors.refuse_pod(refusal, count);
    record(target, job, task, std::move(errors));
    return Outcome::kFailed;
  }
  std::optional<NodeChoice> choice = nominated(task, within);
  if (!choice) choice = session_.search().find(task, within, errors);
  if (!choice) {
    record(target, job, task, std::move(errors));
    return Outcome::kFailed;
  }
  // Devices of evicted pods are not there yet: the pod that gets them waits.
  const bool placed =
      (!choice->future && session_.journal().allocate(task.id, choice->node)) ||
      ((choice->future || model_.claims.are_lent()) && session_.journal().pipeline(task.id, choice->node, false));
  return placed ? Outcome::kPlaced : Outcome::kSkipped;
}

NodeId Placer::nominated_node(const Task& task, const NodeSet* within) const {
  const std::string_view name = model_.text(task.id).nominated_node;
  if (name.empty() || session_.nominations().ignores(task.id)) return {};
  const NodeId node = model_.nodes.find(name);
  if (!node.is_set() || !model_.nodes.known().has(node.index) || (within != nullptr && !within->has(node.index)))
    return {};
  return node;
}

std::optional<NodeChoice> Placer::find_on(const Task& task, NodeId node) {
  NodeSet only = model_.nodes.known();
  only.clear();
  only.add(node.index);
  FitErrors ignored;
  return session_.search().find(task, &only, ignored);
}

std::optional<NodeChoice> Placer::nominated(const Task& task, const NodeSet* within) {
  const NodeId node = nominated_node(task, within);
  if (!node.is_set() || !fits_future(session_.model(), task, node)) return std::nullopt;
  return find_on(task, node);
}

bool Placer::place_nominated(const PlaceTarget& target, TaskHeap& tasks, Journal::Mark mark) {
  const NodeSet* within = nodes_of(target.where);
  const Job& job = model_.job(target.job);
  std::vector<TaskId> order;
  for (TaskHeap copy = tasks; !copy.empty();) order.push_back(copy.pop());
  const auto give_up = [&] {
    session_.journal().rollback(mark);
    session_.nominations().nominate(target.job, target.part, DomainId{});
    for (const TaskId id : order) session_.nominations().ignore(id);
    return false;
  };
  for (const TaskId id : order) {
    const Task& task = model_.task(id);
    if (!session_.ask<Allocatable>(model_.queue(job.queue), task) || task.gated) return give_up();
    const NodeId node = nominated_node(task, within);
    if (!node.is_set() || session_.ask<PrePredicate>(task) || !find_on(task, node)) return give_up();
  }
  for (const TaskId id : order) {
    const Task& task = model_.task(id);
    const auto choice = find_on(task, nominated_node(task, within));
    if (!choice) return give_up();
    if (choice->future ? !session_.journal().pipeline(id, choice->node, false)
                       : !session_.journal().allocate(id, choice->node))
      return give_up();
  }
  while (!tasks.empty()) tasks.pop();
  return true;
}

void Placer::record(const PlaceTarget& target, const Job& job, const Task& task, FitErrors errors) {
  JobProblem& trouble = session_.problems().of(job.id);
  if (job.has_role_minimums || !job.roles[task.role].name.empty()) trouble.record_failed(target.part, task.role);
  trouble.by_task.insert_or_assign(model_.text(task.id).name.str(), std::move(errors));
}

// Whether the rest may still be placed after one task found no node.
bool Placer::worth_going_on(const PlaceTarget& target, const Job& job) const {
  if (job.min_available >= job.task_count()) return false;
  if (job.topology &&
      job.topology->sub_jobs[target.part].min_available >= job.topology->sub_jobs[target.part].task_count())
    return false;
  if (job.has_sub_groups()) return true;
  const JobProblem& trouble = session_.problems().of(job.id);
  if (job.min_available < job.roles_min_total) {
    std::int32_t hopeful = job.ready_count();
    for (std::uint32_t i = 0; i < job.roles.size(); ++i) {
      if (!trouble.has_failed(target.part, i)) hopeful += count_of(job.roles[i].counts, TaskStatus::kPending);
    }
    return hopeful >= job.min_available;
  }
  for (std::uint32_t i = 0; i < job.roles.size(); ++i) {
    const Role& role = job.roles[i];
    if (trouble.has_failed(target.part, i) && role.min > 0 && role.occupied() + role.pending_best_effort < role.min)
      return false;
  }
  return true;
}

}  // namespace scheduler

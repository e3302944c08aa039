// In which domain of the network does a job go, and where in it does each of its parts go; or in which domain of a node
// label?
#include "scheduler/actions/topology_placer.h"

#include <algorithm>
#include <tuple>

#include "base/format.h"
#include "scheduler/session/session_topology.h"

namespace scheduler {
namespace {

struct DomainRoom {
  std::int64_t holds = 0;   // of the waiting pods, each kind by itself
  std::int64_t copies = 0;  // of their kinds, altogether
};

DomainRoom room_of(const Model& model, const NodeSet& nodes, const std::map<std::uint32_t, std::int64_t>& kinds) {
  constexpr std::int64_t kManyOnOneNode = 1 << 20;
  DomainRoom out;
  for (const auto& [shape, count] : kinds) {
    const Request& request = model.shape(ShapeId{shape}).request;
    std::int64_t copies = 0;
    nodes.for_each([&](std::uint32_t n) {
      std::int64_t here = kManyOnOneNode;
      for (const Part& part : request.parts)
        if (part.amount > 0) here = std::min(here, model.nodes.future_idle(part.dim, n) / part.amount);
      copies += std::max<std::int64_t>(here, 0);
    });
    out.holds += std::min(copies, count);
    out.copies += copies;
  }
  return out;
}

std::map<std::uint32_t, std::int64_t> kinds_of(const Model& model, const std::vector<TaskId>& tasks) {
  std::map<std::uint32_t, std::int64_t> out;  // by shape: how many
  for (const TaskId id : tasks) ++out[model.task(id).shape.index];
  return out;
}

// The reason why the group is placed in none of them; empty: its pods have it.
std::string no_domain_text(Session& session, const Job& job, const std::vector<LabelDomain>& domains,
                           const std::vector<TaskId>& waiting) {
  const Model& model = session.model();
  const std::string& key = model.symbols.text(job.extras().domain_key);
  if (session.search().domains().is_placed(job))
    return base::format("its pods share the node label {}, but lie in several of its domains, or in none", key);
  if (domains.empty()) return base::format("no node has the label {}, which its pods share", key);
  const LabelDomain& best = domains.front();
  const std::int64_t holds = room_of(model, best.nodes, kinds_of(model, waiting)).holds;
  const std::int64_t wanted = std::max<std::int64_t>(session.ask<PlacementsMissing>(job, kWholeJob), 1);
  if (holds >= wanted) return {};
  return base::format(
      "no domain of the node label {} has room for the group: {} comes nearest, with room for {} of {} {}", key,
      model.symbols.text(best.value), holds, wanted, wanted == 1 ? "pod" : "pods that start together");
}

}  // namespace

// Among equals the lower name comes first.
bool TopologyPlacer::before(DomainId a, DomainId b) const {
  return model_.symbols.text(session_.model().hyper_nodes.tree()[a].name) <
         model_.symbols.text(session_.model().hyper_nodes.tree()[b].name);
}

std::vector<TopologyPlacer::Candidate> TopologyPlacer::by_score(std::vector<Candidate> candidates) const {
  std::sort(candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score > b.score : before(a.domain, b.domain);
  });
  return candidates;
}

bool TopologyPlacer::place_job(JobId id, Worksheet& sheet) {
  const Job& job = model_.job(id);
  const Gradients gradients =
      session_.ask<JobGradients>(job, kRootDomain, DomainPurpose::kAllocate).value_or(Gradients{{kRootDomain}});
  decision_ = {};
  for (const std::vector<DomainId>& group : gradients) {
    if (place_in_group(id, sheet, group)) return true;
  }
  if (!gradients.empty() && !gradients.back().empty()) {
    const Journal::Mark mark = session_.journal().mark();
    Attempt attempt = try_job(id, sheet, last_by_name(gradients.back()));
    explain(id, attempt);
    session_.journal().rollback(mark);
  }
  // No domain was even tried if none has what the group, or one of its parts, asks for altogether.
  JobProblem& trouble = session_.problems().of(id);
  if (trouble.by_task.empty() && job.topology && job.topology->constraint.hard) {
    trouble.text =
        base::format("no hyperNode of tier {} or below has enough resources", job.topology->constraint.allowed);
  } else if (trouble.by_task.empty() && job.topology) {
    trouble.text = "no hyperNode that a subgroup may use has enough resources";
  }
  return false;
}

bool TopologyPlacer::place_in_group(JobId id, Worksheet& sheet, const std::vector<DomainId>& group) {
  std::vector<Candidate> candidates;
  for (const DomainId domain : group) candidates.push_back({domain, bounds_.score(session_, id, sheet, domain)});
  candidates = by_score(std::move(candidates));
  std::optional<Candidate> best;
  const auto beats = [&](const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score > b.score : before(a.domain, b.domain);
  };
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& one = candidates[i];
    if (best && !beats(one, *best)) break;  // nor does any that follows
    if (!bounds_.may_hold(session_, id, sheet, one.domain)) continue;
    const Journal::Mark mark = session_.journal().mark();
    Attempt attempt = try_job(id, sheet, one.domain);
    const Candidate found{one.domain, attempt.score};
    if (attempt.works && (!best || beats(found, *best))) {
      best = found;
      if (i + 1 == candidates.size() || !beats(candidates[i + 1], found)) {
        return keep(id, std::move(attempt), sheet);
      }
    }
    session_.journal().rollback(mark);
  }
  if (!best) return false;
  Attempt attempt = try_job(id, sheet, best->domain);
  return attempt.works && keep(id, std::move(attempt), sheet);
}

bool TopologyPlacer::keep(JobId id, Attempt attempt, Worksheet& sheet) {
  explain(id, attempt);
  sheet = std::move(attempt.sheet);
  decision_ = std::move(attempt.decision);
  return true;
}

DomainId TopologyPlacer::last_by_name(const std::vector<DomainId>& group) const {
  return *std::max_element(group.begin(), group.end(), [&](DomainId a, DomainId b) { return before(a, b); });
}

void TopologyPlacer::explain(JobId id, const Attempt& attempt) {
  for (const std::uint32_t part : attempt.failed) {
    forget_attempts(session_, id, part);
    const Gradients gradients = part_gradients(session_, {id, part, attempt.decision.job_domain});
    if (gradients.empty() || gradients.back().empty()) continue;
    const Journal::Mark mark = session_.journal().mark();
    TaskHeap tasks = attempt.sheet.tasks.at(part);
    placer_.place_tasks({id, part, last_by_name(gradients.back())}, tasks, mark);
    session_.journal().rollback(mark);
  }
}

TopologyPlacer::Attempt TopologyPlacer::try_job(JobId id, const Worksheet& sheet, DomainId domain) {
  const Job& job = model_.job(id);
  Attempt out{false, 0, sheet, {domain, {}}};
  forget_attempts(session_, id);
  const Journal::Mark mark = session_.journal().mark();
  std::vector<Symbol> allocated;
  if (job.topology) {
    for (const SubJob& part : job.topology->sub_jobs) allocated.push_back(part.allocated);
  }
  while (!out.sheet.empty()) {
    const std::uint32_t part = out.sheet.parts.pop();
    const Journal::Mark before_part = session_.journal().mark();
    double score = 0;
    TaskHeap& tasks = out.sheet.tasks.at(part);
    if (!place_part({id, part, domain}, tasks, score, out.decision) ||
        !session_.journal().has_operations_since(before_part)) {
      out.failed.push_back(part);
      continue;
    }
    out.score += score;
    if (!tasks.empty()) out.sheet.parts.push(part);
    if (session_.ask<JobReady>(job)) break;
  }
  for (std::size_t i = 0; i < allocated.size(); ++i) job.topology->sub_jobs[i].allocated = allocated[i];
  out.works =
      session_.journal().has_operations_since(mark) && (session_.ask<JobReady>(job) || session_.ask<JobPipelined>(job));
  if (!out.works) session_.journal().rollback(mark);
  return out;
}

bool TopologyPlacer::place_part(const PlaceTarget& target, TaskHeap& tasks, double& score, Decision& decision) {
  if (const DomainId nominated = session_.nominations().domain(target.job, target.part); nominated.is_set()) {
    if (placer_.place_nominated({target.job, target.part, nominated}, tasks, session_.journal().mark())) {
      decision.parts[target.part] = nominated;
      return true;
    }
  }
  const Job& job = model_.job(target.job);
  for (const std::vector<DomainId>& group : part_gradients(session_, target)) {
    const auto best = best_for_part(target, tasks, group);
    if (!best) continue;
    // The placement repeats exactly if the session was left as it was.
    if (!best->placed && !place_and_stay({target.job, target.part, best->domain}, tasks)) return false;
    score = best->score;
    if (job.topology) {
      SubJob& part = job.topology->sub_jobs[target.part];
      const DomainTree& tree = session_.model().hyper_nodes.tree();
      part.allocated =
          tree[tree.common(part.allocated.is_set() ? tree.find(part.allocated) : DomainId{}, best->domain)].name;
    }
    decision.parts[target.part] = best->domain;
    return true;
  }
  return false;
}

bool TopologyPlacer::place_once(const PlaceTarget& target, TaskHeap& tasks) {
  const Journal::Mark mark = session_.journal().mark();
  return placer_.place_tasks(target, tasks, mark) && session_.journal().has_operations_since(mark);
}

bool TopologyPlacer::place_and_stay(const PlaceTarget& target, TaskHeap& tasks) {
  if (!bounds_.may_hold(session_, target, tasks)) return false;
  forget_attempts(session_, target.job, target.part);
  TaskHeap copy = tasks;
  if (!place_once(target, copy)) return false;
  tasks = std::move(copy);
  return true;
}

bool TopologyPlacer::works_for_part(const PlaceTarget& target, const TaskHeap& tasks) {
  const Journal::Mark mark = session_.journal().mark();
  TaskHeap copy = tasks;
  const bool works = place_and_stay(target, copy);
  session_.journal().rollback(mark);
  return works;
}

std::optional<TopologyPlacer::Candidate> TopologyPlacer::best_for_part(const PlaceTarget& target, TaskHeap& tasks,
                                                                       const std::vector<DomainId>& group) {
  std::vector<Candidate> candidates;
  for (const DomainId domain : group) {
    const std::optional<double> alone = bounds_.part_score(session_, {target.job, target.part, domain});
    if (!alone) return best_of_all(target, tasks, group);
    candidates.push_back({domain, *alone});
  }
  candidates = by_score(std::move(candidates));
  for (std::size_t i = 0; i < candidates.size();) {
    std::size_t end = i + 1;
    while (end < candidates.size() && candidates[end].score == candidates[i].score) ++end;
    const std::vector<Candidate> tied(candidates.begin() + static_cast<std::ptrdiff_t>(i),
                                      candidates.begin() + static_cast<std::ptrdiff_t>(end));
    if (const auto best = best_of_tied(target, tasks, tied)) return best;
    i = end;
  }
  return std::nullopt;
}

// Domains of one score by themselves: a plugin may tell them apart only by a bonus that they get as sharers of the
// best.
std::optional<TopologyPlacer::Candidate> TopologyPlacer::best_of_tied(const PlaceTarget& target, TaskHeap& tasks,
                                                                      const std::vector<Candidate>& tied) {
  const Job& job = model_.job(target.job);
  std::vector<DomainId> domains;
  for (const Candidate& one : tied) domains.push_back(one.domain);
  std::vector<double> together(domains.size(), tied[0].score);
  if (tied.size() > 1) {
    together = session_.ask<HyperNodeOrder>(job, job.topology->sub_jobs[target.part], domains);
    together.resize(domains.size());
  }
  const bool bonus = std::any_of(together.begin(), together.end(), [&](double one) { return one != tied[0].score; });
  if (bonus) return best_of_all(target, tasks, domains);
  for (const Candidate& one : tied) {
    if (place_and_stay({target.job, target.part, one.domain}, tasks)) return Candidate{one.domain, one.score, true};
  }
  return std::nullopt;
}

std::optional<TopologyPlacer::Candidate> TopologyPlacer::best_of_all(const PlaceTarget& target, const TaskHeap& tasks,
                                                                     const std::vector<DomainId>& group) {
  const Job& job = model_.job(target.job);
  std::vector<DomainId> working;
  for (const DomainId domain : group) {
    if (works_for_part({target.job, target.part, domain}, tasks)) working.push_back(domain);
  }
  if (working.empty()) return std::nullopt;
  std::vector<double> scores;
  if (job.topology) scores = session_.ask<HyperNodeOrder>(job, job.topology->sub_jobs[target.part], working);
  scores.resize(working.size());
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < working.size(); ++i) candidates.push_back({working[i], scores[i]});
  return by_score(std::move(candidates)).front();
}

void TopologyPlacer::keep_decision(JobId id) {
  const Job& job = model_.job(id);
  if (!job.topology) return;
  const DomainTree& tree = session_.model().hyper_nodes.tree();
  const auto widen = [&](Symbol& allocated, DomainId chosen) {
    if (chosen.is_set())
      allocated = tree[tree.common(allocated.is_set() ? tree.find(allocated) : DomainId{}, chosen)].name;
  };
  widen(job.topology->allocated, decision_.job_domain);
  for (const auto& [part, domain] : decision_.parts) {
    widen(job.topology->sub_jobs[part].allocated, domain);
    session_.nominations().nominate(id, part, DomainId{});
  }
}

std::vector<LabelDomain> label_domains_for(Session& session, JobId job, const std::vector<TaskId>& waiting) {
  const Model& model = session.model();
  std::vector<LabelDomain> domains = session.search().domains().open_to(model.job(job));
  if (domains.size() < 2) return domains;
  const auto kinds = kinds_of(model, waiting);
  std::vector<std::tuple<std::int64_t, std::int64_t, std::size_t>> order;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    const DomainRoom room = room_of(model, domains[i].nodes, kinds);
    order.emplace_back(-room.holds, room.copies, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<LabelDomain> out;
  for (const auto& [holds, copies, i] : order) out.push_back(std::move(domains[i]));
  return out;
}

bool LabelDomainPlacer::place_in(const LabelDomain& domain, JobId job, TaskHeap& tasks, Journal::Mark mark) {
  forget_attempts(session_, job);
  const LabelDomains::Confined here(session_.search().domains(), job, domain);
  TaskHeap copy = tasks;
  if (!placer_.place_tasks({job}, copy, mark)) return false;
  tasks = std::move(copy);
  return true;
}

bool LabelDomainPlacer::place_tasks(JobId id, TaskHeap& tasks, Journal::Mark mark) {
  const Job& job = session_.model().job(id);
  const std::vector<TaskId> waiting = tasks.items();
  const std::vector<LabelDomain> domains = label_domains_for(session_, id, waiting);
  const LabelDomain* promising = nullptr;
  for (const LabelDomain& domain : domains) {
    if (!bounds_.may_hold(session_, id, tasks, domain.nodes)) continue;
    TaskHeap left = tasks;
    if (!place_in(domain, id, left, mark)) continue;
    if (session_.ask<JobReady>(job)) {
      tasks = std::move(left);
      return true;
    }
    session_.journal().rollback(mark);
    if (promising == nullptr) promising = &domain;
  }
  if (promising != nullptr) return place_in(*promising, id, tasks, mark);
  // The nearest one speaks for all: which of them were worth a try must not show in messages.
  if (!domains.empty() && place_in(domains.front(), id, tasks, mark)) return true;
  if (!session_.search().domains().is_placed(job) || domains.empty())
    session_.problems().of(id).text = no_domain_text(session_, job, domains, waiting);
  return false;
}

}  // namespace scheduler

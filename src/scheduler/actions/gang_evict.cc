// gangpreempt and gangreclaim: which parts of other groups give way to a group that starves, domain by domain?
//
// In a domain units go one after the other, the cheapest first, until the group finds its places by all filters; then
// those that are not needed are taken back, the most expensive first. Every set that would be cheaper is held against
// the filters as well, where the units are few or many are equal; else each unit against one that costs less in its
// place. The domain with the cheapest victims is taken among those that are equally near.
#include <algorithm>
#include <optional>

#include "base/format.h"
#include "scheduler/actions/bundles.h"
#include "scheduler/actions/equal_units.h"
#include "scheduler/actions/eviction_commit.h"
#include "scheduler/actions/eviction_reasons.h"
#include "scheduler/actions/topology_placer.h"
#include "scheduler/actions/victims.h"
#include "scheduler/actions/worksheet.h"
#include "scheduler/framework/action.h"
#include "scheduler/session/eviction_rounds.h"

namespace scheduler {
namespace {

constexpr std::int64_t kDomainsDefault = 8;
// Bounded work: after so many sets of victims that did not help in a domain, the next domain is tried.
constexpr int kPlansMax = 1000;
// Up to so many sets of units are looked at, and so many of them are held against the filters of a domain.
constexpr std::size_t kSetsMax = 1024;
constexpr std::size_t kUnitsMax = 64;
constexpr int kProofsMax = 256;

struct Settings {
  EvictPurpose purpose = EvictPurpose::kGangPreempt;
  std::int64_t domains_max = kDomainsDefault;
  bool allow_whole = true;
  std::int64_t steps = SearchBudget::kStepsDefault;

  std::string_view word() const { return purpose == EvictPurpose::kGangPreempt ? "gangpreempt" : "gangreclaim"; }
};

// Pods that go together: one that its group can spare, or all that a group has in the domain, or anywhere where it is
// disrupted as a whole.
using Unit = EvictionUnit;

// One job's attempt.
class Beneficiary {
 public:
  Beneficiary(Session& session, const Settings& settings, const EvictionCosts& costs, SearchBudget& budget, JobId id)
      : session_(session),
        model_(session.model()),
        settings_(settings),
        costs_(costs),
        budget_(budget),
        job_(model_.job(id)),
        sheet_(make_worksheet(session, id, [this](TaskId task) { return waits(task); })),
        parts_(sheet_.ordered_parts()),
        was_ready_(session.ask<JobReady>(job_)) {
    if (was_ready_ && parts_.size() > 1) parts_.resize(1);
    for (const std::uint32_t part : parts_) {
      for (const TaskId task : sheet_.tasks.at(part).items()) pending_.push_back(task);
    }
    for (const TaskId task : pending_) {
      for (const Part& part : model_.shape_of(model_.task(task)).request.parts) need_.add(part.dim, part.amount);
    }
  }

  void run() {
    if (pending_.empty() || job_.never_preempts) return;
    const bool reclaims = settings_.purpose == EvictPurpose::kGangReclaim;
    if (reclaims && !session_.ask<Preemptive>(model_.queue(job_.queue), pending_)) return;
    const Journal::Mark mark = session_.journal().mark();
    for (const std::vector<DomainId>& group : domains()) {
      std::optional<Found> best;
      for (const DomainId domain : group) {
        std::int64_t tried = 0;
        evict_by_label_domains(session_, job_.id, [&] {
          std::optional<Found> found = make_room_in(domain, mark);
          if (found && (!best || found->cost < best->cost)) best = std::move(found);
          return ++tried == settings_.domains_max;
        });
      }
      if (best) return make(*best, mark);
    }
    explain();
  }

 private:
  using Saved = Journal::Saved;
  using Places = std::vector<std::pair<std::uint32_t, DomainId>>;
  struct Found {
    EvictionCost cost;
    std::vector<Saved> operations;
    Places chosen;
  };

  bool waits(TaskId id) const {
    const Task& task = model_.task(id);
    return task.status == TaskStatus::kPending && !task.best_effort && !task.gated && task.ours;
  }

  void make(const Found& found, Journal::Mark mark) {
    if (found.cost.is_free()) return;  // room without an eviction is allocate's business
    if (!session_.journal().replay(found.operations)) return session_.journal().rollback(mark);
    if (!EvictionPlans(session_, costs_, budget_, settings_.word())
             .settle(job_.id, mark, EvictionPlans::Spare::kNobody))
      return;
    for (const auto& [part, domain] : found.chosen) session_.nominations().nominate(job_.id, part, domain);
  }

  void explain() {
    if (budget_.is_spent()) session_.evictions().record_nodes_left_out(model_.nodes.known_count());
    if (!session_.input().keeps_reasons) return;
    report_evictions(session_, job_.id,
                     base::format("{} {}", settings_.word(),
                                  budget_.is_spent() ? "ended with its steps, before all was tried"
                                                     : "finds no pods whose eviction makes room for the whole group"));
  }

  // By how near they are, each once.
  std::vector<std::vector<DomainId>> domains() const {
    std::vector<std::vector<DomainId>> out;
    std::vector<DomainId> known;
    for (const auto& group :
         session_.ask<JobGradients>(job_, kRootDomain, DomainPurpose::kEvict).value_or(Gradients{{kRootDomain}})) {
      out.emplace_back();
      for (const DomainId one : group) {
        const bool is_known = std::find(known.begin(), known.end(), one) != known.end();
        if (is_known || known.size() >= static_cast<std::size_t>(settings_.domains_max)) continue;
        known.push_back(one);
        out.back().push_back(one);
      }
    }
    const bool bound = job_.topology != nullptr && job_.topology->has_hard_constraint();
    if (known.empty() && !bound) out = {{kRootDomain}};
    return out;
  }

  // Pods that a group can spare are units of their own. The cheapest come first; between equals the order of the
  // bundles stays.
  std::vector<Unit> units() {
    std::vector<Unit> out;
    for (Bundle& one :
         select_bundles(session_, {{job_.id, settings_.purpose}, need_, inside_, settings_.allow_whole})) {
      if (one.type == Bundle::Type::kWhole) {
        out.push_back({std::move(one.tasks), {}});
        continue;
      }
      for (const TaskId task : one.tasks) out.push_back({{task}, {}});
    }
    for (Unit& one : out) one.cost = costs_.of(one.tasks);
    std::stable_sort(out.begin(), out.end(), [](const Unit& a, const Unit& b) { return a.cost < b.cost; });
    return out;
  }

  // The room that it leaves in the domain.
  Request sum_of(const Unit& unit) const {
    Request out;
    for (const TaskId id : unit.tasks) {
      if (inside_.has(model_.task(id).node.index)) out.add(model_.shape_of(model_.task(id)).request);
    }
    return out;
  }

  bool is_enough(const Sums& room) const {
    return std::all_of(need_.parts.begin(), need_.parts.end(),
                       [&](const Part& part) { return part.amount <= room.get(part.dim); });
  }

  void evict(const Unit& unit) {
    for (const TaskId victim : unit.tasks) session_.journal().evict(victim, settings_.word(), job_.id);
  }

  // A plan that places everything, with no unit too many. The session is left as it was.
  std::optional<Found> make_room_in(DomainId domain, Journal::Mark mark) {
    inside_ = session_.model().hyper_nodes.tree().set_of(domain);
    if (const NodeSet* shared = session_.search().domains().around(model_.task(pending_.front()))) inside_ &= *shared;
    const std::vector<Unit> units = this->units();
    if (units.empty()) return std::nullopt;
    Sums room;
    inside_.for_each([&](std::uint32_t node) { add_room(room, node, domain == kRootDomain); });
    const Sums idle = room;
    std::vector<const Unit*> gone;
    bool works = false;
    int plans = 0;
    for (const Unit& unit : units) {
      room.add(sum_of(unit), 1);
      gone.push_back(&unit);
      evict(unit);
      budget_.spend(static_cast<std::int64_t>(unit.tasks.size()));
      if (!is_enough(room)) continue;
      works = place_all_in(domain);
      if (works || ++plans == kPlansMax || budget_.is_spent()) break;
    }
    if (!works) {
      session_.journal().rollback(mark);
      return std::nullopt;
    }
    spare(domain, mark, gone, room);
    Found out{{}, session_.journal().saved_since(mark), chosen_};
    session_.journal().rollback(mark);
    out.cost = cost_of(gone);
    const UnitClasses classes = units.size() <= kUnitsMax ? equal_units(model_, units) : UnitClasses();
    if (units.size() <= kUnitsMax && count_sets(classes, kSetsMax) <= kSetsMax)
      take_cheapest_set(domain, mark, units, classes, idle, out);
    else
      replace_by_cheaper(domain, mark, units, idle, std::move(gone), out);
    if (session_.input().proves_rollbacks && !budget_.is_spent())
      hold_against_sets(domain, mark, units, idle, out.cost);
    return out;
  }

  using Units = std::vector<const Unit*>;

  EvictionCost cost_of(const Units& units) const {
    std::vector<TaskId> victims;
    for (const Unit* unit : units) victims.insert(victims.end(), unit->tasks.begin(), unit->tasks.end());
    return costs_.of(victims);
  }

  bool are_enough(Sums room, const Units& units) const {
    for (const Unit* unit : units) room.add(sum_of(*unit), 1);
    return is_enough(room);
  }

  static Units members_of(const std::vector<Unit>& units, std::uint64_t mask) {
    Units out;
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (mask >> i & 1) out.push_back(&units[i]);
    }
    return out;
  }

  // The sets that cost less, the cheapest first.
  std::vector<std::pair<EvictionCost, std::uint64_t>> cheaper_sets(const std::vector<Unit>& units,
                                                                   const std::vector<std::uint64_t>& sets,
                                                                   const EvictionCost& cost) const {
    std::vector<std::pair<EvictionCost, std::uint64_t>> out;
    for (const std::uint64_t mask : sets) {
      EvictionCost own = cost_of(members_of(units, mask));
      if (own < cost) out.emplace_back(own, mask);
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  // The plan that these evictions make possible; the session is left as it was.
  std::optional<Found> plan_with(DomainId domain, Journal::Mark mark, const Units& units) {
    for (const Unit* one : units) evict(*one);
    budget_.spend(static_cast<std::int64_t>(4 * units.size() + pending_.size()));
    if (!place_all_in(domain)) {
      session_.journal().rollback(mark);
      return std::nullopt;
    }
    Found out{{}, session_.journal().saved_since(mark), chosen_};
    session_.journal().rollback(mark);
    out.cost = cost_of(units);
    return out;
  }

  void take_cheapest_set(DomainId domain, Journal::Mark mark, const std::vector<Unit>& units,
                         const UnitClasses& classes, const Sums& idle, Found& best) {
    const std::vector<std::uint64_t> sets = sets_of(classes);
    budget_.spend(static_cast<std::int64_t>(sets.size()));
    int proofs = 0;
    for (const auto& [cost, set] : cheaper_sets(units, sets, best.cost)) {
      const Units members = members_of(units, set);
      if (!are_enough(idle, members)) continue;
      if (budget_.is_spent() || ++proofs > kProofsMax) return;
      if (auto found = plan_with(domain, mark, members)) return void(best = *std::move(found));
    }
  }

  // `gone` are the units of the best plan. The most expensive is replaced first.
  void replace_by_cheaper(DomainId domain, Journal::Mark mark, const std::vector<Unit>& units, const Sums& idle,
                          Units gone, Found& best) {
    int proofs = 0;
    for (std::size_t i = gone.size(); i-- > 0;) {
      for (const Unit& other : units) {
        if (!(other.cost < gone[i]->cost) || budget_.is_spent() || proofs == kProofsMax) break;
        if (std::find(gone.begin(), gone.end(), &other) != gone.end()) continue;
        Units others = gone;
        others[i] = &other;
        if (!are_enough(idle, others) || !(cost_of(others) < best.cost)) continue;
        ++proofs;
        auto found = plan_with(domain, mark, others);
        if (!found) continue;
        best = *std::move(found);
        gone = std::move(others);
        break;
      }
    }
  }

  // For tests: brute force, where the units are few.
  void hold_against_sets(DomainId domain, Journal::Mark mark, const std::vector<Unit>& units, const Sums& idle,
                         const EvictionCost& cost) {
    constexpr std::size_t kFew = 8, kSome = 12;  // so many of which every set was proven
    const bool all_proven = count_sets(equal_units(model_, units), kProofsMax) <= static_cast<std::size_t>(kProofsMax);
    if (units.size() > (all_proven ? kSome : kFew)) return;
    UnitClasses apart;
    for (std::size_t i = 0; i < units.size(); ++i) apart.push_back({i});
    for (const auto& [own, set] : cheaper_sets(units, sets_of(apart), cost)) {
      const Units members = members_of(units, set);
      if (!are_enough(idle, members) || !plan_with(domain, mark, members)) continue;
      session_.evictions().record_bad_plan(base::format(
          "cheaper evictions for {} in {}", job_.key.view(),
          domain == kRootDomain ? "all nodes" : model_.symbols.text(session_.model().hyper_nodes.tree()[domain].name)));
    }
  }

  // The plan in the journal works, before and after.
  void spare(DomainId domain, Journal::Mark mark, std::vector<const Unit*>& gone, Sums& room) {
    for (std::size_t i = gone.size(); i-- > 0 && !budget_.is_spent();) {
      const Request amounts = sum_of(*gone[i]);
      room.add(amounts, -1);
      std::vector<const Unit*> others = gone;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      if (is_enough(room) && works_with(domain, mark, others)) {
        gone = std::move(others);
        continue;
      }
      room.add(amounts, 1);
    }
  }

  bool works_with(DomainId domain, Journal::Mark mark, const std::vector<const Unit*>& units) {
    const std::vector<Saved> before = session_.journal().saved_since(mark);
    const Places chosen = chosen_;
    budget_.spend(static_cast<std::int64_t>(4 * before.size()));
    session_.journal().rollback(mark);
    for (const Unit* one : units) evict(*one);
    if (place_all_in(domain)) return true;
    session_.journal().rollback(mark);
    session_.journal().replay(before);
    chosen_ = chosen;
    return false;
  }

  // Idle and releasing capacity of the node. In all nodes together what one has too much of is no other's; of a smaller
  // domain allocate asks for the sum.
  void add_room(Sums& room, std::uint32_t node, bool apart) const {
    Request here;
    for (const Part& part : need_.parts) {
      const std::int64_t amount = model_.nodes.idle(part.dim)[node] + model_.nodes.releasing(part.dim)[node];
      here.add(part.dim, apart ? std::max<std::int64_t>(amount, 0) : amount);
    }
    room.add(here, 1);
  }

  bool place_all_in(DomainId domain) {
    const Journal::Mark mark = session_.journal().mark();
    chosen_.clear();
    const bool bound = job_.topology != nullptr && job_.topology->has_hard_constraint();
    for (const std::uint32_t part : parts_) {
      std::vector<DomainId> places;
      if (bound) {
        const auto groups =
            session_.ask<SubJobGradients>(job_, job_.topology->sub_jobs[part], domain, DomainPurpose::kEvict);
        for (const auto& group : groups.value_or(Gradients{{domain}}))
          places.insert(places.end(), group.begin(), group.end());
      } else {
        places.push_back(domain);
      }
      const auto placed =
          std::find_if(places.begin(), places.end(), [&](DomainId one) { return place_part(part, one); });
      if (placed == places.end()) break;
      chosen_.emplace_back(part, *placed);
      if (was_ready_ || session_.ask<JobPipelined>(job_)) break;
    }
    const bool complete =
        !chosen_.empty() && (chosen_.size() == parts_.size() || was_ready_ || session_.ask<JobPipelined>(job_));
    if (complete && session_.ask<JobPipelined>(job_)) return true;
    session_.journal().rollback(mark);
    return false;
  }

  // Every task of the part, or nothing.
  bool place_part(std::uint32_t part, DomainId domain) {
    const Journal::Mark mark = session_.journal().mark();
    const NodeSet& inside = session_.model().hyper_nodes.tree().set_of(domain);
    for (TaskHeap tasks = sheet_.tasks.at(part); !tasks.empty();) {
      const Task& task = model_.task(tasks.pop());
      if (!place(task, inside)) {
        session_.journal().rollback(mark);
        return false;
      }
    }
    if (session_.part_ready(job_, part) || session_.part_pipelined(job_, part)) return true;
    session_.journal().rollback(mark);
    return false;
  }

  bool place(const Task& task, const NodeSet& inside) {
    if (!session_.ask<Allocatable>(model_.queue(job_.queue), task) || session_.ask<PrePredicate>(task)) return false;
    NodeSet nodes = nodes_worth_trying(session_, task);
    nodes &= inside;
    const auto node = session_.search().find_for_promise(task, nodes);
    return node && session_.journal().pipeline(task.id, *node, true);
  }

  Session& session_;
  Model& model_;
  const Settings& settings_;
  const EvictionCosts& costs_;
  SearchBudget& budget_;
  const Job& job_;
  Worksheet sheet_;
  std::vector<std::uint32_t> parts_;
  bool was_ready_;
  std::vector<TaskId> pending_;
  Request need_;
  Places chosen_;
  NodeSet inside_;  // the nodes of the domain that is tried
};

class GangEvict final : public Action {
 public:
  explicit GangEvict(EvictPurpose purpose) { settings_.purpose = purpose; }

  void configure(const Arguments& arguments) override {
    settings_.domains_max = arguments.get_int_from("maxDomains", 1, kDomainsDefault);
    settings_.allow_whole = arguments.get_bool("allowWholeBundle", true);
    settings_.steps = search_steps(arguments);
  }

  void run(Session& session) override {
    JobsByQueue work(session, JobsByQueue::Places::kLive);
    const EvictionCosts costs(session);
    SearchBudget budget(settings_.steps);
    Model& model = session.model();
    for (const JobId id : session.jobs_to_look_at()) {
      const Job& job = model.job(id);
      if (job.is_pending() || session.ask<JobValid>(job) || !session.ask<JobStarving>(job)) continue;
      if (job.has_topology_constraint() && !model.hyper_nodes.is_ready()) continue;
      work.add(id);
    }
    while (!work.queues.empty()) {
      const QueueId queue = work.queues.pop();
      if (settings_.purpose == EvictPurpose::kGangReclaim && session.ask<Overused>(model.queue(queue))) continue;
      while (work.has_jobs(queue)) {
        const JobId job = work.pop(queue);
        if (may_evict_for(session, job)) Beneficiary(session, settings_, costs, budget, job).run();
      }
    }
  }

 private:
  Settings settings_;
};

}  // namespace

std::unique_ptr<Action> make_gangpreempt() { return std::make_unique<GangEvict>(EvictPurpose::kGangPreempt); }
std::unique_ptr<Action> make_gangreclaim() { return std::make_unique<GangEvict>(EvictPurpose::kGangReclaim); }

}  // namespace scheduler

// gangpreempt and gangreclaim: which whole parts of other groups give way to a group that starves, domain by domain?
#include <algorithm>

#include "scheduler/actions/bundles.h"
#include "scheduler/actions/victims.h"
#include "scheduler/actions/worksheet.h"
#include "scheduler/framework/action.h"

namespace scheduler {
namespace {

constexpr std::int64_t kDomainsDefault = 8;
// Bounded work: after so many sets of victims that did not help in a domain, the next domain is tried.
constexpr int kPlansMax = 1000;

struct Settings {
  EvictPurpose purpose = EvictPurpose::kGangPreempt;
  std::int64_t domains_max = kDomainsDefault;
  bool allow_whole = true;

  std::string_view word() const { return purpose == EvictPurpose::kGangPreempt ? "gangpreempt" : "gangreclaim"; }
};

// One job's attempt.
class Beneficiary {
 public:
  Beneficiary(Session& session, const Settings& settings, JobId id)
      : session_(session),
        model_(session.model()),
        settings_(settings),
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
    if (pending_.empty()) return;
    const bool reclaims = settings_.purpose == EvictPurpose::kGangReclaim;
    if (reclaims && !session_.ask<Preemptive>(model_.queue(job_.queue), pending_)) return;
    const Session::Mark mark = session_.mark();
    for (const DomainId domain : domains()) {
      if (make_room_in(domain)) break;
    }
    if (!session_.has_operations_since(mark)) return;
    if (!session_.ask<JobPipelined>(job_)) return session_.rollback(mark);
    session_.commit(mark);
    for (const auto& [part, domain] : chosen_) session_.nominate_domain(job_.id, part, domain);
  }

 private:
  bool waits(TaskId id) const {
    const Task& task = model_.task(id);
    return task.status == TaskStatus::kPending && !task.best_effort && !task.gated && task.ours;
  }

  std::vector<DomainId> domains() const {
    std::vector<DomainId> out;
    for (const auto& group :
         session_.ask<JobGradients>(job_, kRootDomain, DomainPurpose::kEvict).value_or(Gradients{{kRootDomain}})) {
      for (const DomainId one : group) {
        if (std::find(out.begin(), out.end(), one) == out.end()) out.push_back(one);
      }
    }
    if (out.size() > static_cast<std::size_t>(settings_.domains_max))
      out.resize(static_cast<std::size_t>(settings_.domains_max));
    const bool bound = job_.topology != nullptr && job_.topology->wishes_hard();
    if (out.empty() && !bound) out.push_back(kRootDomain);
    return out;
  }

  // True when everything was placed; what was done stays in the journal.
  bool make_room_in(DomainId domain) {
    const std::vector<Bundle> bundles =
        select_bundles(session_, {{job_.id, settings_.purpose}, need_, domain, settings_.allow_whole});
    if (bundles.empty()) return false;
    Sums room;
    for (const std::uint32_t node : session_.domains()[domain].nodes) add_room(room, node);
    const Session::Mark mark = session_.mark();
    int plans = 0;
    for (const Bundle& bundle : bundles) {
      for (const TaskId victim : bundle.tasks) {
        room.add(model_.shape_of(model_.task(victim)).request, 1);
        session_.evict(victim, settings_.word(), job_.id);
      }
      const bool enough = std::all_of(need_.parts.begin(), need_.parts.end(),
                                      [&](const Part& part) { return part.amount <= room.get(part.dim); });
      if (!enough) continue;
      if (place_all_in(domain)) return true;
      if (++plans == kPlansMax) break;
    }
    session_.rollback(mark);
    return false;
  }

  // Idle and releasing capacity of the node.
  void add_room(Sums& room, std::uint32_t node) const {
    Request here;
    for (const Part& part : need_.parts) {
      here.add(part.dim, model_.nodes.idle(part.dim)[node] + model_.nodes.releasing(part.dim)[node]);
    }
    room.add(here, 1);
  }

  bool place_all_in(DomainId domain) {
    const Session::Mark mark = session_.mark();
    chosen_.clear();
    const bool bound = job_.topology != nullptr && job_.topology->wishes_hard();
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
    session_.rollback(mark);
    return false;
  }

  // Every task of the part, or nothing.
  bool place_part(std::uint32_t part, DomainId domain) {
    const Session::Mark mark = session_.mark();
    const NodeSet& inside = session_.domains().set_of(domain);
    for (TaskHeap tasks = sheet_.tasks.at(part); !tasks.empty();) {
      const Task& task = model_.task(tasks.pop());
      if (!place(task, inside)) {
        session_.rollback(mark);
        return false;
      }
    }
    if (session_.part_ready(job_, part) || session_.part_pipelined(job_, part)) return true;
    session_.rollback(mark);
    return false;
  }

  bool place(const Task& task, const NodeSet& inside) {
    if (!session_.ask<Allocatable>(model_.queue(job_.queue), task) || session_.ask<PrePredicate>(task)) return false;
    NodeSet nodes = nodes_worth_trying(session_, task);
    nodes &= inside;
    const auto node = session_.search().find_for_promise(task, nodes);
    return node && session_.pipeline(task.id, *node, true);
  }

  Session& session_;
  Model& model_;
  const Settings& settings_;
  const Job& job_;
  Worksheet sheet_;
  std::vector<std::uint32_t> parts_;
  bool was_ready_;
  std::vector<TaskId> pending_;
  Request need_;
  std::vector<std::pair<std::uint32_t, DomainId>> chosen_;
};

class GangEvict final : public Action {
 public:
  explicit GangEvict(EvictPurpose purpose) { settings_.purpose = purpose; }

  void configure(const Arguments& arguments) override {
    settings_.domains_max = arguments.get_int_from("maxDomains", 1, kDomainsDefault);
    settings_.allow_whole = arguments.get_bool("allowWholeBundle", true);
  }

  void run(Session& session) override {
    JobsByQueue work(session, JobsByQueue::Places::kLive);
    Model& model = session.model();
    for (const JobId id : session.jobs_to_look_at()) {
      const Job& job = model.job(id);
      if (job.is_pending() || session.ask<JobValid>(job) || !session.ask<JobStarving>(job)) continue;
      if (job.wishes_topology() && !model.hyper_nodes.is_ready()) continue;
      work.add(id);
    }
    while (!work.queues.empty()) {
      const QueueId queue = work.queues.pop();
      if (settings_.purpose == EvictPurpose::kGangReclaim && session.ask<Overused>(model.queue(queue))) continue;
      while (work.has_jobs(queue)) Beneficiary(session, settings_, work.pop(queue)).run();
    }
  }

 private:
  Settings settings_;
};

}  // namespace

std::unique_ptr<Action> make_gangpreempt() { return std::make_unique<GangEvict>(EvictPurpose::kGangPreempt); }
std::unique_ptr<Action> make_gangreclaim() { return std::make_unique<GangEvict>(EvictPurpose::kGangReclaim); }

}  // namespace scheduler

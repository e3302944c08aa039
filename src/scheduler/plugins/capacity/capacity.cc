// Capacity: each queue deserves what its spec says; queues may form a tree. Used instead of proportion.
#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/format.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/plugins/capacity/capacity_dra.h"
#include "scheduler/plugins/capacity/capacity_tree.h"
#include "scheduler/plugins/queues/admitted_tasks.h"
#include "scheduler/plugins/queues/queue_gauges.h"
#include "scheduler/plugins/queues/queue_shortage.h"
#include "scheduler/session/session.h"
#include "scheduler/session/victim_order.h"

namespace scheduler {
namespace {

class Capacity final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    model_ = &setup.model();
    tree_.hierarchical = setup.hierarchy();
    level_ = setup.arguments().get_int_from("ancestorReclaimLevel", 0, 0);
    setup.on<QueueOrder>([this](const Queue& a, const Queue& b) { return queue_order(a, b); });
    if (tree_.hierarchical) {
      setup.on<VictimQueueOrder>([this](const Queue& l, const Queue& r, const Queue& preemptor) {
        const std::size_t left = tree_.common_depth(l.id, preemptor.id), right = tree_.common_depth(r.id, preemptor.id);
        return left == right ? 0 : left > right ? -1 : 1;
      });
    }
    setup.on<Reclaimable>(
        [this](const Task& task, const std::vector<TaskId>& candidates) { return reclaimable(task, candidates); });
    setup.on<UnifiedEvictable>([this](const GangEviction& eviction, const std::vector<TaskId>& candidates) {
      return unified_evictable(eviction, candidates);
    });
    // Simulation reads what was copied when the pod was looked at first; with predicates switched off nothing is.
    const bool copies = setup.is_on("enablePredicate");
    setup.on<SimulateRemoveTask>([copies](const Task&) { return copies; });
    setup.on<SimulateAllocatable>(
        [this, copies](const Queue& queue, const Task& task) { return copies && has_room(queue, task); });
    setup.on<Preemptive>(
        [this](const Queue& queue, const std::vector<TaskId>& tasks) { return preemptive(queue, tasks); });
    // Device quotas first: a pod that they refuse holds no room of its queue.
    quota_.attach(setup);
    setup.on<Allocatable>([this](const Queue& queue, const Task& task) { return allocatable(queue, task); });
    setup.on<TaskPlaced>([this](const Task& task) -> Refusal {
      if (reserves(task)) admitted_.remove(*model_, task);
      return {};
    });
    setup.on<TaskRemoved>([this](const Task& task) {
      if (reserves(task)) admitted_.add(*model_, task);
    });
    setup.on<QueueLimit>([this](const Queue& queue, const Resource& wanted, LimitQuestion question) {
      return shortage(queue, wanted, question);
    });
    setup.on<JobEnqueueable>([this](const Job& job) { return enqueueable(job); });
    setup.on<JobEnqueued>([this](const Job& job) {
      if (!job.min_resources() || !tree_.ready) return;
      const Resource held = without_gated(*model_, job, minimum_of(job));
      for (QueueId at = job.queue; at.is_set(); at = tree_[at].parent) tree_[at].inqueue += held;
    });
    setup.on<ReserveLapsed>([this](const Job& job) {
      const Resource* held = reserve_.held_by(job);
      if (held == nullptr || !tree_.ready || !tree_.has(job.queue)) return;
      for (QueueId at = job.queue; at.is_set(); at = tree_[at].parent) tree_[at].inqueue -= *held;
    });
  }

  void open(Session& session) override {
    session_ = &session;
    reserve_.open(session);
    const bool was_ready = tree_.ready;
    tree_.build(*model_, reserve_);
    // A group that came to a queue with children takes every limit away; its leaving brings them back.
    if (was_ready != tree_.ready) session.mark_limits_changed();
    quota_.open(session);
    queue_gates_ = model_->gates.on("SchedulingGatesQueueAdmission");
    admitted_.clear();
    if (!queue_gates_) return;
    for (const JobId id : session.jobs_to_look_at()) {
      for (const TaskId task : model_->job(id).tasks) {
        const Task& one = model_->task(task);
        if (one.status == TaskStatus::kPending && !one.gated && reserves(one)) admitted_.add(*model_, one);
      }
    }
  }

  void report(const MetricSink& sink) const override {
    for (std::uint32_t q = 0; q < model_->queue_count(); ++q) {
      const Queue& queue = model_->queue(QueueId{q});
      if (!tree_.has(queue.id) || !queue.in_use) continue;
      const CapacityQueue& own = tree_[queue.id];
      Resource request;
      for (const QueueId leaf : own.leaves)
        request += Resource(model_->queue(leaf).allocated) + Resource(model_->queue(leaf).pending);
      report_amounts(sink, *model_, queue.name, "allocated", tree_.allocated(*model_, queue.id));
      report_amounts(sink, *model_, queue.name, "request", request);
      report_amounts(sink, *model_, queue.name, "inqueue", own.inqueue);
      report_amounts(sink, *model_, queue.name, "deserved", own.deserved);
      report_amounts(sink, *model_, queue.name, "capacity", own.capability);
      report_amounts(sink, *model_, queue.name, "real_capacity", own.real_capability);
      const double share = tree_.share(*model_, queue.id);
      sink("queue_share", {queue.name}, share);
      sink("queue_overused", {queue.name}, share > 1 ? 1 : 0);
    }
  }

 private:
  Resource request_of(const Task& task) const { return Resource(model_->shape_of(task).request); }

  int queue_order(const Queue& a, const Queue& b) const {
    if (!tree_.ready) return 0;
    if (a.priority != b.priority) return a.priority > b.priority ? -1 : 1;
    if (!tree_.hierarchical) return share_order(a.id, b.id);
    const bool left = tree_[a.id].is_leaf(), right = tree_[b.id].is_leaf();
    if (left != right) return left ? -1 : 1;
    if (!left) return share_order(a.id, b.id);
    const std::size_t common = tree_.common_depth(a.id, b.id);
    return share_order(tree_.ancestor_below(a.id, common), tree_.ancestor_below(b.id, common));
  }

  int share_order(QueueId a, QueueId b) const {
    const double left = tree_.share(*model_, a), right = tree_.share(*model_, b);
    if (left != right) return left < right ? -1 : 1;
    const bool has_left = !tree_[a].deserved.is_empty(), has_right = !tree_[b].deserved.is_empty();
    return has_left == has_right ? 0 : has_left ? -1 : 1;
  }

  // The queue may take tasks at all.
  bool accepts(const Queue& queue) const {
    return tree_.ready && tree_.has(queue.id) && queue.state == QueueState::kOpen &&
           (!tree_.hierarchical || tree_[queue.id].is_leaf());
  }

  std::string why_not_accepted(const Queue& queue) const {
    if (!tree_.ready)
      return "the tree of queues is broken: a cycle, an unknown parent, or jobs in a queue with children";
    return base::format("queue {} takes no jobs: it has children", queue.name);
  }

  // Opted in to the queue's gate: from its admission on the task counts as used, until it is placed.
  bool reserves(const Task& task) const { return queue_gates_ && task.queue_gate_opt_in && task.job.is_set(); }

  bool allocatable(const Queue& queue, const Task& task) {
    if (!accepts(queue) || !has_room(queue, task)) return false;
    if (reserves(task)) admitted_.add(*model_, task);
    return true;
  }

  // The same but for the queue's state.
  bool has_room(const Queue& queue, const Task& task) const {
    if (!tree_.ready || !tree_.has(queue.id) || (tree_.hierarchical && !tree_[queue.id].is_leaf())) return false;
    const Resource wanted = request_of(task);
    for (QueueId at = queue.id; at.is_set(); at = tree_[at].parent) {
      Resource future = tree_.allocated(*model_, at) + wanted;
      if (queue_gates_ && at == queue.id) future += admitted_.of_others(*model_, at, task);
      if (!future.fits_wanted(tree_[at].real_capability, wanted)) return false;
    }
    return true;
  }

  // At least one wanted dimension stays within what the queue deserves; dimensions where both are nothing do not count.
  bool within_deserved(const Resource& future, const Resource& deserved, const Resource& wanted) const {
    Resource counted = wanted;
    for (Dim d = 0; d < counted.size(); ++d) {
      if (future.get(d) < kResourceEpsilon && deserved.get(d) < kResourceEpsilon) counted.set(d, 0);
    }
    return future.fits_some_wanted(deserved, counted);
  }

  bool preemptive(const Queue& queue, const std::vector<TaskId>& tasks) const {
    if (!tree_.ready || !tree_.has(queue.id) || queue.state != QueueState::kOpen) return false;
    Resource wanted;
    for (const TaskId id : tasks) wanted += request_of(model_->task(id));
    const Resource future = tree_.allocated(*model_, queue.id) + wanted;
    if (!future.fits_wanted(tree_[queue.id].real_capability, wanted)) return false;
    if (within_deserved(future, tree_[queue.id].deserved, wanted)) return true;
    QueueId at = tree_[queue.id].parent;
    for (std::int64_t depth = 1; tree_.hierarchical && depth <= level_ && at.is_set(); ++depth, at = tree_[at].parent) {
      if (at == tree_.root) break;
      if (within_deserved(tree_.allocated(*model_, at) + wanted, tree_[at].deserved, wanted)) return true;
    }
    return false;
  }

  // False if the task's queue deserves nothing that the task asks for.
  static bool shares_dimension(const Resource& a, const Resource& b) {
    for (const Dim d : a.names()) {
      if (b.get(d) >= kResourceEpsilon) return true;
    }
    return false;
  }

  static bool exceeds(const Resource& allocated, const Resource& deserved, const Resource& wanted) {
    Resource relevant;
    for (Dim d = 0; d < wanted.size(); ++d) {
      if (wanted.get(d) > 0 && (d < 2 ? deserved.get(d) >= kResourceEpsilon : deserved.has(d)))
        relevant.set(d, wanted.get(d));
    }
    return allocated.exceeds_some_wanted(deserved, relevant);
  }

  // Running allocations of the queues during one question.
  class Running {
   public:
    Running(const CapacityTree& tree, const Model& model) : tree_(tree), model_(model) {}
    Resource& of(QueueId queue) {
      auto [slot, added] = left_.try_emplace(queue.index);
      if (added) slot->second = tree_.allocated(model_, queue);
      return slot->second;
    }

   private:
    const CapacityTree& tree_;
    const Model& model_;
    std::unordered_map<std::uint32_t, Resource> left_;
  };

  bool passes_leaf_test(Running& running, QueueId queue, const Resource& gives) const {
    const Resource& deserved = tree_[queue].deserved;
    return !shares_dimension(gives, deserved) || exceeds(running.of(queue), deserved, gives);
  }

  Victims reclaimable(const Task& reclaimer, std::vector<TaskId> candidates) const {
    if (!tree_.ready || !reclaimer.job.is_set() || !tree_.has(model_->job(reclaimer.job).queue))
      return {{}, Vote::kReject};
    const QueueId own = model_->job(reclaimer.job).queue;
    const Resource wants = request_of(reclaimer);
    Running running(tree_, *model_);
    Victims out;
    sort_as_victims(*session_, reclaimer, candidates);
    for (const TaskId id : candidates) {
      const Task& task = model_->task(id);
      if (!task.job.is_set() || !tree_.has(model_->job(task.job).queue)) continue;
      const QueueId queue = model_->job(task.job).queue;
      const Resource gives = request_of(task);
      if (!shares_besides_pods(gives, wants)) continue;
      if (!tree_[queue].guarantee.less_equal(running.of(queue) - gives, Missing::kZero)) continue;
      const bool immediate = !shares_dimension(gives, tree_[queue].deserved);
      if (immediate && no_contention(own, queue, wants)) continue;
      if (!immediate && !exceeds(running.of(queue), tree_[queue].deserved, gives)) continue;
      std::vector<QueueId> examined;
      if (!ancestors_pass(running, own, queue, gives, examined)) continue;
      running.of(queue) -= gives;
      for (const QueueId at : examined) running.of(at) -= gives;
      out.tasks.push_back(id);
    }
    return out;
  }

  // Whole groups of victims: the guarantee and the leaf test of reclaimable, nothing else.
  Victims unified_evictable(const GangEviction& eviction, const std::vector<TaskId>& candidates) const {
    if (eviction.purpose != EvictPurpose::kGangReclaim) return {candidates};
    if (!tree_.ready) return {{}, Vote::kReject};
    Running running(tree_, *model_);
    Victims out;
    for (const TaskId id : candidates) {
      const Task& task = model_->task(id);
      if (!task.job.is_set() || !tree_.has(model_->job(task.job).queue)) continue;
      const QueueId queue = model_->job(task.job).queue;
      const Resource gives = request_of(task);
      if (!tree_[queue].guarantee.less_equal(running.of(queue) - gives, Missing::kZero)) continue;
      if (!passes_leaf_test(running, queue, gives)) continue;
      running.of(queue) -= gives;
      out.tasks.push_back(id);
    }
    return out;
  }

  static bool shares_besides_pods(const Resource& a, const Resource& b) {
    for (const Dim d : a.names()) {
      if (d != kPods && b.get(d) >= kResourceEpsilon) return true;
    }
    return false;
  }

  // Two best-effort siblings: neither deserves anything, so neither has a claim on the other.
  bool no_contention(QueueId own, QueueId other, const Resource& wants) const {
    if (!tree_.hierarchical || level_ == 0 || shares_dimension(wants, tree_[own].deserved)) return false;
    QueueId at = tree_[other].parent;
    for (std::int64_t depth = 1; depth <= level_ && at.is_set() && at != tree_.root; ++depth, at = tree_[at].parent) {
      QueueId mine = tree_[own].parent;
      for (std::int64_t d = 1; d <= level_ && mine.is_set() && mine != tree_.root; ++d, mine = tree_[mine].parent) {
        if (mine == at) return true;
      }
    }
    return false;
  }

  bool ancestors_pass(Running& running, QueueId own, QueueId other, const Resource& gives,
                      std::vector<QueueId>& examined) const {
    QueueId theirs = other, mine = own;
    for (std::int64_t depth = 1; tree_.hierarchical && depth <= level_; ++depth) {
      theirs = theirs.is_set() ? tree_[theirs].parent : theirs;
      mine = mine.is_set() ? tree_[mine].parent : mine;
      if (!theirs.is_set() || theirs == tree_.root || theirs == mine) continue;
      if (!passes_leaf_test(running, theirs, gives)) return false;
      examined.push_back(theirs);
    }
    return true;
  }

  Vote enqueueable(const Job& job) {
    const Queue& queue = model_->queue(job.queue);
    if (!accepts(queue)) {
      if (queue.state == QueueState::kOpen)
        session_->statuses().refusals().add(job,
                                            AdmissionRefusal{.message = why_not_accepted(queue), .in_event = false});
      return Vote::kReject;
    }
    if (!job.min_resources()) return Vote::kPermit;
    const Resource wanted = minimum_of(job);
    for (QueueId at = queue.id; at.is_set(); at = tree_[at].parent) {
      std::vector<Dim> failing;
      const Resource used = tree_.allocated(*model_, at) + tree_[at].inqueue - tree_[at].elastic;
      if ((used + wanted).fits_wanted(tree_[at].real_capability, wanted, &failing)) continue;
      session_->statuses().refusals().add(
          job, AdmissionRefusal{
                   .message = "queue resource quota insufficient: " + failing_text(*model_, failing, "insufficient"),
                   .shortage = shortage_of(*model_, &model_->queue(at), Limit::kCapability, used, wanted,
                                           tree_[at].real_capability)});
      return Vote::kReject;
    }
    return Vote::kPermit;
  }

  std::optional<Shortage> shortage(const Queue& queue, const Resource& wanted, LimitQuestion question) const {
    if (!accepts(queue)) return std::nullopt;
    for (QueueId at = queue.id; at.is_set(); at = tree_[at].parent) {
      const Resource used = question == LimitQuestion::kEver ? Resource() : tree_.allocated(*model_, at);
      auto found =
          shortage_of(*model_, &model_->queue(at), Limit::kCapability, used, wanted, tree_[at].real_capability);
      if (found) return found;
    }
    return std::nullopt;
  }

  Model* model_ = nullptr;
  Session* session_ = nullptr;
  std::int64_t level_ = 0;
  QueueReserve reserve_;
  CapacityTree tree_;
  bool queue_gates_ = false;
  AdmittedTasks admitted_;
  DeviceQuota quota_;
};

}  // namespace

std::unique_ptr<Plugin> make_capacity() { return std::make_unique<Capacity>(); }

}  // namespace scheduler

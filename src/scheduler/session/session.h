// One scheduling cycle between its opening and its close.
//
// A session works on the live model, and is what plugins and actions see of it. Its parts have a file each: the journal
// (placements and evictions), the statuses (what is written of groups, pods and queues), the troubles that jobs met,
// and the reasons why they wait.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "scheduler/session/job_problems.h"
#include "scheduler/session/journal.h"
#include "scheduler/session/live_heap.h"
#include "scheduler/session/plan.h"
#include "scheduler/session/reasons.h"
#include "scheduler/session/session_input.h"
#include "scheduler/session/statuses.h"

namespace scheduler {

class Session;
struct EvictionRound;
using EvictionRounds = std::map<JobId, EvictionRound>;

// The end of a pod that was decided by itself.
struct SinglePodEnd {
  TaskId task;
  bool has_node = false;
};

// Whether `a` is evicted before `b`.
struct VictimLess {
  const Session* session;
  const Model* model;
  const Task* preemptor;
  bool operator()(TaskId a, TaskId b) const;
};

class Session {
 public:
  explicit Session(SessionInput input);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Model& model() { return in_.model; }
  const Model& model() const { return in_.model; }
  const Config& config() const { return in_.config; }
  NodeSearch& search() { return in_.search; }
  base::Time now() const { return in_.now; }
  const std::string& scheduler_name() const { return in_.scheduler_name; }
  const std::string& uid() const { return in_.uid; }
  const std::vector<JobId>& changed_jobs() const { return in_.changed_jobs; }
  bool all_jobs_changed() const { return in_.all_jobs_changed; }

  template <class P, class... A>
  decltype(auto) ask(const A&... args) const {
    return in_.plugins.ask<P>(args...);
  }

  // Each plugin's answer by itself: visit(name, answer).
  template <class P, class Visit, class... A>
  void ask_each(Visit&& visit, const A&... args) const {
    in_.plugins.ask_each<P>(visit, args...);
  }
  bool keeps_reasons() const { return in_.keeps_reasons; }

  // Jobs with something to decide, in the order of their keys. Valid until the model changes its jobs.
  std::vector<JobId> jobs_to_look_at();

  // Orders, with the fallbacks that make them total.
  bool job_before(const Job& a, const Job& b) const;
  bool task_before(const Task& a, const Task& b) const;
  bool queue_before(const Queue& a, const Queue& b) const;
  bool sub_job_before(const SubJob& a, const SubJob& b) const;
  // The answer for one part of a job; the job's own answer where it has no subgroups.
  bool part_ready(const Job& job, std::uint32_t part) const;
  bool part_pipelined(const Job& job, std::uint32_t part) const;
  // Orders victims: what comes first is evicted first, for the benefit of `preemptor`.
  // Victims in the order in which they go, by the state at the call.
  void sort_as_victims(const Task& preemptor, std::vector<TaskId>& victims) const;
  // The same, where each eviction changes who goes next. Valid while the session and the preemptor are.
  LiveHeap<TaskId, VictimLess> victim_heap(const Task& preemptor, const std::vector<TaskId>& victims) const;

  // The journal (journal.h).
  using Mark = Journal::Mark;
  using Saved = Journal::Saved;
  Mark mark() const { return journal_.mark(); }
  bool allocate(TaskId task, NodeId node) { return journal_.allocate(task, node); }
  bool pipeline(TaskId task, NodeId node, bool eviction_occurred) {
    return journal_.pipeline(task, node, eviction_occurred);
  }
  void evict(TaskId task, std::string_view action, JobId beneficiary) { journal_.evict(task, action, beneficiary); }
  void rollback(Mark mark) { journal_.rollback(mark); }
  void commit(Mark mark) { journal_.commit(mark); }
  bool has_operations_since(Mark mark) const { return journal_.has_operations_since(mark); }
  std::vector<Saved> saved_since(Mark mark) const { return journal_.saved_since(mark); }
  bool replay(const std::vector<Saved>& operations) { return journal_.replay(operations); }
  void dispatch_if_ready(JobId job) { journal_.dispatch_if_ready(job); }
  void unpipeline(TaskId task) { journal_.unpipeline(task); }
  void unevict(TaskId task) { journal_.unevict(task); }
  void remove_queue_gate(const Task& task) { journal_.remove_queue_gate(task); }
  // Rollbacks and plans that are not what they should be, where that is proved.
  std::vector<std::string> take_bad_rollbacks();
  bool proves() const { return in_.proves_rollbacks; }
  void note_bad_plan(std::string what) { bad_plans_.push_back(std::move(what)); }

  // For whom pods were evicted in earlier sessions, and in this one, until that has ended.
  EvictionRounds& eviction_rounds();
  bool is_beneficiary(JobId job) const;
  // Nodes that searches for victims left out, as their budget was spent.
  void note_nodes_left_out(std::size_t nodes) { left_out_ += nodes; }
  std::size_t nodes_left_out() const { return left_out_; }

  // Topology (session_topology.cc). Wishes and allocated domains are settled once, before the plugins open.
  void open_topology();
  const DomainTree& domains() const { return in_.model.hyper_nodes.tree(); }
  // The domain in which an eviction of this session made room for a part of a job; unset where none did.
  DomainId nominated_domain(JobId job, std::uint32_t part) const;
  void nominate_domain(JobId job, std::uint32_t part, DomainId domain);
  // The node nominated for a task turned out useless; for the rest of the session it has none.
  void ignore_nomination(TaskId task) { ignored_nominations_.insert(task.index); }
  bool ignores_nomination(TaskId task) const { return ignored_nominations_.contains(task.index); }
  // The job's tasks forget what was found for them so far in this session: one part's, or all.
  void forget_attempts(JobId job, std::uint32_t part);
  void forget_attempts(JobId job);

  // The troubles that jobs met (troubles.h).
  JobProblem& trouble(JobId job) { return troubles_.of(job); }
  const JobProblem* find_trouble(JobId job) const { return troubles_.find(job); }
  void clear_trouble(JobId job) { troubles_.clear(job); }
  // The queue may not take the task, of this part of the job, now.
  void note_over_limit(const Job& job, std::uint32_t part, const Task& task);
  void note_overused(QueueId queue) { troubles_.note_overused(queue); }
  // The limits of queues differ from the previous session, though no queue's object does: what groups were told of it
  // may be wrong. Before the close.
  void note_limits_changed() { in_.queues_changed = true; }
  // Groups that hold nothing back any more, when the plugins are open.
  void settle_reserves();
  bool lacks_pods_for_long(const Job& job) const { return in_.lapsed_reserves.lacks_pods(job.id); }
  bool was_placed_and_discarded(const Task& task) const { return scheduler::was_placed_and_discarded(task, in_.cycle); }

  // Conditions, phases and refusals of groups (statuses.h).
  void set_condition(JobId job, std::string_view type, std::string_view reason, std::string_view message) {
    statuses_.set_condition(job, type, reason, message);
  }
  void set_phase(JobId job, GroupPhase phase) { statuses_.set_phase(job, phase); }
  void refuse(const Job& job, AdmissionRefusal refusal) {
    refuse(job, std::make_shared<const AdmissionRefusal>(std::move(refusal)));
  }
  void refuse(const Job& job, std::shared_ptr<const AdmissionRefusal> refusal) {
    statuses_.refuse(job, std::move(refusal));
  }
  void begin_rehearsal() { statuses_.begin_rehearsal(); }
  void end_rehearsal(bool take_effect) { statuses_.end_rehearsal(take_effect); }
  std::string waiting_text(const Job& job, std::int32_t unschedulable) const {
    return statuses_.waiting_text(job, unschedulable);
  }
  std::vector<JobId> jobs_to_close() { return statuses_.jobs_to_close(); }

  // Pods that are decided one by one, and whether each got a node.
  const std::vector<TaskId>& single_pods() const { return in_.single_pods; }
  void note_single_pod(TaskId task, bool has_node) { single_pods_.push_back({task, has_node}); }
  const std::vector<SinglePodEnd>& single_pod_ends() const { return single_pods_; }
  // The pod waits, belongs to no group, and is told why, unless that is what it was told last.
  void tell_pod(TaskId task, std::string message) { statuses_.tell_pod(task, std::move(message)); }

  // Why jobs that were closed wait (reasons.h).
  std::vector<std::pair<JobId, WaitReason>> take_reasons() { return reasons_.take(); }

  const Plan& plan() const { return plan_; }
  // Ends the session: statuses, conditions, events; then what was not committed is undone.
  Plan close(const Stopwatch& stopwatch = {});
  const std::vector<PluginTime>& closing_times() const { return closing_times_; }

  // How often preempt opened a node, and how many victims it looked at there last.
  struct PreemptionCounts {
    std::int64_t attempts = 0;
    std::optional<std::int64_t> last_victims;
  };
  void note_victims(std::size_t count) { preemption_.last_victims = static_cast<std::int64_t>(count); }
  void note_preemption_attempt() { ++preemption_.attempts; }
  const PreemptionCounts& preemption() const { return preemption_; }

  // Status of every task before the close undid anything, for reports. Filled when asked for.
  void keep_tasks() { keep_tasks_ = true; }
  struct TaskReport {
    TaskStatus status;
    std::string node;
  };
  const std::map<std::string, TaskReport>& task_reports() const { return task_reports_; }
  const std::map<std::string, std::string>& pipelined() const { return pipelined_; }

 private:
  void report_tasks();
  void settle_wishes(JobTopology& topology, const DomainTree& tree) const;
  void settle_allocated(Job& job, const DomainTree& tree);

  SessionInput in_;
  Plan plan_;
  JobProblems troubles_;
  Journal journal_;
  Statuses statuses_;
  Reasons reasons_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, DomainId> nominated_;  // by job and part
  std::set<std::uint32_t> ignored_nominations_;                            // tasks
  std::map<std::string, TaskReport> task_reports_;
  std::map<std::string, std::string> pipelined_;
  std::vector<PluginTime> closing_times_;
  PreemptionCounts preemption_;
  std::vector<SinglePodEnd> single_pods_;
  std::vector<std::string> bad_plans_;
  std::size_t left_out_ = 0;
  bool keep_tasks_ = false;
};

}  // namespace scheduler

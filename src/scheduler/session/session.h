// What happens between the opening and the close of one scheduling cycle?
//
// A session works on the live model. Placements and evictions go into a journal: commit() hands those since a mark to
// the plan, rollback() undoes them from the end; what is neither stays until the close, as the reservation of a gang
// that waits for releasing capacity, and is undone then.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "scheduler/framework/config.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/model/model.h"
#include "scheduler/search/fit.h"
#include "scheduler/search/node_search.h"
#include "scheduler/session/live_heap.h"
#include "scheduler/session/plan.h"
#include "scheduler/session/queue_devices.h"

namespace scheduler {

// What one job met while it was tried in this session.
struct JobTrouble {
  std::map<std::string, FitErrors, std::less<>> by_task;    // by pod name, so that the quoted one is the smallest
  std::map<std::uint32_t, std::vector<bool>> failed_roles;  // by part of the job (SubJob), by Role position
  bool has_failed(std::uint32_t part, std::uint32_t role) const {
    auto found = failed_roles.find(part);
    return found != failed_roles.end() && role < found->second.size() && found->second[role];
  }
  std::string text;                       // of the job as a whole
  bool over_limit = false;                // the queue may not take some task
  std::optional<QueueShortage> shortage;  // of the first of them, with what was placed before it
};

struct SessionInput {
  Model& model;
  const Config& config;
  PluginSet& plugins;
  NodeSearch& search;
  QueueDevices& queue_devices;
  base::Time now;
  std::string uid;
  std::uint64_t cycle = 0;
  const std::vector<JobId>& changed_jobs;  // since the previous session was opened, that one's own changes included
  const std::map<JobId, WaitReason>& known_reasons;  // of the sessions before
  bool keeps_reasons = true;                         // WaitReasons of those that wait
  bool all_jobs_changed = false;                     // plugins are new: everything counts as changed
  bool queues_changed = false;                       // what queues say differs from the previous session
  std::string scheduler_name;
  bool proves_rollbacks = false;  // for tests
};

class Session;

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

  Model& model() { return in_.model; }
  const Config& config() const { return in_.config; }
  NodeSearch& search() { return in_.search; }
  base::Time now() const { return in_.now; }
  const std::string& uid() const { return in_.uid; }
  const std::vector<JobId>& changed_jobs() const { return in_.changed_jobs; }
  bool all_jobs_changed() const { return in_.all_jobs_changed; }

  template <class P, class... A>
  decltype(auto) ask(const A&... args) const {
    return in_.plugins.ask<P>(args...);
  }

  // Jobs with something to decide, in the order of their keys. Valid until the model changes its jobs.
  std::vector<JobId> jobs_to_look_at();

  // Orders, with the fallbacks that make them total.
  bool job_before(const Job& a, const Job& b) const;
  bool task_before(const Task& a, const Task& b) const;
  bool queue_before(const Queue& a, const Queue& b) const;
  bool sub_job_before(const SubJob& a, const SubJob& b) const;
  // Of one part of a job; the job's own answer where it has no subgroups.
  bool part_ready(const Job& job, std::uint32_t part) const;
  bool part_pipelined(const Job& job, std::uint32_t part) const;
  // Orders victims: what comes first is evicted first, for the benefit of `preemptor`.
  // Victims in the order in which they go, by the state at the call.
  void sort_as_victims(const Task& preemptor, std::vector<TaskId>& victims) const;
  // The same, where each eviction changes who goes next. Valid while the session and the preemptor are.
  LiveHeap<TaskId, VictimLess> victim_heap(const Task& preemptor, const std::vector<TaskId>& victims) const;

  // The journal.
  using Mark = std::size_t;
  Mark mark() const { return journal_.size(); }
  // False, and nothing changed, when a plugin refuses the placement.
  bool allocate(TaskId task, NodeId node);
  bool pipeline(TaskId task, NodeId node, bool eviction_occurred);
  void evict(TaskId task, std::string_view action, JobId beneficiary);
  void rollback(Mark mark);
  // Nothing is committed for a job that a plugin holds: it waits for an answer from outside. What was placed stays
  // until the close, as its reservation.
  void commit(Mark mark);
  bool has_operations_since(Mark mark) const { return journal_.size() > mark; }
  // What was done since the mark, to be done again after a rollback.
  struct Saved {
    TaskId task;
    NodeId node;
    enum class Kind : std::uint8_t { kAllocate, kPipeline, kEvict } kind = Kind::kAllocate;
    bool eviction_occurred = false;
    JobId beneficiary;
    std::uint32_t action = 0;
  };
  std::vector<Saved> saved_since(Mark mark) const;
  // False at the first operation that is refused; those before it stay.
  bool replay(const std::vector<Saved>& operations);

  // Topology (session_topology.cc). Wishes and allocated domains are settled once, before the plugins open.
  void open_topology();
  const DomainTree& domains() const { return in_.model.hyper_nodes.tree(); }
  // Where an eviction of this session made room for a part of a job; unset where none did.
  DomainId nominated_domain(JobId job, std::uint32_t part) const;
  void nominate_domain(JobId job, std::uint32_t part, DomainId domain);
  // The node nominated for a task turned out useless; for the rest of the session it has none.
  void ignore_nomination(TaskId task) { ignored_nominations_.insert(task.index); }
  bool ignores_nomination(TaskId task) const { return ignored_nominations_.contains(task.index); }
  // The job's tasks forget what was found for them so far in this session: one part's, or all.
  void forget_attempts(JobId job, std::uint32_t part);
  void forget_attempts(JobId job);
  // For backfill: hands every Allocated task of a ready job to the plan.
  void dispatch_if_ready(JobId job);
  void unpipeline(TaskId task);
  // Takes back one eviction of this session that was not committed.
  void unevict(TaskId task) { take_back(task, Kind::kEvict); }
  // The queue has admitted a task whose only gate is the queue's. It is placed in a later cycle.
  void remove_queue_gate(const Task& task);

  // Why jobs wait.
  JobTrouble& trouble(JobId job) { return troubles_[job.index]; }
  const JobTrouble* find_trouble(JobId job) const;
  void clear_trouble(JobId job) { troubles_.erase(job.index); }
  // Conditions and phases of groups.
  void set_condition(JobId job, std::string_view type, std::string_view reason, std::string_view message);
  void set_phase(JobId job, GroupPhase phase);
  void group_event(const Job& job, std::string type, std::string reason, std::string message);
  // Admission refuses the job. Told in an event, if at all, when it differs from what was said at the job's last close.
  void refuse(const Job& job, std::string message, bool tell = true);
  // Between these, refusals are held back; then they take effect, or were never said.
  void begin_rehearsal() { rehearses_ = true; }
  void end_rehearsal(bool take_effect);

  // What the job waits for, in the words of its condition; and of one task.
  std::string job_text(const Job& job) const;
  struct TaskReason {
    std::string reason;
    std::string message;
    std::string nominated_node;
  };
  TaskReason task_reason(const Task& task) const;

  // Why the job waits now, in numbers (session_reasons.cc). Before the close only.
  WaitReason wait_reason(const Job& job);
  // The queue may not take the task now.
  void note_over_limit(const Job& job, const Task& task);
  void note_overused(QueueId queue) { overused_.insert(queue.index); }
  // The reasons of the jobs that were closed and wait.
  std::vector<std::pair<JobId, WaitReason>> take_reasons() { return std::move(reasons_); }

  // Jobs whose status may differ from what was last written, in the order of their keys.
  std::vector<JobId> jobs_to_close();
  // Waits now, but a discarded statement of this session had a place for it.
  bool was_placed_and_discarded(const Task& task) const {
    return task.status == TaskStatus::kPending && task.last_cycle == in_.cycle && is_allocated_like(task.last_status);
  }

  const Plan& plan() const { return plan_; }
  // Ends the session: statuses, conditions, events; then what was not committed is undone.
  Plan close(const Stopwatch& stopwatch = {});
  // Rollbacks that did not leave everything as it was, where that is proved.
  std::vector<std::string> take_bad_rollbacks() { return std::move(bad_rollbacks_); }
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
  enum class Kind : std::uint8_t { kAllocate, kPipeline, kEvict };
  struct Operation {
    Kind kind;
    bool committed = false;
    TaskStatus old_status;
    TaskId task;
    NodeId node;  // of the operation
    NodeId old_node;
    JobId beneficiary;
    std::uint32_t action = 0;  // index into actions_
  };

  bool is_held_since(Mark mark) const;
  bool place(Kind kind, TaskId task, NodeId node, bool eviction_occurred);
  void undo(const Operation& operation);
  void take_back(TaskId task, Kind kind);
  void plan_bind(TaskId task);
  void plan_eviction(const Operation& operation);
  bool is_quiet(const Job& job) const;
  bool is_in_session(const Job& job) const;
  void refresh_reasons();
  void close_job(JobId job, GroupStatus before);
  void close_queues();
  void close_shard();
  void close_tasks(const Job& job);
  void compute_phase(Job& job);
  void report_tasks();
  void undo_uncommitted();
  void note_state();
  void compare_state(std::string_view what);
  void settle_wishes(JobTopology& topology, const DomainTree& tree) const;
  void settle_allocated(Job& job, const DomainTree& tree);

  SessionInput in_;
  std::vector<Operation> journal_;
  // Where rollbacks are proved: the state_hash() before each operation of the journal; unset where it is not known.
  std::vector<std::optional<std::uint64_t>> states_;
  std::vector<std::string> bad_rollbacks_;
  std::vector<std::string> actions_;
  std::unordered_map<std::uint32_t, JobTrouble> troubles_;
  std::unordered_map<std::uint32_t, GroupStatus> old_status_;
  std::unordered_map<std::uint32_t, bool> unschedulable_now_;
  std::vector<bool> changed_before_;                                       // by job: one of the input's changed jobs
  std::map<std::pair<std::uint32_t, std::uint32_t>, DomainId> nominated_;  // by job and part
  std::set<std::uint32_t> ignored_nominations_;                            // tasks
  std::set<std::uint32_t> overused_;                                       // queues that allocate passed over
  std::unordered_map<std::uint32_t, std::string> refusals_;                // admission's, by job
  struct Refused {
    JobId job;
    std::string message;
    bool tell;
  };
  bool rehearses_ = false;
  std::vector<Refused> rehearsed_;
  std::vector<std::pair<JobId, WaitReason>> reasons_;
  std::set<std::uint32_t> ungated_;  // tasks whose queue gate is removed
  std::map<std::string, TaskReport> task_reports_;
  std::map<std::string, std::string> pipelined_;
  Plan plan_;
  std::vector<PluginTime> closing_times_;
  PreemptionCounts preemption_;
  bool keep_tasks_ = false;
};

}  // namespace scheduler

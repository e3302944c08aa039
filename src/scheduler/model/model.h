// The scheduler's model of the cluster. One live model, which events change between cycles and decisions change within
// them; nothing is copied.
//
// Owned by the scheduler's loop. Every change of a task goes through move(), which keeps the sums of its node, job and
// queue; amounts are integers, so moving back restores every column exactly.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/core/feature_gates.h"
#include "scheduler/model/core/group_preferences.h"
#include "scheduler/model/core/id_table.h"
#include "scheduler/model/core/job.h"
#include "scheduler/model/core/quotas.h"
#include "scheduler/model/core/sorted_jobs.h"
#include "scheduler/model/devices/device_annotations.h"
#include "scheduler/model/devices/dra.h"
#include "scheduler/model/external_answers.h"
#include "scheduler/model/nodes/node_shards.h"
#include "scheduler/model/nodes/node_table.h"
#include "scheduler/model/nodes/node_usage.h"
#include "scheduler/model/pods/affinity.h"
#include "scheduler/model/pods/disruption_budgets.h"
#include "scheduler/model/pods/pod_details.h"
#include "scheduler/model/pods/shape_table.h"
#include "scheduler/model/pods/workloads.h"
#include "scheduler/model/storage/volumes.h"
#include "scheduler/model/topology/hyper_nodes.h"
#include "scheduler/model/topology/numa.h"

namespace scheduler {

// The facts of a pod event that the model keeps.
struct TaskFacts {
  std::string group;  // "ns/podgroup", empty when the pod names none
  std::string role;
  Task task;  // priority, created_ns, flags, status
  TaskText text;
  std::string node;  // empty: nowhere
  ShapeId shape;
  LabelSetId labels;
};

class Model {
 public:
  Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  Symbols symbols;
  SharedTexts shared_texts;
  SharedValues<GroupExtras> shared_extras;
  Dimensions dimensions;
  NodeTable nodes{symbols};
  HyperNodes hyper_nodes{symbols, nodes};
  PodAffinity pods{symbols};
  Volumes volumes;
  // Facts that single plugins read besides.
  FeatureGates gates;
  DisruptionBudgets budgets;
  Quotas quotas;
  PodDetails details;
  GroupPreferences group_preferences;
  NodeUsages usage;
  NodeShards shards;
  ExternalAnswers outside;
  // When plugins last did what they do only now and then; outlives configurations.
  std::map<std::string, base::Time, std::less<>> last_runs;
  Workloads workloads;
  ResourceClaims claims;
  DeviceAnnotations devices;
  NumaNodes numa;

  // A plugin keeps count of this resource itself: from now on neither nodes nor pods, groups and queues have any of it.
  void ignore_resource(std::string_view name);

  // Shapes.
  const Shape& shape(ShapeId id) const { return shapes_[id]; }
  const Shape& shape_of(const Task& task) const { return shapes_[task.shape]; }
  // Holds until the next call, or as long as a task has it.
  ShapeId shape_for(const api::Json& pod);
  // The text that shape_key() made of each shape; empty for ids that mean none now.
  std::vector<std::string_view> shape_texts() const { return shapes_.keys(); }
  std::size_t shape_count() const { return shapes_.size(); }
  // Grows when ids of shapes, label sets or matchers may come to mean others: what is kept by them holds no longer.
  std::uint64_t id_returns() const {
    return std::uint64_t{shapes_.returns()} + pods.label_sets().returns() + pods.matcher_returns();
  }

  // Tasks. Ids are reused after removal.
  const Task& task(TaskId id) const { return tasks_[id.index]; }
  const TaskText& text(TaskId id) const { return texts_[id.index]; }
  Task& edit_task(TaskId id) { return tasks_[id.index]; }  // fields that no sum reads
  TaskText& edit_text(TaskId id) { return texts_[id.index]; }
  TaskId find_task(std::string_view key) const;
  std::string task_key(TaskId id) const;
  std::size_t task_capacity() const { return tasks_.size(); }
  std::size_t task_count() const { return task_by_key_.size(); }
  TaskId add_task(TaskFacts facts);
  // Takes over what may change while the pod stays the same; false when the task must be made anew.
  bool update_task(TaskId id, TaskFacts& facts);
  void remove_task(TaskId id);
  // A pending task's last gate is gone.
  void ungate(TaskId id);
  // The only way a task changes status or node.
  void move(TaskId id, TaskStatus status, NodeId node);

  // Jobs.
  const Job& job(JobId id) const { return jobs_[id.index]; }
  // For fields that no sum reads; call mark_changed() afterwards.
  Job& edit_job(JobId id) { return jobs_[id.index]; }
  JobId find_job(std::string_view key) const;
  JobId find_or_add_job(std::string_view key);
  void set_job_queue(JobId id, std::string_view queue_name);
  // A job without a group counts in the queue that its pods name; where they differ, in the first by name.
  void name_queue(TaskId id, std::string_view queue_name);
  void set_role_minimums(JobId id, const std::vector<std::pair<std::string, std::int32_t>>& minimums);
  // Null: the job asks for none. The domains of its parts are kept for parts of the same name.
  void set_topology(JobId id, std::unique_ptr<JobTopology> topology);
  // Position in JobTopology::sub_jobs, of a task whose job has a topology.
  std::uint32_t sub_job_of(TaskId id) const { return sub_job_of_[id.index]; }
  // Brings the priorities of the job's parts up to date.
  void settle_sub_jobs(JobId id);
  // Jobs with a topology, by their ids.
  const std::set<JobId>& topology_jobs() const { return topology_jobs_; }
  void remove_job_if_empty(JobId id);
  void mark_changed(JobId id);
  std::size_t job_capacity() const { return jobs_.size(); }
  // Hints for loops over thousands of jobs, which otherwise wait for memory: what is read first of a job that comes
  // soon, then of its first pods, then their names. Each reads what the hint before it asked for.
  void prefetch_lists(JobId id) const;
  void prefetch_pods(JobId id) const;
  void prefetch_pod_names(JobId id) const;
  // By their keys.
  template <class Visit>
  void for_each_job(Visit&& visit) const {
    for (const JobId id : sorted_jobs_.of(jobs_)) visit(jobs_[id.index]);
  }
  // By their ids, which is not an order that means anything.
  template <class Visit>
  void for_each_job_unsorted(Visit&& visit) const {
    for (const Job& job : jobs_) {
      if (job.in_use) visit(job);
    }
  }
  // Jobs that may need a decision: phase Pending, or with tasks to place. In the order of their keys.
  const std::vector<JobId>& open_jobs();
  // Jobs changed since the last call, each once.
  std::vector<JobId> take_changed_jobs();
  const std::vector<JobId>& peek_changed_jobs() const { return changed_jobs_; }

  // Queues. A queue that only PodGroups name exists here with in_use false.
  const Queue& queue(QueueId id) const { return queues_[id.index]; }
  Queue& edit_queue(QueueId id) { return queues_[id.index]; }
  std::uint32_t queue_changes = 0;  // grows with every change of what queues say
  std::size_t queue_count() const { return queues_.size(); }
  QueueId find_queue(std::string_view name) const;  // of an existing Queue object
  QueueId find_or_add_queue(std::string_view name);

  // Nodes whose columns changed, oldest first; readers remember their position. Trimmed by trim_touched().
  const std::vector<std::uint32_t>& touched() const { return touched_; }
  std::uint64_t touched_epoch() const { return touched_epoch_; }  // grows when positions become invalid
  void trim_touched();
  void node_facts_changed(NodeId node) { touch(node); }
  // Counts placed pods for matchers made since the last call.
  void settle_matchers();
  // Re-counts the pods of a node in affinity counts around a change of its labels is not needed: counts are per node.

  std::map<std::string, std::int32_t, std::less<>> priority_classes;
  std::optional<std::int32_t> default_priority;
  void refresh_priority(JobId id);
  void refresh_all_priorities();

  std::uint64_t hash() const;  // of every column and sum

 private:
  void touch(NodeId node) { touched_.push_back(node.index); }
  void count_in_job(const Task& task, TaskStatus status, std::int32_t sign);
  void sum_in_job(const Task& task, std::uint8_t effects, std::int64_t sign);
  void see(const Task& task, NodeId node, TaskStatus status, std::int64_t sign);
  std::uint32_t role_for(Job& job, std::string_view role);
  void sum_job_in_queue(const Job& job, std::int64_t sign);
  void join_sub_job(const Task& task);

  ShapeTable shapes_;
  std::string scratch_;
  PartTexts part_texts_;
  std::vector<Task> tasks_;
  std::vector<TaskText> texts_;
  std::vector<std::uint32_t> free_tasks_;
  IdTable<TaskId> task_by_key_;
  std::vector<Job> jobs_;
  std::vector<std::uint32_t> free_jobs_;
  IdTable<JobId> job_by_key_;
  mutable SortedJobs sorted_jobs_;
  std::vector<JobId> changed_jobs_;
  std::vector<JobId> open_jobs_;
  std::size_t open_jobs_sorted_ = 0;  // so many of them stand in the order of their keys, before the rest
  std::set<JobId> topology_jobs_;
  std::vector<std::uint32_t> sub_job_of_;  // by task; meaningful where the job has a topology
  std::vector<Queue> queues_;
  std::map<std::string, QueueId, std::less<>> queue_by_name_;
  std::vector<std::uint32_t> touched_;
  std::uint64_t touched_epoch_ = 1;
};

}  // namespace scheduler

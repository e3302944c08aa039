// Task topology: roles of a group that belong together get the same nodes, roles that hinder each other different ones.
#include <memory>
#include <unordered_map>

#include "scheduler/framework/plugin.h"
#include "scheduler/plugins/topology/task_buckets.h"
#include "scheduler/search/node_evaluators.h"
#include "scheduler/session/session.h"

namespace scheduler {
namespace {

using BucketsByJob = std::unordered_map<std::uint32_t, TaskBuckets>;

// Follows the buckets, which every placement of the group changes on all nodes.
class BucketScorer final : public NodeScorer {
 public:
  BucketScorer(const Model& model, BucketsByJob& buckets, TaskId task, double weight)
      : model_(model), buckets_(buckets), task_(task), weight_(weight) {}
  Reach reach() const override { return Reach::kCluster; }
  bool lasts() const override { return false; }
  double score(std::uint32_t n) override {
    const Task& task = model_.task(task_);
    const auto found = task.job.is_set() ? buckets_.find(task.job.index) : buckets_.end();
    if (found == buckets_.end() || found->second.largest() == 0) return 0;
    return found->second.score(task, NodeId{n}) * weight_ * 100 / found->second.largest();
  }

 private:
  const Model& model_;
  BucketsByJob& buckets_;
  TaskId task_;
  double weight_;
};

class TaskTopology final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    model_ = &setup.model();
    const auto weight = setup.arguments().get_weight("task-topology.weight", 1);
    setup.on<TaskOrder>([this](const Task& a, const Task& b) { return order(a, b); });
    // Each task of such a group is a class of its own.
    setup.on<ClassKey>([this](const Task& task) -> std::uint32_t {
      return task.job.is_set() && buckets_.contains(task.job.index) ? task.id.index + 1 : 0;
    });
    setup.on<NodeOrder>([this, weight](const Task& task) -> std::unique_ptr<NodeScorer> {
      if (find(task) == nullptr) return nullptr;
      return std::make_unique<BucketScorer>(*model_, buckets_, task.id, weight);
    });
    setup.on<TaskPlaced>([this](const Task& task) -> Refusal {
      if (TaskBuckets* buckets = find(task)) buckets->placed(task);
      return {};
    });
    setup.on<TaskRemoved>([this](const Task& task) {
      if (TaskBuckets* buckets = find(task)) buckets->removed(task);
    });
  }

  // Made anew each cycle, for waiting groups with these annotations only.
  void open(Session& session) override {
    buckets_.clear();
    if (!model_->group_preferences.any()) return;
    for (const JobId id : session.jobs_to_look_at()) {
      const Job& job = model_->job(id);
      const TaskTopologyPreference* preference = model_->group_preferences.topology(id);
      if (preference == nullptr || job.count(TaskStatus::kPending) == 0) continue;
      if (auto topology = role_topology_from(*preference, job))
        buckets_.emplace(id.index, TaskBuckets(*model_, job, *std::move(topology)));
    }
  }

 private:
  TaskBuckets* find(const Task& task) {
    const auto found = task.job.is_set() ? buckets_.find(task.job.index) : buckets_.end();
    return found == buckets_.end() ? nullptr : &found->second;
  }

  int order(const Task& a, const Task& b) {
    const TaskBuckets* buckets = find(a);
    if (buckets == nullptr || a.job != b.job) return 0;
    const auto left = buckets->bucket_of(a.id), right = buckets->bucket_of(b.id);
    if (!left || !right) return left ? -1 : right ? 1 : 0;
    const std::size_t left_waits = (*buckets)[*left].waiting.size(), right_waits = (*buckets)[*right].waiting.size();
    if (left_waits != right_waits) return left_waits > right_waits ? -1 : 1;
    if (*left != *right) return *left < *right ? -1 : 1;
    const RoleTopology& roles = buckets->topology();
    if (roles.order[a.role] != roles.order[b.role]) return roles.order[a.role] > roles.order[b.role] ? -1 : 1;
    if (roles.priority[a.role] != roles.priority[b.role])
      return roles.priority[a.role] > roles.priority[b.role] ? -1 : 1;
    return 0;
  }

  Model* model_ = nullptr;
  BucketsByJob buckets_;
};

}  // namespace

std::unique_ptr<Plugin> make_task_topology() { return std::make_unique<TaskTopology>(); }

}  // namespace scheduler

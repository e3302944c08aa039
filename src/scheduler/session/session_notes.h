// The findings that one cycle collects: nominations, figures of its evictions, and the report at its close.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/framework/plugin.h"
#include "scheduler/model/model.h"

namespace scheduler {

// The domains in which evictions of this session made room, and nominations of nodes that turned out useless.
class Nominations {
 public:
  // For a part of a job; unset where none was nominated.
  DomainId domain(JobId job, std::uint32_t part) const {
    const auto found = domains_.find({job.index, part});
    return found == domains_.end() ? DomainId{} : found->second;
  }
  void nominate(JobId job, std::uint32_t part, DomainId domain) {
    if (domain.is_set())
      domains_[{job.index, part}] = domain;
    else
      domains_.erase({job.index, part});
  }
  // For the rest of the session the task has no nominated node.
  void ignore(TaskId task) { ignored_.insert(task.index); }
  bool ignores(TaskId task) const { return ignored_.contains(task.index); }

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, DomainId> domains_;  // by job and part
  std::set<std::uint32_t> ignored_;                                      // tasks
};

// How often preempt opened a node, and how many victims it looked at there last.
struct PreemptionCounts {
  std::int64_t attempts = 0;
  std::optional<std::int64_t> last_victims;
};

struct EvictionFigures {
  PreemptionCounts preemption;
  std::size_t nodes_left_out = 0;      // by searches for victims, as their budget was spent
  std::vector<std::string> bad_plans;  // plans that are not what they should be, where that is proved

  void record_victims(std::size_t count) { preemption.last_victims = static_cast<std::int64_t>(count); }
  void record_attempt() { ++preemption.attempts; }
  void record_nodes_left_out(std::size_t nodes) { nodes_left_out += nodes; }
  void record_bad_plan(std::string what) { bad_plans.push_back(std::move(what)); }
};

// The end of a pod that was decided by itself.
struct SinglePodEnd {
  TaskId task;
  bool has_node = false;
};

struct TaskReport {
  TaskStatus status;
  std::string node;
};

struct SessionReport {
  bool keeps_tasks = false;
  std::map<std::string, TaskReport> tasks;       // as they were before the close undid anything, where they are kept
  std::map<std::string, std::string> pipelined;  // nodes by task
  std::vector<PluginTime> closing_times;
  std::vector<SinglePodEnd> single_pods;
};

}  // namespace scheduler

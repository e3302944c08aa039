// Rescheduling: pods leave crowded nodes where others stand nearly empty. Used by the action shuffle.
//
// COMPAT(rescheduling-proves): a pod moves only where the scheduler would place it on a node that is not crowded, by
// all filters and the limits of its queue, beside the pods that move with it. COMPAT(rescheduling-period): the period
// that is read by default, 5m, is not the one that is collected, 10m; then every node counts as idle and nobody moves.
#include <algorithm>
#include <map>

#include "base/format.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/model/whole_groups.h"
#include "scheduler/session/session.h"

namespace scheduler {
namespace {

// In percent.
struct Load {
  double cpu = 100;
  double memory = 100;
};

struct LowUtilisation {
  Load low;     // a node below both takes pods
  Load target;  // a node above either gives pods away
};

struct MeasuredNode {
  NodeId node;
  Load load;
};

class Rescheduling final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    model_ = &setup.model();
    setup.depends_on_time();
    const Arguments& arguments = setup.arguments();
    const std::string interval = arguments.get_string("interval", "5m");
    if (const auto span = base::parse_go_duration(interval); span && span->ns > 0)
      interval_ = *span;
    else
      arguments.warn(base::format("interval: {} is not a positive duration; 5m is used", interval));
    period_ = arguments.get_string("metricsPeriod", "5m");
    const api::Json strategies = arguments.get_list("strategies");
    for (const api::Json& one : strategies.items()) read_strategy(arguments, one);
    setup.on<VictimTasks>([this](const std::vector<TaskId>& tasks) { return victims(tasks); });
  }

  void open(Session& session) override {
    session_ = &session;
    now_ = session.input().now;
    model_->last_runs.try_emplace("rescheduling", now_);  // the first interval begins with the process
  }

 private:
  void read_strategy(const Arguments& arguments, const api::Json& one) {
    if (one["name"].as_string() != "lowNodeUtilization") {
      arguments.warn(base::format("strategies: {} is unknown and is ignored",
                                  one["name"].is_string() ? one["name"].str() : one.dump()));
      return;
    }
    const api::Json& params = one["parameters"].is_null() ? one["params"] : one["parameters"];
    strategies_.push_back(
        {load_from(arguments, params, "thresholds"), load_from(arguments, params, "targetThresholds")});
  }

  static Load load_from(const Arguments& arguments, const api::Json& params, std::string_view key) {
    Load out;
    for (const auto& member : params[key].members()) {
      double* slot = member.name() == "cpu" ? &out.cpu : member.name() == "memory" ? &out.memory : nullptr;
      if (slot == nullptr) continue;  // pods are not measured
      if (member.value.is_number())
        *slot = member.value.as_double();
      else
        arguments.warn(base::format("strategies: {}.{} is not a number; 100 is used", key, member.name()));
    }
    return out;
  }

  std::vector<TaskId> victims(const std::vector<TaskId>& running) {
    base::Time& last_run = model_->last_runs["rescheduling"];
    last_run = std::min(last_run, now_);  // the clock was set back
    if (now_ < last_run + interval_) return {};
    last_run = now_;
    std::vector<bool> may_go(model_->task_capacity()), goes(model_->task_capacity());
    for (const TaskId id : running) may_go[id.index] = true;
    std::vector<TaskId> out;
    promised_.clear();
    moves_unplain_ = false;
    const Journal::Mark mark = session_->journal().mark();
    for (const LowUtilisation& strategy : strategies_) {
      for (const TaskId id : victims_of(strategy, may_go)) {
        if (!goes[id.index]) out.push_back(id);
        goes[id.index] = true;
      }
    }
    session_->journal().rollback(mark);
    return out;
  }

  bool has_room(const Request& request, NodeId node) const {
    const auto promised = promised_.find(node.index);
    return std::all_of(request.parts.begin(), request.parts.end(), [&](const Part& part) {
      const std::int64_t given = promised == promised_.end() ? 0 : promised->second.get(part.dim);
      return part.amount <= model_->nodes.future_idle(part.dim, node.index) - given;
    });
  }

  // The node on which the pod would be placed again; unset: none takes it.
  NodeId place_of(const Task& task) {
    if (!session_->ask<Allocatable>(model_->queue(model_->job(task.job).queue), task)) return {};
    if (session_->ask<PrePredicate>(task)) return {};
    const Request& request = model_->shape_of(task).request;
    NodeSet nodes = session_->search().candidates(task, Strictness::kPlace, model_->nodes.known(), nullptr);
    NodeSet roomy = nodes;
    nodes.for_each([&](std::uint32_t n) {
      if (!has_room(request, NodeId{n})) roomy.remove(n);
    });
    if (roomy.empty()) return {};
    return session_->search().ranked(task, roomy).front();
  }

  // Takes the pod from its node, with all that go with it, until the end of the question, where it would come to one
  // that is not crowded.
  bool moves(TaskId id, const std::vector<TaskId>& unit, const NodeSet& crowded) {
    const Task& task = model_->task(id);
    if (task.status != TaskStatus::kRunning) return true;  // another strategy has moved it
    if (unit.size() > 1) return moves_whole(unit, crowded);
    if (!task.job.is_set() || !model_->job(task.job).queue.is_set()) return false;
    const Shape& shape = model_->shape_of(task);
    const bool is_plain = shape.is_plain() && shape.claims.empty() && shape.asks.empty();
    if (!is_plain && moves_unplain_) return false;  // what it looks at moves already
    const Journal::Mark mark = session_->journal().mark();
    session_->journal().evict(id, "shuffle", {});
    const NodeId to = place_of(task);
    if (!to.is_set() || to == task.node || crowded.has(to.index)) {
      session_->journal().rollback(mark);
      return false;
    }
    promised_[to.index].add(shape.request);
    moves_unplain_ |= !is_plain;
    return true;
  }

  // Pods that read more than amounts look at each other: such a group stays.
  bool moves_whole(const std::vector<TaskId>& unit, const NodeSet& crowded) {
    const bool are_plain = std::all_of(unit.begin(), unit.end(), [this](TaskId id) {
      const Shape& shape = model_->shape_of(model_->task(id));
      return shape.is_plain() && shape.claims.empty() && shape.asks.empty();
    });
    if (!are_plain || !model_->job(model_->task(unit.front()).job).queue.is_set()) return false;
    const Journal::Mark mark = session_->journal().mark();
    const std::map<std::uint32_t, Request> before = promised_;
    for (const TaskId id : unit) session_->journal().evict(id, "shuffle", {});
    const bool all_move = std::all_of(unit.begin(), unit.end(), [&](TaskId id) {
      const NodeId to = place_of(model_->task(id));
      if (!to.is_set() || crowded.has(to.index)) return false;
      promised_[to.index].add(model_->shape_of(model_->task(id)).request);
      return true;
    });
    if (all_move) return true;
    promised_ = before;
    session_->journal().rollback(mark);
    return false;
  }

  Load load_of(NodeId node) const {
    const NodeUsage* usage = model_->usage.find(model_->nodes[node].name, period_);
    return usage == nullptr ? Load{0, 0} : Load{usage->cpu, usage->memory};
  }

  std::vector<TaskId> victims_of(const LowUtilisation& strategy, const std::vector<bool>& may_go) {
    std::vector<MeasuredNode> high;
    double cpu_left = 0, memory_left = 0;
    bool any_low = false;
    model_->nodes.known().for_each([&](std::uint32_t n) {
      const Load load = load_of(NodeId{n});
      const bool low =
          !model_->nodes[NodeId{n}].unschedulable && load.cpu < strategy.low.cpu && load.memory < strategy.low.memory;
      if (low) {
        any_low = true;
        cpu_left += (strategy.target.cpu - load.cpu) / 100 * static_cast<double>(model_->nodes.allocatable(kCpu)[n]);
        memory_left +=
            (strategy.target.memory - load.memory) / 100 * static_cast<double>(model_->nodes.allocatable(kMemory)[n]);
      } else if (load.cpu > strategy.target.cpu || load.memory > strategy.target.memory) {
        high.push_back({NodeId{n}, load});
      }
    });
    if (!any_low || high.empty()) return {};
    std::stable_sort(high.begin(), high.end(), [](const MeasuredNode& a, const MeasuredNode& b) {
      return a.load.cpu + a.load.memory > b.load.cpu + b.load.memory;
    });
    std::vector<TaskId> out;
    NodeSet crowded = model_->nodes.known();
    crowded.clear();
    for (const MeasuredNode& one : high) crowded.add(one.node.index);
    for (const MeasuredNode& one : high) relieve(one, strategy.target, may_go, crowded, cpu_left, memory_left, out);
    return out;
  }

  // Takes pods from the node, the least important first, until it is below the target or the others are full.
  void relieve(const MeasuredNode& one, const Load& target, const std::vector<bool>& may_go, const NodeSet& crowded,
               double& cpu_left, double& memory_left, std::vector<TaskId>& out) {
    std::vector<TaskId> pods = model_->nodes[one.node].tasks;
    std::sort(pods.begin(), pods.end(), [&](TaskId a, TaskId b) {
      const Task &left = model_->task(a), &right = model_->task(b);
      if (left.pod_priority != right.pod_priority) return left.pod_priority < right.pod_priority;
      const QosClass left_qos = model_->details.limits(a).qos, right_qos = model_->details.limits(b).qos;
      if (left_qos != right_qos) return left_qos < right_qos;
      return model_->text(a).uid < model_->text(b).uid;
    });
    const Request& capacity = model_->nodes[one.node].capacity;
    const auto cpu = static_cast<double>(capacity.get(kCpu)), memory = static_cast<double>(capacity.get(kMemory));
    Load load = one.load;
    for (const TaskId id : pods) {
      if ((load.cpu < target.cpu && load.memory < target.memory) || cpu_left == 0 || memory_left == 0) return;
      const std::vector<TaskId> unit = with_all_gone(*model_, {id});
      const bool all_may_go = std::all_of(unit.begin(), unit.end(), [&](TaskId one) { return may_go[one.index]; });
      if (!may_go[id.index] || !all_may_go || !moves(id, unit, crowded)) continue;
      out.push_back(id);
      out.insert(out.end(), unit.begin(), unit.end());
      const Request& request = model_->shape_of(model_->task(id)).request;
      const auto wants_cpu = static_cast<double>(request.get(kCpu)),
                 wants_memory = static_cast<double>(request.get(kMemory));
      cpu_left -= wants_cpu;
      memory_left -= wants_memory;
      if (cpu > 0) load.cpu -= wants_cpu / cpu * 100;
      if (memory > 0) load.memory -= wants_memory / memory * 100;
    }
  }

  Model* model_ = nullptr;
  Session* session_ = nullptr;
  std::map<std::uint32_t, Request> promised_;  // by node: to pods that move
  bool moves_unplain_ = false;                 // one of them reads more than its node's amounts
  base::Duration interval_ = base::minutes(5);
  std::string period_;
  std::vector<LowUtilisation> strategies_;
  base::Time now_;
};

}  // namespace

std::unique_ptr<Plugin> make_rescheduling() { return std::make_unique<Rescheduling>(); }

}  // namespace scheduler

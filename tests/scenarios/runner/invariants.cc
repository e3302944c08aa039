// What must hold after every cycle, whatever was decided.
#include "invariants.h"

#include <algorithm>
#include <map>

#include "base/format.h"

namespace scenario {
namespace {

using namespace scheduler;

bool has_plugin(const Config& config, std::string_view name) {
  for (const auto& tier : config.tiers) {
    for (const PluginEntry& plugin : tier) {
      if (plugin.name == name && plugin.switches.empty()) return true;
    }
  }
  return false;
}

// Dimensions whose capability the queue is above, counting what is promised nowhere.
template <class Visit>
void for_each_excess(const Model& model, Visit&& visit) {
  for (std::uint32_t q = 0; q < model.queue_count(); ++q) {
    const Queue& queue = model.queue(QueueId{q});
    if (!queue.in_use || !queue.has_capability) continue;
    for (Dim d = 0; d < queue.allocated.size(); ++d) {
      const bool is_limited = d == kCpu || d == kMemory ? queue.capability.get(d) > 0 : queue.capability.has(d);
      // A guarantee above the capability is a contradiction that admission refuses; plugins then grant the guarantee.
      const double limit = std::max(queue.capability.get(d), queue.guarantee.get(d));
      if (is_limited && static_cast<double>(queue.allocated.get(d)) > limit + kResourceEpsilon) visit(queue, d);
    }
  }
}

template <class Visit>
void for_each_full(const Model& model, Visit&& visit) {
  for (std::uint32_t n = 0; n < model.nodes.size(); ++n) {
    if (!model.nodes.known().has(n)) continue;
    for (Dim d = 0; d < model.dimensions.size(); ++d) {
      if (d == kPods) continue;  // a plugin's business
      const Column& idle = model.nodes.idle(d);
      if (n < idle.size() && idle[n] < 0) visit(NodeId{n}, d);
    }
  }
}

std::string excess_name(const Model& model, const Queue& queue, Dim d) {
  return queue.name + " " + model.dimensions.name(d);
}

std::string full_name(const Model& model, NodeId node, Dim d) {
  return model.nodes[node].name + " " + model.dimensions.name(d);
}

void check_gangs(const Model& model, const CycleReport& report, std::vector<std::string>& out) {
  std::set<std::string> robbed;
  for (const PlannedEviction& one : report.plan.evictions) robbed.insert(one.group);
  for (const PlannedBind& bind : report.plan.binds) {
    const Task& task = model.task(model.find_task(bind.ns + "/" + bind.pod));
    const Job& job = model.job(task.job);
    if (!job.is_ready() && !robbed.contains(job.key.str()))
      out.push_back(base::format("gang {} starts with {} of {}", job.key, job.ready_count(), job.min_available));
  }
}

// Backfill takes back what pods without requests were promised and places them anew, others of them perhaps first.
bool may_be_displaced(const Model& model, const Config& config, const std::string& group) {
  const JobId id = model.find_job(group);
  return config.has_action("backfill") && id.is_set() && model.job(id).pending_best_effort > 0;
}

// Who gains from an eviction holds or was promised a place.
void check_evictions(const Model& model, const Config& config, const CycleReport& report,
                     std::vector<std::string>& out) {
  std::set<std::string> placed;
  for (const auto& [pod, node] : report.pipelined) {
    const TaskId task = model.find_task(pod);
    if (task.is_set()) placed.insert(model.job(model.task(task).job).key.str());
  }
  for (const auto& [pod, task] : report.tasks) {
    const TaskId id = model.find_task(pod);
    if (id.is_set() && model.task(id).job.is_set() &&
        (task.status == TaskStatus::kPipelined || task.status == TaskStatus::kBinding))
      placed.insert(model.job(model.task(id).job).key.str());
  }
  for (const PlannedEviction& one : report.plan.evictions) {
    if (one.action != "shuffle" && !placed.contains(one.for_group) && !may_be_displaced(model, config, one.for_group))
      out.push_back(base::format("eviction of {} by {} helps nobody (for {})", one.pod, one.action, one.for_group));
  }
}

void check_queues(const Model& model, const Config& config, const Before& before, const CycleReport& report,
                  std::vector<std::string>& out) {
  if (!has_plugin(config, "capacity") && !has_plugin(config, "proportion")) return;
  // Backfill asks no queue: what it places wants nothing.
  std::map<std::string, std::set<Dim>> wanted;
  for (const PlannedBind& bind : report.plan.binds) {
    const Task& task = model.task(model.find_task(bind.ns + "/" + bind.pod));
    const Job& job = model.job(task.job);
    for (const Part& part : model.shape_of(task).request.parts) {
      if (part.amount > 0 && !task.best_effort) wanted[job.queue_name.str()].insert(part.dim);
    }
  }
  for_each_excess(model, [&](const Queue& queue, Dim d) {
    const std::string name = excess_name(model, queue, d);
    if (d != kPods && wanted[queue.name].contains(d) && !before.full_queues.contains(name))
      out.push_back("queue above its capability: " + name);
  });
}

struct Added {
  std::map<std::pair<std::uint32_t, Dim>, std::int64_t> used, releasing, pipelined;    // of nodes
  std::map<std::pair<std::uint32_t, Dim>, std::int64_t> allocated, promised, pending;  // of jobs
};

Added add_up(const Model& model) {
  Added out;
  for (std::uint32_t t = 0; t < model.task_capacity(); ++t) {
    const Task& task = model.task(TaskId{t});
    if (!task.in_use) continue;
    const std::uint8_t effects = effects_of(task.status);
    for (const Part& part : model.shape_of(task).request.parts) {
      if (task.node.is_set()) {
        const std::pair at{task.node.index, part.dim};
        if (effects & kEffectUsed) out.used[at] += part.amount;
        if (effects & kEffectReleasing) out.releasing[at] += part.amount;
        if (effects & kEffectPipelined) out.pipelined[at] += part.amount;
      }
      if (!task.job.is_set()) continue;
      const std::pair at{task.job.index, part.dim};
      if (effects & kEffectAllocated) out.allocated[at] += part.amount;
      if (effects & kEffectPipelined) out.promised[at] += part.amount;
      if (effects & kEffectPending) out.pending[at] += part.amount;
    }
  }
  return out;
}

}  // namespace

Before look_before(const Model& model) {
  Before out;
  for_each_full(model, [&](NodeId node, Dim d) { out.full_nodes.insert(full_name(model, node, d)); });
  for_each_excess(model, [&](const Queue& queue, Dim d) { out.full_queues.insert(excess_name(model, queue, d)); });
  out.hash = model.hash();
  return out;
}

std::vector<std::string> broken_invariants(const Model& model, const Config& config, const Before& before,
                                           const CycleReport& report) {
  std::vector<std::string> out;
  for_each_full(model, [&](NodeId node, Dim d) {
    if (!before.full_nodes.contains(full_name(model, node, d)))
      out.push_back("node over its allocatable: " + full_name(model, node, d));
  });
  if (has_plugin(config, "gang")) check_gangs(model, report, out);
  check_queues(model, config, before, report, out);
  check_evictions(model, config, report, out);
  // What was tried and rolled back has left no trace.
  if (report.plan.binds.empty() && report.plan.evictions.empty() && model.hash() != before.hash)
    out.push_back("rolled back, and yet the columns differ");
  // Nothing that was neither planned nor rolled back stays.
  for (std::uint32_t t = 0; t < model.task_capacity(); ++t) {
    const Task& task = model.task(TaskId{t});
    if (task.in_use && (task.status == TaskStatus::kAllocated || task.status == TaskStatus::kPipelined))
      out.push_back("left behind: " + model.task_key(TaskId{t}));
  }
  return out;
}

std::vector<std::string> wrong_sums(const Model& model) {
  std::vector<std::string> out;
  Added added = add_up(model);
  const auto compare = [&](const char* what, std::string_view of, Dim d, std::int64_t kept, std::int64_t right) {
    if (kept != right)
      out.push_back(base::format("sum: {} of {} of {} is {}, not {}", model.dimensions.name(d), what, of, kept, right));
  };
  std::map<std::pair<std::uint32_t, Dim>, std::int64_t> in_queues;
  for (Dim d = 0; d < model.dimensions.size(); ++d) {
    for (std::uint32_t n = 0; n < model.nodes.size(); ++n) {
      const std::string& name = model.nodes[NodeId{n}].name;
      if (name.empty() || n >= model.nodes.used(d).size()) continue;
      compare("used", name, d, model.nodes.used(d)[n], added.used[{n, d}]);
      compare("releasing", name, d, model.nodes.releasing(d)[n], added.releasing[{n, d}]);
      compare("pipelined", name, d, model.nodes.pipelined(d)[n], added.pipelined[{n, d}]);
      compare("idle", name, d, model.nodes.idle(d)[n], model.nodes.allocatable(d)[n] - added.used[{n, d}]);
    }
    model.for_each_job([&](const Job& job) {
      compare("allocated", job.key, d, job.allocated.get(d), added.allocated[{job.id.index, d}]);
      compare("pipelined", job.key, d, job.pipelined.get(d), added.promised[{job.id.index, d}]);
      compare("pending", job.key, d, job.pending.get(d), added.pending[{job.id.index, d}]);
      if (job.queue.is_set()) in_queues[{job.queue.index, d}] += added.allocated[{job.id.index, d}];
    });
    for (std::uint32_t q = 0; q < model.queue_count(); ++q)
      compare("allocated", "queue " + model.queue(QueueId{q}).name, d, model.queue(QueueId{q}).allocated.get(d),
              in_queues[{q, d}]);
  }
  return out;
}

}  // namespace scenario

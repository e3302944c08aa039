// Facts that must hold after every cycle, whatever was decided.
#include "scheduler/session/invariants.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/format.h"
#include "scheduler/session/state_hash.h"

namespace scheduler {
namespace {

// The plugin is on with all it does: not one of its switches is off.
const PluginEntry* find_whole(const Config& config, std::string_view name) {
  for (const auto& tier : config.tiers) {
    for (const PluginEntry& plugin : tier) {
      const bool is_whole =
          std::all_of(plugin.switches.begin(), plugin.switches.end(), [](const auto& one) { return one.second; });
      if (plugin.name == name && is_whole) return &plugin;
    }
  }
  return nullptr;
}

// The amounts that a queue and, in a hierarchy, the queues below it hold.
std::vector<std::vector<std::int64_t>> held_by_queues(const Model& model, bool hierarchical) {
  std::vector<std::vector<std::int64_t>> out(model.queue_count(), std::vector<std::int64_t>(model.dimensions.size()));
  for (std::uint32_t q = 0; q < model.queue_count(); ++q) {
    QueueId at{q};
    for (std::size_t steps = 0; at.is_set() && steps < model.queue_count(); ++steps) {  // a circle ends, too
      for (Dim d = 0; d < model.dimensions.size(); ++d) out[at.index][d] += model.queue(QueueId{q}).allocated.get(d);
      if (!hierarchical || model.queue(at).name == "root") break;
      at = model.find_queue(model.queue(at).parent.empty() ? "root" : model.queue(at).parent);
    }
  }
  return out;
}

// Dimensions whose capability the queue is above, counting what is promised nowhere.
template <class Visit>
void for_each_excess(const Model& model, const Config& config, Visit&& visit) {
  const PluginEntry* capacity = find_whole(config, "capacity");
  if (capacity == nullptr && find_whole(config, "proportion") == nullptr) return;
  const auto held = held_by_queues(model, capacity != nullptr && capacity->is_on("enableHierarchy", false));
  for (std::uint32_t q = 0; q < model.queue_count(); ++q) {
    const Queue& queue = model.queue(QueueId{q});
    if (!queue.in_use || !queue.has_capability) continue;
    for (Dim d = 0; d < held[q].size(); ++d) {
      const bool is_limited = d == kCpu || d == kMemory ? queue.capability.get(d) > 0 : queue.capability.has(d);
      // A guarantee above the capability is a contradiction that admission refuses; plugins then grant the guarantee.
      const double limit = std::max(queue.capability.get(d), queue.guarantee.get(d));
      if (is_limited && static_cast<double>(held[q][d]) > limit + kResourceEpsilon) visit(queue, d, held[q][d]);
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
      if (n < idle.size() && idle[n] < 0) visit(NodeId{n}, d, idle[n]);
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
    if (!task.job.is_set()) continue;  // a single pod
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

// The beneficiary of an eviction holds or was promised a place.
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

// A pod whose group shares a domain of a node label goes where all others of it lie.
void check_label_domains(const Model& model, const CycleReport& report, std::vector<std::string>& out) {
  const auto check = [&](const std::string& pod, std::string_view node) {
    const TaskId id = model.find_task(pod);
    if (!id.is_set() || !model.task(id).job.is_set()) return;
    const Job& job = model.job(model.task(id).job);
    if (!job.extras().domain_key.is_set()) return;
    const Symbol value = value_of(model.nodes[model.nodes.find(node)].labels, job.extras().domain_key);
    const bool alone = std::any_of(job.tasks.begin(), job.tasks.end(), [&](TaskId other) {
      const Task& one = model.task(other);
      return one.node.is_set() && !is_terminated(one.status) &&
             value_of(model.nodes[one.node].labels, job.extras().domain_key) != value;
    });
    if (alone || !value.is_set()) out.push_back(base::format("{} leaves the domain of its group on {}", pod, node));
  };
  for (const PlannedBind& bind : report.plan.binds) check(bind.ns + "/" + bind.pod, bind.node);
  for (const auto& [pod, node] : report.pipelined) check(pod, node);
}

// A group that is disrupted as a whole loses all its pods or none.
void check_whole_groups(const Model& model, const CycleReport& report, std::vector<std::string>& out) {
  std::set<std::string> reported;
  for (const PlannedEviction& one : report.plan.evictions) {
    const JobId id = model.find_job(one.group);
    if (!id.is_set() || model.job(id).disruption != DisruptionMode::kAll || !reported.insert(one.group).second)
      continue;
    const std::int32_t left = model.job(id).count(TaskStatus::kRunning) + model.job(id).count(TaskStatus::kBound);
    if (left > 0) out.push_back(base::format("{} of {} goes by {}, and {} stay", one.pod, one.group, one.action, left));
  }
}

void check_queues(const Model& model, const Config& config, const Before& before, const CycleReport& report,
                  std::vector<std::string>& out) {
  // Backfill asks no queue: what it places wants nothing.
  std::set<Dim> wanted;
  for (const PlannedBind& bind : report.plan.binds) {
    const Task& task = model.task(model.find_task(bind.ns + "/" + bind.pod));
    for (const Part& part : model.shape_of(task).request.parts) {
      if (part.amount > 0 && !task.best_effort) wanted.insert(part.dim);
    }
  }
  for_each_excess(model, config, [&](const Queue& queue, Dim d, std::int64_t held) {
    if (d == kPods || !wanted.contains(d)) return;
    const std::string name = excess_name(model, queue, d);
    const auto known = before.full_queues.find(name);
    if (known == before.full_queues.end() || held > known->second) out.push_back("queue above its capability: " + name);
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

Before look_before(const Model& model, const Config& config) {
  Before out;
  for_each_full(model,
                [&](NodeId node, Dim d, std::int64_t idle) { out.full_nodes[full_name(model, node, d)] = idle; });
  for_each_excess(model, config, [&](const Queue& queue, Dim d, std::int64_t held) {
    out.full_queues[excess_name(model, queue, d)] = held;
  });
  out.hash = state_hash(model);
  out.ignored = model.dimensions.ignored_count();
  return out;
}

std::vector<std::string> broken_invariants(const Model& model, const Config& config, const Before& before,
                                           const CycleReport& report) {
  std::vector<std::string> out = report.bad_rollbacks;
  for_each_full(model, [&](NodeId node, Dim d, std::int64_t idle) {
    const auto known = before.full_nodes.find(full_name(model, node, d));
    if (known == before.full_nodes.end() || idle < known->second)
      out.push_back("node over its allocatable: " + full_name(model, node, d));
  });
  if (find_whole(config, "gang") != nullptr) check_gangs(model, report, out);
  check_queues(model, config, before, report, out);
  check_evictions(model, config, report, out);
  check_whole_groups(model, report, out);
  check_label_domains(model, report, out);
  // Attempts that were rolled back have left no trace; what is counted may have changed before.
  if (model.dimensions.ignored_count() == before.ignored && report.plan.binds.empty() &&
      report.plan.evictions.empty() && state_hash(model) != before.hash)
    out.push_back("rolled back, and yet the columns differ");
  // Placements that were neither planned nor rolled back do not stay.
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
  std::map<std::pair<std::uint32_t, Dim>, std::int64_t> in_queues, pending_in_queues;
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
      compare("pipelined", job.key, d, job.promised().get(d), added.promised[{job.id.index, d}]);
      if (!job.queue.is_set()) return;
      in_queues[{job.queue.index, d}] += added.allocated[{job.id.index, d}];
      pending_in_queues[{job.queue.index, d}] += added.pending[{job.id.index, d}];
    });
    for (std::uint32_t q = 0; q < model.queue_count(); ++q) {
      const Queue& queue = model.queue(QueueId{q});
      compare("allocated", "queue " + queue.name, d, queue.allocated.get(d), in_queues[{q, d}]);
      compare("pending", "queue " + queue.name, d, queue.pending.get(d), pending_in_queues[{q, d}]);
    }
  }
  return out;
}

}  // namespace scheduler

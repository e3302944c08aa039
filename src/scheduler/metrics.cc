// The metrics of the scheduler, counted from what each cycle reports.
#include "scheduler/metrics.h"

#include <set>

namespace scheduler {
namespace {

constexpr double kMs = 1e3;

}  // namespace

std::span<const base::MetricRow> metric_rows() {
  using enum base::MetricType;
  using base::exponential_bounds;
  static const base::MetricRow kRows[] = {
      {"volcano_e2e_scheduling_latency_milliseconds",
       kHistogram,
       {},
       "Time of a whole cycle.",
       exponential_bounds(1, 5000, 20)},
      {"volcano_action_scheduling_latency_milliseconds",
       kHistogram,
       {"action"},
       "Time of one action in a cycle.",
       exponential_bounds(1, 2000, 20)},
      {"volcano_task_scheduling_latency_milliseconds",
       kHistogram,
       {"stage"},
       "Time from a pod's creation to the stage (Assumed).",
       exponential_bounds(50, 60000, 30)},
      {"volcano_eviction_transactions_total",
       kCounter,
       {"action"},
       "Committed decisions for one group that evict somebody."},
      {"volcano_unschedule_task_count",
       kGauge,
       {"job_id"},
       "Pods of a waiting group that have no place, by the group's name."},
      {"volcano_unschedule_job_count", kGauge, {}, "Groups that wait."},
      {"volcano_queue_allocated_milli_cpu", kGauge, {"queue_name"}, "CPU that a queue's pods have."},
      {"volcano_queue_allocated_memory_bytes", kGauge, {"queue_name"}, "Memory that a queue's pods have."},
      {"volcano_queue_allocated_scalar_resources",
       kGauge,
       {"queue_name", "resource"},
       "Other resources that a queue's pods have, in thousandths."},
  };
  return kRows;
}

void CycleMetrics::note(const CycleReport& report, base::Duration took, base::Time now, const Model& model,
                        const Decider& decider) {
  metrics_.histogram("volcano_e2e_scheduling_latency_milliseconds").observe(took.seconds() * kMs);
  for (const CycleReport::ActionTime& one : report.actions)
    metrics_.histogram("volcano_action_scheduling_latency_milliseconds", {one.action}).observe(one.wall_s * kMs);
  if (!report.plan.binds.empty()) {
    const base::Histogram assumed = metrics_.histogram("volcano_task_scheduling_latency_milliseconds", {"Assumed"});
    for (const PlannedBind& bind : report.plan.binds) {
      const TaskId task = model.find_task(bind.ns + "/" + bind.pod);
      if (task.is_set() && model.task(task).created_ns != 0)
        assumed.observe((now - base::Time{model.task(task).created_ns}).seconds() * kMs);
    }
  }
  std::set<std::pair<std::string, std::string>> evictions;
  for (const PlannedEviction& one : report.plan.evictions) evictions.emplace(one.action, one.for_group);
  for (const auto& [action, group] : evictions) {
    if (!group.empty()) metrics_.counter("volcano_eviction_transactions_total", {action}).add();
  }
  note_waiting(decider);
  note_queues(report.plan);
}

void CycleMetrics::note_waiting(const Decider& decider) {
  std::set<std::string> names;
  std::size_t groups = 0;
  decider.for_each_reason([&](const Job& job, const WaitReason& reason) {
    ++groups;
    metrics_.gauge("volcano_unschedule_task_count", {job.name}).set(reason.missing);
    names.insert(job.name);
  });
  metrics_.gauge("volcano_unschedule_job_count").set(static_cast<double>(groups));
  for (const std::string& name : waiting_) {
    if (!names.contains(name)) metrics_.remove("volcano_unschedule_task_count", {name});
  }
  waiting_ = std::move(names);
}

void CycleMetrics::note_queues(const Plan& plan) {
  const auto set = [&](const std::string& queue, const std::string& resource, double amount) {
    if (resource == "cpu")
      metrics_.gauge("volcano_queue_allocated_milli_cpu", {queue}).set(amount * 1000);
    else if (resource == "memory")
      metrics_.gauge("volcano_queue_allocated_memory_bytes", {queue}).set(amount);
    else
      metrics_.gauge("volcano_queue_allocated_scalar_resources", {queue, resource}).set(amount * 1000);
  };
  for (const PlannedQueueStatus& queue : plan.queues) {
    for (const auto& [resource, quantity] : queue.allocated) set(queue.name, resource, quantity.as_double());
    for (const std::string& resource : queue.gone) set(queue.name, resource, 0);
  }
}

}  // namespace scheduler

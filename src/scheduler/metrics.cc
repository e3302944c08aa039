// The metrics of the scheduler, counted from what each cycle reports.
#include "scheduler/metrics.h"

#include <deque>

#include "base/format.h"

namespace scheduler {
namespace {

using enum base::MetricType;

constexpr double kMs = 1e3;
constexpr std::string_view kPrefix = "volcano_";

using Rows = std::vector<base::MetricRow>;

Rows rows_of_times() {
  using base::exponential_bounds;
  return {
      {"volcano_e2e_scheduling_latency_milliseconds",
       kHistogram,
       {},
       "Time of a whole cycle.",
       exponential_bounds(1, 5000, 20)},
      {"volcano_open_session_duration_milliseconds",
       kHistogram,
       {},
       "Time to open a cycle's session.",
       exponential_bounds(1, 5000, 20)},
      {"volcano_e2e_job_scheduling_latency_milliseconds",
       kHistogram,
       {},
       "Time from a group's creation to the cycle that placed the last of its pods.",
       exponential_bounds(100, 120000, 30)},
      {"volcano_e2e_job_scheduling_duration",
       kGauge,
       {"job_name", "queue", "job_namespace"},
       "Milliseconds from the group's creation to its last placement."},
      {"volcano_e2e_job_scheduling_start_time",
       kGauge,
       {"job_name", "queue", "job_namespace"},
       "When a cycle first looked at the group; seconds since 1970."},
      {"volcano_e2e_job_scheduling_last_time",
       kGauge,
       {"job_name", "queue", "job_namespace"},
       "When a cycle last placed a pod of the group; seconds since 1970."},
      {"volcano_plugin_scheduling_latency_milliseconds",
       kHistogram,
       {"plugin", "OnSession"},
       "Time of one plugin at the opening (OnSessionOpen) or close (OnSessionClose) of a cycle.",
       exponential_bounds(0.1, 100, 15)},
      {"volcano_action_scheduling_latency_milliseconds",
       kHistogram,
       {"action"},
       "Time of one action in a cycle.",
       exponential_bounds(1, 2000, 20)},
      {"volcano_task_scheduling_latency_milliseconds",
       kHistogram,
       {"stage"},
       "Time from a pod's creation to the stage (Watched, Assumed, PreBound, Bound).",
       exponential_bounds(50, 60000, 30)},
      // COMPAT(agent-workers)
      {"volcano_worker_scheduling_cycle_duration_milliseconds",
       kHistogram,
       {},
       "Time of a whole cycle of the agent scheduler.",
       exponential_bounds(5, 81920, 15)},
      {"volcano_scheduling_stage_duration_milliseconds",
       kHistogram,
       {"stage"},
       "Time of one pod's stage (Predicate, Scoring, PreBind, Bind).",
       exponential_bounds(0.1, 500, 20)},
  };
}

Rows rows_of_counts() {
  return {
      {"volcano_pod_preemption_victims",
       kGauge,
       {},
       "How many victims the action preempt looked at on the last node it opened."},
      {"volcano_total_preemption_attempts", kCounter, {}, "Nodes that the action preempt opened for a pod."},
      {"volcano_eviction_search_left_total",
       kCounter,
       {},
       "Nodes that searches for victims did not look at, as their steps were spent."},
      {"volcano_eviction_transactions_total",
       kCounter,
       {"action"},
       "Committed decisions for one group that evict somebody."},
      {"volcano_unschedule_task_count",
       kGauge,
       {"job_id"},
       "Pods of a waiting group that have no place, by the group's name."},
      {"volcano_dry_run_decisions_total",
       kCounter,
       {"kind"},
       "Of a dry run: decisions of the scheduler that runs, compared with ours (same, other_node, only_there, "
       "only_here, "
       "evicted_here, evicted_both)."},
      {"volcano_unschedule_job_count", kGauge, {}, "Groups that wait."},
      {"volcano_job_share", kGauge, {"job_ns", "job_id"}, "The group's dominant share of the cluster (drf)."},
      {"volcano_job_retry_counts", kCounter, {"job_id"}, "Cycles that ended while the group waited, by its name."},
      {"volcano_queue_share", kGauge, {"queue_name"}, "What a queue has of what it deserves (proportion, capacity)."},
      {"volcano_queue_weight", kGauge, {"queue_name"}, "A queue's weight (proportion)."},
      {"volcano_queue_overused", kGauge, {"queue_name"}, "1 when the queue has more than it deserves (capacity)."},
  };
}

// Rows of a queue's use, wants and limits: three rows for each, whose names live as long as the program.
void add_rows_of_queues(Rows& rows) {
  static std::deque<std::string> names;
  const auto row = [&](std::string_view what, std::string_view unit, std::vector<std::string_view> labels) {
    const bool only_capacity = what == "capacity" || what == "real_capacity";
    names.push_back(base::format("volcano_queue_{}_{}", what, unit));
    rows.push_back({names.back(), kGauge, std::move(labels),
                    only_capacity ? "As the plugin capacity counts it; scalars in thousandths."
                                  : "As proportion or capacity counts it; scalars in thousandths."});
  };
  for (const std::string_view what : {"allocated", "request", "inqueue", "deserved", "capacity", "real_capacity"}) {
    row(what, "milli_cpu", {"queue_name"});
    row(what, "memory_bytes", {"queue_name"});
    row(what, "scalar_resources", {"queue_name", "resource"});
  }
}

void add_rows_of_cards(Rows& rows) {
  const std::pair<std::string_view, std::string_view> cards[] = {
      {"volcano_vgpu_device_shared_number", "Shares of a card that are taken."},
      {"volcano_vgpu_device_allocated_memory", "Memory of a card that is taken."},
      {"volcano_vgpu_device_allocated_cores", "Cores of a card that are taken, in percent."},
      {"volcano_vgpu_device_memory_limit", "Memory of a card."}};
  for (const auto& [name, help] : cards) rows.push_back({name, kGauge, {"devID", "NodeName"}, help});
  const std::pair<std::string_view, std::string_view> pods[] = {
      {"volcano_vgpu_device_memory_allocation_for_a_certain_pod", "Memory of a card that a pod has."},
      {"volcano_vgpu_device_core_allocation_for_a_certain_pod", "Cores of a card that a pod has, in percent."}};
  for (const auto& [name, help] : pods) rows.push_back({name, kGauge, {"devID", "NodeName", "podName"}, help});
}

Rows make_rows() {
  Rows rows = rows_of_times();
  for (base::MetricRow& row : rows_of_counts()) rows.push_back(std::move(row));
  add_rows_of_queues(rows);
  add_rows_of_cards(rows);
  return rows;
}

std::vector<std::string> labels_of(const Job& job) {
  return {std::string(job.name()), job.queue_name.str(), std::string(job.ns())};
}

}  // namespace

std::span<const base::MetricRow> metric_rows() {
  static const std::vector<base::MetricRow> kRows = make_rows();
  return kRows;
}

void CycleMetrics::record(const CycleReport& report, base::Duration took, base::Time now, const Model& model,
                          const Decider& decider) {
  record_times(report, took);
  record_binds(report, now, model);
  std::set<std::pair<std::string, std::string>> evictions;
  for (const PlannedEviction& one : report.plan.evictions) evictions.emplace(one.action, one.for_group);
  for (const auto& [action, group] : evictions) {
    if (!group.empty()) metrics_.counter("volcano_eviction_transactions_total", {action}).add();
  }
  if (report.preemption.attempts > 0)
    metrics_.counter("volcano_total_preemption_attempts").add(static_cast<double>(report.preemption.attempts));
  if (report.preemption.last_victims)
    metrics_.gauge("volcano_pod_preemption_victims").set(static_cast<double>(*report.preemption.last_victims));
  if (report.nodes_left_out > 0)
    metrics_.counter("volcano_eviction_search_left_total").add(static_cast<double>(report.nodes_left_out));
  if (groups_) record_waiting(decider, now);
}

void CycleMetrics::record_times(const CycleReport& report, base::Duration took) {
  metrics_.histogram("volcano_e2e_scheduling_latency_milliseconds").observe(took.seconds() * kMs);
  if (!report.single_pods.empty())
    metrics_.histogram("volcano_worker_scheduling_cycle_duration_milliseconds").observe(took.seconds() * kMs);
  metrics_.histogram("volcano_open_session_duration_milliseconds").observe(report.open_s * kMs);
  for (const CycleReport::ActionTime& one : report.actions)
    metrics_.histogram("volcano_action_scheduling_latency_milliseconds", {one.action}).observe(one.wall_s * kMs);
  for (const PluginTime& one : report.plugins) {
    metrics_
        .histogram("volcano_plugin_scheduling_latency_milliseconds",
                   {std::string(one.plugin), one.opening ? "OnSessionOpen" : "OnSessionClose"})
        .observe(one.wall_s * kMs);
  }
  if (report.searches.empty()) return;
  const auto stage = [&](std::string_view name) {
    return metrics_.histogram("volcano_scheduling_stage_duration_milliseconds", {std::string(name)});
  };
  auto filters = stage("Predicate"), scores = stage("Scoring");
  for (const SearchTime& one : report.searches) {
    filters.observe(one.filters * kMs);
    scores.observe(one.scores * kMs);
  }
}

void CycleMetrics::record_binds(const CycleReport& report, base::Time now, const Model& model) {
  if (report.plan.binds.empty()) return;
  std::set<JobId> jobs;
  for (const PlannedBind& bind : report.plan.binds) {
    const TaskId id = model.find_task(bind.ns + "/" + bind.pod);
    if (!id.is_set()) continue;
    record_stage("Assumed", base::Time{model.task(id).created_ns}, now);
    if (model.task(id).job.is_set()) jobs.insert(model.task(id).job);
  }
  for (const JobId id : jobs) {
    const Job& job = model.job(id);
    see_job(job, now);
    metrics_.gauge("volcano_e2e_job_scheduling_last_time", labels_of(job)).set(static_cast<double>(now.ns) / 1e9);
    if (job.created_ns == 0) continue;
    const double took = (now - base::Time{job.created_ns}).seconds() * kMs;
    metrics_.gauge("volcano_e2e_job_scheduling_duration", labels_of(job)).set(took);
    if (job.count(TaskStatus::kPending) == 0)
      metrics_.histogram("volcano_e2e_job_scheduling_latency_milliseconds").observe(took);
  }
}

void CycleMetrics::record_stage(std::string_view stage, base::Time created, base::Time now) {
  if (!created.is_set()) return;
  metrics_.histogram("volcano_task_scheduling_latency_milliseconds", {std::string(stage)})
      .observe((now - created).seconds() * kMs);
}

void CycleMetrics::record_differences(const std::vector<Difference>& news) {
  for (const Difference& one : news)
    metrics_.counter("volcano_dry_run_decisions_total", {std::string(word_for(one.kind))}).add();
}

void CycleMetrics::record_part(std::string_view part, base::Duration took) {
  metrics_.histogram("volcano_scheduling_stage_duration_milliseconds", {std::string(part)})
      .observe(took.seconds() * kMs);
}

void CycleMetrics::see_job(const Job& job, base::Time now) {
  if (!seen_.emplace(job.key.str(), job.queue_name.str()).second) return;
  ++names_[std::string(job.name())];
  metrics_.gauge("volcano_e2e_job_scheduling_start_time", labels_of(job)).set(static_cast<double>(now.ns) / 1e9);
}

void CycleMetrics::record_waiting(const Decider& decider, base::Time now) {
  std::size_t groups = 0;
  decider.for_each_reason([&](const Job& job, const WaitReason&) {
    ++groups;
    Wait& wait = waits_[job.id];
    if (wait.key != job.key) wait = {.key = job.key, .since = now};
    ++wait.cycles;
  });
  metrics_.gauge("volcano_unschedule_job_count").set(static_cast<double>(groups));
}

void CycleMetrics::settle_waiting(const Model& model, const Decider& decider) {
  for (const auto& [id, wait] : std::exchange(waits_, {})) {
    const Job& job = model.job(id);
    if (!job.in_use || job.key != wait.key) continue;  // gone
    see_job(job, wait.since);
    metrics_.counter("volcano_job_retry_counts", {std::string(job.name())}).add(wait.cycles);
  }
  std::set<std::string> names;
  decider.for_each_reason([&](const Job& job, const WaitReason& reason) {
    std::string name(job.name());
    metrics_.gauge("volcano_unschedule_task_count", {name}).set(reason.missing);
    names.insert(std::move(name));
  });
  for (const std::string& name : waiting_) {
    if (!names.contains(name)) metrics_.remove("volcano_unschedule_task_count", {name});
  }
  waiting_ = std::move(names);
}

// Series of jobs that are gone, or moved to another queue.
void CycleMetrics::forget_jobs(const Model& model) {
  std::erase_if(seen_, [&](const auto& entry) {
    const JobId id = model.find_job(entry.first);
    if (id.is_set() && model.job(id).has_group && model.job(id).queue_name == entry.second) return false;
    const std::size_t slash = entry.first.find('/');
    const std::string ns = entry.first.substr(0, slash), name = entry.first.substr(slash + 1);
    for (const char* metric : {"volcano_e2e_job_scheduling_start_time", "volcano_e2e_job_scheduling_last_time",
                               "volcano_e2e_job_scheduling_duration"})
      metrics_.remove(metric, {name, entry.second, ns});
    // Groups of one name in several namespaces share the counter.
    const auto known = names_.find(name);
    if (--known->second == 0) {
      metrics_.remove("volcano_job_retry_counts", {name});
      names_.erase(known);
    }
    return true;
  });
}

void CycleMetrics::settle(const Model& model, const Decider& decider) {
  settle_waiting(model, decider);
  forget_jobs(model);
  std::set<Series> now;
  decider.report([&](std::string_view name, const std::vector<std::string>& labels, double value) {
    Series series{std::string(kPrefix) + std::string(name), labels};
    metrics_.gauge(series.first, labels).set(value);
    now.insert(std::move(series));
  });
  for (const Series& old : reported_) {
    if (now.contains(old)) continue;
    // A resource that a queue no longer has reads zero; what is gone altogether is not told any more.
    const bool scalar = old.second.size() == 2 && old.first.ends_with("_scalar_resources");
    const std::string sum = old.first.substr(0, old.first.size() - std::string_view("scalar_resources").size());
    if (scalar && now.contains({sum + "milli_cpu", {old.second[0]}})) {
      metrics_.gauge(old.first, old.second).set(0);
      now.insert(old);
    } else {
      metrics_.remove(old.first, old.second);
    }
  }
  reported_ = std::move(now);
}

}  // namespace scheduler

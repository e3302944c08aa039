// Names, types, labels and buckets are what dashboards depend on: a table of them, and what counts where.
#include "scheduler/metrics.h"

#include <gtest/gtest.h>

#include "scheduler/actions/all.h"
#include "scheduler/cache/intake.h"
#include "scheduler/plugins/all.h"

namespace scheduler {
namespace {

struct Expected {
  std::string name;
  base::MetricType type;
  std::vector<std::string_view> labels;
  double first = 0, last = 0;
  std::size_t count = 0;
};

std::vector<Expected> expected_rows() {
  using enum base::MetricType;
  const std::vector<std::string_view> job = {"job_name", "queue", "job_namespace"}, card = {"devID", "NodeName"},
                                      pod = {"devID", "NodeName", "podName"};
  std::vector<Expected> out = {
      {"e2e_scheduling_latency_milliseconds", kHistogram, {}, 1, 5000, 20},
      {"open_session_duration_milliseconds", kHistogram, {}, 1, 5000, 20},
      {"e2e_job_scheduling_latency_milliseconds", kHistogram, {}, 100, 120000, 30},
      {"e2e_job_scheduling_duration", kGauge, job},
      {"e2e_job_scheduling_start_time", kGauge, job},
      {"e2e_job_scheduling_last_time", kGauge, job},
      {"plugin_scheduling_latency_milliseconds", kHistogram, {"plugin", "OnSession"}, 0.1, 100, 15},
      {"action_scheduling_latency_milliseconds", kHistogram, {"action"}, 1, 2000, 20},
      {"task_scheduling_latency_milliseconds", kHistogram, {"stage"}, 50, 60000, 30},
      {"worker_scheduling_cycle_duration_milliseconds", kHistogram, {}, 5, 81920, 15},
      {"scheduling_stage_duration_milliseconds", kHistogram, {"stage"}, 0.1, 500, 20},
      {"pod_preemption_victims", kGauge, {}},
      {"total_preemption_attempts", kCounter, {}},
      {"eviction_search_left_total", kCounter, {}},  // ours alone
      {"eviction_transactions_total", kCounter, {"action"}},
      {"unschedule_task_count", kGauge, {"job_id"}},
      {"unschedule_job_count", kGauge, {}},
      {"job_share", kGauge, {"job_ns", "job_id"}},
      {"job_retry_counts", kCounter, {"job_id"}},
      {"queue_share", kGauge, {"queue_name"}},
      {"queue_weight", kGauge, {"queue_name"}},
      {"queue_overused", kGauge, {"queue_name"}},
      {"dry_run_decisions_total", kCounter, {"kind"}},  // ours alone
  };
  for (const char* what : {"allocated", "request", "deserved", "capacity", "real_capacity", "inqueue"}) {
    const std::string prefix = std::string("queue_") + what;
    out.push_back({prefix + "_milli_cpu", kGauge, {"queue_name"}});
    out.push_back({prefix + "_memory_bytes", kGauge, {"queue_name"}});
    out.push_back({prefix + "_scalar_resources", kGauge, {"queue_name", "resource"}});
  }
  for (const char* name : {"shared_number", "allocated_memory", "allocated_cores", "memory_limit"})
    out.push_back({std::string("vgpu_device_") + name, kGauge, card});
  out.push_back({"vgpu_device_memory_allocation_for_a_certain_pod", kGauge, pod});
  out.push_back({"vgpu_device_core_allocation_for_a_certain_pod", kGauge, pod});
  return out;
}

TEST(SchedulerMetrics, have_the_names_types_labels_and_buckets_of_volcano) {
  const auto expected = expected_rows();
  EXPECT_EQ(metric_rows().size(), expected.size());
  for (const Expected& one : expected) {
    const base::MetricRow* row = nullptr;
    for (const base::MetricRow& candidate : metric_rows()) {
      if (candidate.name == "volcano_" + one.name) row = &candidate;
    }
    ASSERT_NE(row, nullptr) << one.name;
    EXPECT_EQ(row->type, one.type) << one.name;
    EXPECT_EQ(row->labels, one.labels) << one.name;
    ASSERT_EQ(row->bounds.size(), one.count) << one.name;
    if (one.count == 0) continue;
    EXPECT_NEAR(row->bounds.front(), one.first, 1e-9) << one.name;
    EXPECT_NEAR(row->bounds.back(), one.last, one.last * 1e-9) << one.name;
  }
}

class Counted : public ::testing::Test {
 protected:
  Counted() { metrics_.add(metric_rows()); }

  void SetUp() override {
    decider_.time_searches([this] { return clock_ += 1; });
  }
  CycleReport cycle(base::Time now) {
    CycleReport report = decider_.run_cycle(now, false, [] { return std::pair{0.0, 0.0}; });
    counted_.record(report, base::milliseconds(3), now, model_, decider_);
    counted_.settle(model_, decider_);
    return report;
  }
  void expect(const std::string& line) { EXPECT_NE(metrics_.text().find(line), std::string::npos) << line; }
  void expect_no(const std::string& text) { EXPECT_EQ(metrics_.text().find(text), std::string::npos) << text; }

  static api::Json object(std::string_view text) { return *api::parse_json(text); }

  Model model_;
  Ledger ledger_;
  Intake intake_{model_, ledger_, {}};
  Decider decider_{model_, ledger_, {all_plugins(), all_actions()}, 1, "volcano"};
  base::Metrics metrics_;
  CycleMetrics counted_{metrics_};
  double clock_ = 0;
};

TEST_F(Counted, groups_and_queues_as_cycles_decide) {
  const base::Time now{1'700'000'010'000'000'000};
  intake_.set(api::resources::kQueues,
              object(R"({"metadata":{"name":"default"},"spec":{"weight":1},"status":{"state":"Open"}})"));
  intake_.set(api::resources::kNodes,
              object(R"({"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"4","pods":9}}})"));
  const api::Json group =
      object(R"({"metadata":{"namespace":"a","name":"g","uid":"1","creationTimestamp":"2023-11-14T22:13:20Z"},
                 "spec":{"minMember":1,"queue":"default"},"status":{"phase":"Inqueue"}})");
  intake_.set(api::resources::kPodGroups, group);
  intake_.set(api::resources::kPods, object(R"({"metadata":{"namespace":"a","name":"p","uid":"2",
      "creationTimestamp":"2023-11-14T22:13:20Z","annotations":{"scheduling.k8s.io/group-name":"g"}},
      "spec":{"schedulerName":"volcano","containers":[{"resources":{"requests":{"cpu":"1"}}}]},
      "status":{"phase":"Pending"}})"));
  cycle(now);
  expect("volcano_task_scheduling_latency_milliseconds_sum{stage=\"Assumed\"} 10000");
  expect("volcano_e2e_job_scheduling_latency_milliseconds_sum 10000");
  expect("volcano_e2e_job_scheduling_duration{job_name=\"g\",job_namespace=\"a\",queue=\"default\"} 10000");
  expect("volcano_e2e_job_scheduling_start_time{job_name=\"g\",job_namespace=\"a\",queue=\"default\"} 1700000010");
  expect("volcano_plugin_scheduling_latency_milliseconds_count{OnSession=\"OnSessionClose\",plugin=\"gang\"} 1");
  expect("volcano_open_session_duration_milliseconds_count 1");
  expect("volcano_scheduling_stage_duration_milliseconds_sum{stage=\"Predicate\"} 1000");
  expect("volcano_scheduling_stage_duration_milliseconds_sum{stage=\"Scoring\"} 1000");
  expect("volcano_job_share{job_id=\"g\",job_ns=\"a\"} 0.25");
  expect("volcano_queue_allocated_milli_cpu{queue_name=\"default\"} 1000");
  expect("volcano_unschedule_job_count 0");
  // A group that waits, then goes.
  const api::Json waits =
      object(R"({"metadata":{"namespace":"a","name":"w","uid":"3"},"spec":{"minMember":2,"queue":"default"},
                 "status":{"phase":"Inqueue"}})");
  intake_.set(api::resources::kPodGroups, waits);
  cycle(now);
  expect("volcano_unschedule_job_count 1");
  expect("volcano_job_retry_counts{job_id=\"w\"} 1");
  intake_.remove(api::resources::kPodGroups, waits);
  cycle(now);
  expect_no("job_id=\"w\"");
}

}  // namespace
}  // namespace scheduler

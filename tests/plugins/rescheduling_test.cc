// The pods that leave a crowded node: docs/spec/scheduler 5.22.
#include <gtest/gtest.h>

#include <algorithm>

#include "plugin_trial.h"

namespace plugins {
namespace {

using namespace scheduler;

std::string rescheduling(std::string_view thresholds, std::string_view targets, std::string_view period = "10m") {
  return "{name: rescheduling, arguments: {interval: 1m, metricsPeriod: " + std::string(period) +
         ", strategies: [{name: lowNodeUtilization, params: {thresholds: {" + std::string(thresholds) +
         "}, targetThresholds: {" + std::string(targets) + "}}}]}}";
}

// A pod is a tenth of its node. The order of leaving is their names'.
constexpr std::string_view kCluster = R"(
queue default
node idle cpu=10 memory=10Gi
node busy cpu=10 memory=10Gi
node off cpu=10 memory=10Gi unschedulable
group a/g phase=Running
pod a/6-guaranteed group=g cpu=1 memory=1Gi node=busy priority=3 guaranteed
pod a/5-burstable group=g cpu=1 memory=1Gi node=busy priority=3
pod a/2-low group=g cpu=1 memory=1Gi node=busy priority=1
pod a/1-none group=g cpu=1 memory=1Gi node=busy
pod a/3-low group=g cpu=1 memory=1Gi node=busy priority=1
pod a/9-elsewhere group=g cpu=1 memory=1Gi node=idle
)";

std::string victims(PluginTrial& trial, base::Duration after = base::minutes(1)) {
  trial.in_session([](Session&) {});  // the first interval begins
  trial.wait(after);
  std::string out;
  trial.in_session([&](Session& session) {
    const auto all =
        trial.tasks({"a/1-none", "a/2-low", "a/3-low", "a/5-burstable", "a/6-guaranteed", "a/9-elsewhere"});
    for (const TaskId one : session.ask<VictimTasks>(all)) {
      const std::string key = session.model().task_key(one);
      out += (out.empty() ? "" : " ") + key.substr(2, 1);
    }
  });
  return out;
}

TEST(Rescheduling, the_least_important_leave_until_the_node_is_below_its_target) {
  struct Row {
    const char *thresholds, *targets;
    double idle, busy;
    const char* victims;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"cpu: 30, memory: 30", "cpu: 65, memory: 65", 10, 90, "1 2 3"},      // 90, 80, 70, 60
           {"cpu: 30, memory: 30", "cpu: 60, memory: 60", 10, 90, "1 2 3 5"},    // below, not at the target
           {"cpu: 30, memory: 30", "cpu: 40, memory: 40", 20, 90, "1 2"},        // the idle one has room for two
           {"cpu: 30, memory: 30", "cpu: 45, memory: 45", 20, 90, "1 2 3 5 6"},  // never exactly used up
           {"cpu: 30, memory: 30", "cpu: 90, memory: 90", 10, 90, ""},           // nobody is above the target
           {"cpu: 30, memory: 30", "cpu: 60, memory: 60", 40, 90, ""},           // nobody is low
           {"cpu: 95, memory: 95", "cpu: 60, memory: 60", 10, 90, ""},           // all are low
       }) {
    PluginTrial trial(rescheduling(row.thresholds, row.targets), kCluster);
    trial.measure("idle", row.idle, row.idle);
    trial.measure("busy", row.busy, row.busy);
    trial.measure("off", row.idle, row.idle);
    EXPECT_EQ(victims(trial), row.victims) << row.thresholds << "; " << row.targets << "; " << row.idle;
  }
}

TEST(Rescheduling, one_resource_above_its_target_is_enough) {
  PluginTrial trial(rescheduling("cpu: 30, memory: 30", "cpu: 65, memory: 65"), kCluster);
  trial.measure("idle", 10, 10);
  trial.measure("busy", 20, 80);
  trial.measure("off", 10, 10);
  EXPECT_EQ(victims(trial), "1 2");
}

TEST(Rescheduling, nodes_that_take_no_pods_are_not_low) {
  PluginTrial trial(rescheduling("cpu: 30, memory: 30", "cpu: 65, memory: 65"), kCluster);
  trial.measure("idle", 50, 50);
  trial.measure("busy", 90, 90);
  trial.measure("off", 10, 10);
  EXPECT_EQ(victims(trial), "");
}

TEST(Rescheduling, runs_once_an_interval_and_reads_its_own_period) {
  PluginTrial early(rescheduling("cpu: 30, memory: 30", "cpu: 65, memory: 65"), kCluster);
  early.measure("idle", 10, 10);
  early.measure("busy", 90, 90);
  EXPECT_EQ(victims(early, base::seconds(59)), "");
  // Usage is collected under 10m: nothing is known under the default.
  PluginTrial unread(rescheduling("cpu: 30, memory: 30", "cpu: 65, memory: 65", "5m"), kCluster);
  unread.measure("idle", 10, 10);
  unread.measure("busy", 90, 90);
  EXPECT_EQ(victims(unread), "");
}

}  // namespace
}  // namespace plugins

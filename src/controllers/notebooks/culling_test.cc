// When a notebook is stopped because nobody uses it (kubeflow.md 2.3).
#include "controllers/notebooks/culling.h"

#include <gtest/gtest.h>

#include "api/kubeflow/v1/notebook.h"
#include "base/format.h"
#include "controllers/framework/trial_for_tests.h"
#include "controllers/notebooks/notebook_objects.h"

namespace controllers::notebooks {
namespace {

using api::Json;
namespace resources = api::resources;

const std::string kKey = "ns/nb", kPage = "10.0.0.1:8888/notebook/ns/nb/api/kernels";
constexpr const char* kActivity = "notebooks.kubeflow.org/last-activity";
constexpr const char* kCheck = "notebooks.kubeflow.org/last_activity_check_timestamp";

struct Bench {
  explicit Bench(std::string_view annotations = "{}", bool culling = true)
      : controller(make_culling_controller({.culling = culling, .cull_idle = base::minutes(10)})) {
    world.use_indexes_of(*controller);
    world.put_text(resources::kNotebooks, base::format(R"({{"apiVersion": "kubeflow.org/v1", "kind": "Notebook",
        "metadata": {{"name": "nb", "namespace": "ns", "annotations": {}}},
        "spec": {{"template": {{"spec": {{"containers": [{{"name": "nb", "image": "i"}}]}}}}}}}})",
                                                       annotations));
    put_pod("Running");
  }
  void put_pod(std::string_view phase) {
    world.put_text(resources::kPods, base::format(R"({{"kind": "Pod", "metadata": {{"name": "nb-0", "namespace": "ns",
        "labels": {{"notebook-name": "nb"}}}}, "status": {{"phase": "{}", "podIP": "10.0.0.1"}}}})",
                                                  phase));
  }
  void answer(std::string kernels) {
    world.listening.insert(kPage);
    world.pages[kPage] = std::move(kernels);
  }
  // Time passes, a minute at a look.
  void pass(int minutes) {
    for (int i = 0; i < minutes; ++i) {
      world.now = world.now + base::minutes(1) + base::seconds(1);
      for (int looks = 0; looks < 3; ++looks) world.turn(*controller, kKey);
    }
  }
  std::string record(const char* name) const {
    return std::string(api::annotation_of(*world.find(resources::kNotebooks, kKey), name));
  }
  bool stopped() const { return is_stopped(*world.find(resources::kNotebooks, kKey)); }
  std::string now() const { return base::format_rfc3339(world.now); }

  TestWorld world;
  std::unique_ptr<Controller> controller;
};

TEST(Culling, an_idle_notebook_is_stopped_after_its_time) {
  Bench bench;
  bench.world.turn(*bench.controller, kKey);
  EXPECT_EQ(bench.record(kActivity), bench.now());
  EXPECT_EQ(bench.record(kCheck), bench.now());
  bench.answer(base::format(R"([{{"execution_state": "idle", "last_activity": "{}"}}])", bench.now()));
  bench.pass(9);
  EXPECT_FALSE(bench.stopped());
  EXPECT_EQ(bench.record(kCheck), bench.now());
  bench.pass(2);
  EXPECT_TRUE(bench.stopped());
  ASSERT_FALSE(bench.world.events.empty());
  EXPECT_EQ(bench.world.events.back(), "Culled: Stopped, because no kernel was busy for 10m0s");
  bench.pass(1);
  EXPECT_EQ(bench.record(kActivity), "") << "bookkeeping goes with the pod";
}

TEST(Culling, whatever_else_the_server_answers) {
  struct Row {
    const char* kernels;  // null: nobody answers
    bool stops;
  };
  const Row rows[] = {
      {R"([{"execution_state": "busy", "last_activity": "2020-01-01T00:00:00Z"}])", false},
      {R"([{"execution_state": "idle", "last_activity": "2020-01-01T00:00:00Z"}, {"execution_state": "starting"}])",
       false},
      {R"([{"execution_state": "idle", "last_activity": "2020-01-01T00:00:00Z"}])", true},
      {R"([{"execution_state": "idle", "last_activity": "2099-01-01T00:00:00Z"}])", false},
      {R"([{"execution_state": "idle", "last_activity": "yesterday"}])", true},
      {"[]", true},
      {"{}", true},
      {"[7, null]", false},
      {"<html>", true},
      {nullptr, true}};
  for (const Row& row : rows) {
    Bench bench;
    if (row.kernels != nullptr) bench.answer(row.kernels);
    bench.pass(13);
    EXPECT_EQ(bench.stopped(), row.stops) << (row.kernels != nullptr ? row.kernels : "no answer");
  }
}

TEST(Culling, a_notebook_that_waits_is_not_idle) {
  Bench bench;
  bench.put_pod("Pending");
  bench.pass(30);
  EXPECT_FALSE(bench.stopped());
  bench.put_pod("Running");
  bench.pass(9);
  EXPECT_FALSE(bench.stopped());
  bench.pass(3);
  EXPECT_TRUE(bench.stopped());
}

TEST(Culling, off_unless_it_is_asked_for) {
  Bench off("{}", false);
  off.pass(30);
  EXPECT_EQ(off.record(kActivity), "");
  EXPECT_FALSE(off.stopped());
  Bench own(R"({"notebooks.volcano.sh/idle-after": "5m"})", false);
  own.pass(4);
  EXPECT_FALSE(own.stopped());
  own.pass(4);
  EXPECT_TRUE(own.stopped());
  Bench wrong(R"({"notebooks.volcano.sh/idle-after": "soon"})", false);
  wrong.pass(30);
  EXPECT_FALSE(wrong.stopped());
}

TEST(Culling, bookkeeping_goes_with_the_pod) {
  Bench bench;
  bench.pass(1);
  EXPECT_NE(bench.record(kActivity), "");
  bench.world.erase(resources::kPods, "ns/nb-0");
  bench.pass(1);
  EXPECT_EQ(bench.record(kActivity), "");
  EXPECT_EQ(bench.record(kCheck), "");
}

TEST(Culling, a_clock_that_is_set_back_stops_no_check) {
  Bench bench;
  bench.answer(R"([{"execution_state": "busy"}])");
  bench.pass(1);
  bench.world.now = bench.world.now - base::hours(5);
  bench.pass(1);
  EXPECT_EQ(bench.record(kCheck), bench.now());
}

}  // namespace
}  // namespace controllers::notebooks

// Objects whose author means harm, or does not know better, and their effect on the model.
#include <gtest/gtest.h>

#include <limits>

#include "api/meta/resource.h"
#include "base/format.h"
#include "scheduler/cache/intake.h"
#include "scheduler/framework/config.h"
#include "scheduler/plugins/devices/device_family.h"
#include "scheduler/plugins/topology/task_buckets.h"
#include "scheduler/session/queue_devices.h"
#include "scheduler/session/unschedulable.h"

namespace scheduler {
namespace {

using api::Json;

Json parse(const std::string& text) {
  auto parsed = api::parse_json(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return *parsed;
}

class HostileObjects : public testing::Test {
 protected:
  const Job& set_group(const std::string& annotations, const std::string& spec) {
    intake_.set(
        api::resources::kPodGroups,
        parse(R"({"metadata":{"name":"g","namespace":"ns","uid":"u","resourceVersion":")" + std::to_string(++version_) +
              R"(","annotations":{)" + annotations + R"(}},"spec":{"minMember":1,"queue":"default")" + spec + "}}"));
    return model_.job(model_.find_job("ns/g"));
  }
  TaskId set_pod(const std::string& annotations, const std::string& container, const std::string& status) {
    intake_.set(api::resources::kPods,
                parse(R"({"metadata":{"name":"p","namespace":"ns","uid":"v","annotations":{)" + annotations +
                      R"(}},"spec":{"schedulerName":"volcano","nodeName":"n","containers":[{"name":"c")" + container +
                      R"(}]},"status":{"phase":"Running")" + status + "}}"));
    return model_.find_task("ns/p");
  }
  bool is_kept(const std::string& text) const { return model_.symbols.find(text).is_set(); }

  Model model_;
  Ledger ledger_;
  Intake intake_{model_, ledger_, {}};
  int version_ = 0;
};

TEST_F(HostileObjects, what_a_node_offers_counts_whatever_pods_have_named) {
  std::string requests;
  for (int i = 0; i < 3'000; ++i) requests += base::format(R"({}"a.b/x{}":"1")", i == 0 ? "" : ",", i);
  set_pod("", R"(,"resources":{"requests":{)" + requests + "}}", "");
  EXPECT_LE(model_.dimensions.size(), kResourceNamesMax + 1);
  intake_.set(api::resources::kNodes,
              parse(R"({"metadata":{"name":"n"},"status":{"allocatable":{"nvidia.com/gpu":"8"}}})"));
  intake_.set(api::resources::kQueues, parse(R"({"metadata":{"name":"q"},"spec":{"capability":{"amd.com/gpu":"2"}}})"));
  const auto gpu = model_.dimensions.find("nvidia.com/gpu"), other = model_.dimensions.find("amd.com/gpu");
  ASSERT_TRUE(gpu && other);
  EXPECT_EQ(model_.nodes.total().get(*gpu), 8000);
  EXPECT_EQ(model_.queue(model_.find_queue("q")).capability.get(*other), 2000);
}

// Also those that claims ask for by capacity, which queues' statuses list.
TEST_F(HostileObjects, claims_name_no_more_resources_than_there_may_be) {
  set_group("", "");
  intake_.set(
      api::resources::kPods,
      parse(R"({"metadata":{"name":"p","namespace":"ns","uid":"v","annotations":{"scheduling.k8s.io/group-name":"g"}},
                        "spec":{"schedulerName":"volcano","nodeName":"n","containers":[{"name":"c"}],
                                "resourceClaims":[{"name":"d","resourceClaimName":"many"}]}})"));
  std::string requests;
  for (int i = 0; i < 3'000; ++i) requests += base::format(R"({}"x{}":"1")", i == 0 ? "" : ",", i);
  intake_.set(
      api::resources::kResourceClaims,
      parse(R"({"metadata":{"name":"many","namespace":"ns","uid":"w"},"spec":{"devices":{"requests":[{"name":"r",
                        "exactly":{"deviceClassName":"gpu","capacity":{"requests":{)" +
            requests + "}}}}]}}}"));
  intake_.set(api::resources::kQueues, parse(R"({"metadata":{"name":"default"},"spec":{}})"));
  const PluginSet none({}, model_);
  QueueDevices devices;
  devices.settle(model_, none, {}, true);
  EXPECT_LE(model_.dimensions.size(), kResourceNamesMax + 1);
  const auto& held = devices.of(model_.find_queue("default"));
  EXPECT_EQ(held.at(*model_.dimensions.find("deviceclass/gpu")), QueueDevices::Amount{1'000});
  EXPECT_GT(held.at(*model_.dimensions.find(kNoSuchResource)), QueueDevices::Amount{1'000'000});
}

TEST_F(HostileObjects, a_name_beyond_the_bound_is_said_as_such) {
  for (std::size_t i = 0; i < kResourceNamesMax; ++i) model_.dimensions.intern(base::format("a.b/x{}", i));
  const Job& job = set_group("", R"(,"minResources":{"a.b/one":"1","a.b/other":"2"})");
  const PluginSet none({}, model_);
  WaitReason reason;
  EXPECT_TRUE(Unschedulable(model_, none).is_sum(*job.min_resources(), reason));
  EXPECT_EQ(reason.detail, "no node has a resource that it names, which is not among the first 1024 names");
}

// It lowered what overcommit and the queue counted for everybody.
TEST_F(HostileObjects, a_minimum_below_zero_is_none) {
  const Job& job = set_group("", R"(,"minResources":{"cpu":"-5","memory":"2Gi"})");
  ASSERT_NE(job.min_resources(), nullptr);
  EXPECT_EQ(job.min_resources()->get(kCpu), 0);
  EXPECT_EQ(job.min_resources()->get(kMemory), std::int64_t{2} << 30);
  EXPECT_EQ(job.extras().min_resources.at("cpu").sign(), 0);
}

TEST_F(HostileObjects, texts_that_are_no_names_are_not_kept) {
  const std::string name(253, 'd'), longer(254, 'd'), image(1017, 'i'), weight(4097, 'w');
  set_group(R"("volcano.sh/job-allocated-hypernode":")" + longer + '"', "");
  EXPECT_FALSE(is_kept(longer));
  set_group(R"("volcano.sh/job-allocated-hypernode":")" + name + '"', "");
  set_pod("", R"(,"image":")" + image + "iiiiiiii\"", "");
  EXPECT_FALSE(is_kept(image + "iiiiiiii:latest"));
  const TaskId pod = set_pod(R"("volcano.sh/resource-strategy-scoring-type":"LeastAllocated",)"
                             R"("volcano.sh/resource-strategy-weight":")" +
                                 weight + '"',
                             R"(,"image":")" + image + '"', "");
  EXPECT_TRUE(is_kept(image + ":latest"));
  EXPECT_TRUE(model_.details.preference(model_.details.preference_id(pod)).weights.empty());
}

TEST_F(HostileObjects, a_pod_does_not_give_itself_cpus) {
  const TaskId pod = set_pod(R"("volcano.sh/dumped-cpus":"0-63")", "", "");
  EXPECT_EQ(model_.devices.cpus_of(pod), nullptr);
}

TEST_F(HostileObjects, a_cool_down_of_centuries_does_not_wrap) {
  const TaskId pod =
      set_pod(R"("volcano.sh/cooldown-time":"2540400h")", "",
              R"(,"conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}])");
  EXPECT_EQ(model_.task(pod).protected_until_ns, std::numeric_limits<std::int64_t>::max());
}

TEST_F(HostileObjects, selectors_of_devices_go_with_the_claims_that_had_them) {
  const auto set_class = [&](const std::string& name, const std::string& text) {
    intake_.set(api::resources::kDeviceClasses,
                parse(R"({"metadata":{"name":")" + name + R"("},"spec":{"selectors":[{"cel":{"expression":")" + text +
                      R"("}}]}})"));
  };
  set_class("plain", "true");
  set_class("unreadable", "((");
  const auto id_of = [&](std::string_view text) {
    return model_.claims.selectors().by_text().at(std::string(text)).id;
  };
  const std::uint32_t plain = id_of("true"), unreadable = id_of("((");
  for (std::uint32_t i = 0; i < 2 * kSelectorsKept + 9; ++i)
    set_class("other", base::format("device.driver == 'd{}'", i));
  EXPECT_LE(model_.claims.selectors().by_text().size(), kSelectorsKept + 2);
  EXPECT_EQ(id_of("true"), plain);
  EXPECT_EQ(id_of("(("), unreadable);
  EXPECT_GT(id_of(base::format("device.driver == 'd{}'", 2 * kSelectorsKept + 8)), 2 * kSelectorsKept);
}

// Sums of what pods say they hold have an end; a card was free again where they wrapped.
TEST_F(HostileObjects, a_card_is_full_however_much_a_pod_says_that_it_holds) {
  intake_.set(api::resources::kNodes, parse(R"({"metadata":{"name":"n","annotations":{
      "volcano.sh/node-vgpu-register":"G,20000,16384,NVIDIA,true:"}},"status":{"allocatable":{"cpu":"8",
      "volcano.sh/vgpu-number":"9","volcano.sh/vgpu-memory":"16384","volcano.sh/vgpu-cores":"100"}}})"));
  intake_.set(api::resources::kPods, parse(R"({"metadata":{"name":"q","namespace":"ns","uid":"w"},
      "spec":{"schedulerName":"volcano","containers":[{"name":"c","resources":{"limits":{
      "volcano.sh/vgpu-number":"1","volcano.sh/vgpu-memory":"1000"}}}]},"status":{"phase":"Pending"}})"));
  const NodeId node = model_.nodes.find("n");
  const Task& task = model_.task(model_.find_task("ns/q"));
  const auto vgpu = make_vgpu(model_, {});
  DeviceMisfit misfit;
  EXPECT_TRUE(vgpu->take(task, node, {}, misfit).has_value());
  std::string held;
  for (int i = 0; i < 8'700; ++i) held += "G,N,1125899906842624,0:";
  set_pod(R"("volcano.sh/vgpu-ids-new":")" + held + '"', "", "");
  EXPECT_FALSE(vgpu->take(model_.task(model_.find_task("ns/q")), node, {}, misfit).has_value());
}

// Roles come from minTaskMember, and a group has room for tens of thousands: each was held against each.
TEST_F(HostileObjects, roles_beyond_a_thousand_have_no_topology) {
  const auto roles = [&](int count) {
    std::string list;
    for (int i = 0; i < count; ++i) list += base::format(R"({}"r{}":1)", i == 0 ? "" : ",", i);
    return R"(,"minTaskMember":{)" + list + "}";
  };
  const TaskTopologyPreference preference{"r1,r2", "", ""};
  EXPECT_TRUE(role_topology_from(preference, set_group("", roles(1024))).has_value());
  EXPECT_FALSE(role_topology_from(preference, set_group("", roles(1025))).has_value());
}

}  // namespace
}  // namespace scheduler

// Offers, forecasts, watermarks, and the order of victims.
#include "colocation/policy/eviction.h"

#include <gtest/gtest.h>

#include <deque>

#include "api/json/yaml.h"
#include "base/format.h"
#include "colocation/policy/advice.h"
#include "colocation/policy/history.h"

namespace colocation {
namespace {

using api::Json;
constexpr std::int64_t kGi = std::int64_t{1} << 30;

TEST(Offer, a_share_of_what_is_idle) {
  struct Row {
    NodeAmounts used;
    const char* types;
    std::int64_t exclusive;
    NodeAmounts offer;
  };
  for (const Row& row : {Row{{2000, 2000}, "cpu,memory", 0, {4800, 4800}},
                         {{12000, 2000}, "cpu,memory", 0, {0, 4800}},
                         {{2000, 2000}, "memory", 0, {0, 4800}},
                         {{2000, 2000}, "", 0, {0, 0}},
                         {{2000, 2000}, "cpu", 4000, {2400, 0}},
                         {{0, 0}, "cpu", 20000, {0, 0}}}) {
    EXPECT_EQ(offer_for({.allocatable = {10000, 10000},
                         .used = row.used,
                         .foreseen = {},
                         .exclusive_cpu_milli = row.exclusive,
                         .ratio_percent = 60,
                         .types = row.types}),
              row.offer)
        << row.types;
  }
  const NodeAmounts huge =
      offer_for({.allocatable = {INT64_MAX, INT64_MAX}, .used = {}, .foreseen = {}, .ratio_percent = INT64_MAX});
  EXPECT_GT(huge.cpu_milli, 0);
}

TEST(Offer, newer_ones_weigh_twice_as_much) {
  OfferRing ring;
  EXPECT_EQ(ring.mean(), NodeAmounts());
  ring.add({100, 10});
  ring.add({400, 40});
  EXPECT_EQ(ring.mean(), (NodeAmounts{(100 + 2 * 400) / 3, (10 + 2 * 40) / 3}));
  for (int i = 0; i < 10; ++i) ring.add({7, 7});
  EXPECT_EQ(ring.mean(), (NodeAmounts{7, 7}));
}

TEST(Offer, is_told_when_it_matters) {
  const base::Duration soon = base::seconds(10);
  EXPECT_FALSE(must_report({1000, 1000}, {1100, 1000}, soon));
  EXPECT_TRUE(must_report({1000, 1000}, {1101, 1000}, soon));
  EXPECT_TRUE(must_report({1000, 1000}, {1000, 899}, soon));
  EXPECT_TRUE(must_report({0, 1000}, {1, 1000}, soon));
  EXPECT_FALSE(must_report({0, 0}, {0, 0}, base::hours(1)));
  EXPECT_TRUE(must_report({1000, 1000}, {1001, 1000}, base::minutes(5)));
}

TEST(Offer, a_patch_has_only_what_changes) {
  const Json node =
      *api::parse_yaml("status: {capacity: {kubernetes.io/batch-cpu: '5'}, allocatable: {cpu: '4', memory: 1Gi}}");
  const NodeAmounts offer{5, 7};
  EXPECT_EQ(
      offer_patch(node, {}, &offer).dump(),
      R"({"status":{"capacity":{"kubernetes.io/batch-memory":"7"},"allocatable":{"kubernetes.io/batch-cpu":"5","kubernetes.io/batch-memory":"7"}}})");
  EXPECT_EQ(offer_patch(node, {}, nullptr).dump(), R"({"status":{"capacity":{"kubernetes.io/batch-cpu":null}}})");
  EXPECT_EQ(allocatable_of(node), (NodeAmounts{4000, kGi}));
}

TEST(History, foresees_the_peak_of_the_hour_and_of_the_next) {
  UsageHistory history;
  const base::Time monday{1'767'600'000'000'000'000};  // 08:00 of some day
  const NodeAmounts whole{32'000, 32 * kGi};
  EXPECT_EQ(history.foreseen(monday, 95, whole), NodeAmounts());
  for (int look = 0; look < 360; ++look) {
    history.add(monday, {2'000, 2 * kGi}, whole);
    history.add(monday + base::hours(1), {look < 300 ? 4'000 : 20'000, 2 * kGi}, whole);
  }
  EXPECT_EQ(history.foreseen(monday, 95, whole).cpu_milli, 21'000);
  EXPECT_EQ(history.foreseen(monday, 50, whole).cpu_milli, 5'000);
  EXPECT_EQ(history.foreseen(monday + base::hours(24 * 7), 95, whole).cpu_milli, 21'000);
  EXPECT_EQ(history.foreseen(monday + base::hours(5), 95, whole), NodeAmounts());
  UsageHistory copy;
  EXPECT_TRUE(copy.read(history.text()));
  EXPECT_EQ(copy.text(), history.text());
  EXPECT_FALSE(copy.read("1 2 3"));
  EXPECT_FALSE(copy.read(history.text() + " 1"));
  EXPECT_EQ(copy.text(), history.text());
  for (int look = 0; look < 100'000; ++look) copy.add(base::Time{-5}, whole, {});
  EXPECT_EQ(copy.foreseen(base::Time{-5}, 95, whole), NodeAmounts());
}

TEST(Advice, says_what_would_suffice_once_it_has_seen_enough) {
  Advice advice;
  for (int look = 0; look < 59; ++look)
    advice.add("a/Pod/p", {look < 57 ? 100 : 2000, 1000}, {4000, 8000}, base::seconds(look));
  EXPECT_EQ(advice.rows().size(), 0u);
  advice.add("a/Pod/p", {100, 2000}, {4000, 8000}, base::seconds(60));
  ASSERT_EQ(advice.rows().size(), 1u);
  const Json row = advice.rows()[std::size_t{0}];
  EXPECT_EQ(row["requestedCpuMilli"].as_int(), 4000);
  EXPECT_GE(row["advisedCpuMilli"].as_int(), 100);
  EXPECT_LE(row["advisedCpuMilli"].as_int(), 130);
  EXPECT_EQ(row["advisedMemoryBytes"].as_int(), 2200);
}

TEST(Advice, is_bounded) {
  Advice advice;
  for (std::size_t number = 0; number < kAdvisedMax + 10; ++number)
    for (int look = 0; look < 60; ++look)
      advice.add(base::format("a/Pod/{}", number), {INT64_MAX, INT64_MAX}, {}, base::seconds(static_cast<int>(number)));
  EXPECT_EQ(advice.rows().size(), kAdvisedMax);
}

Json node(const char* annotations) {
  return *api::parse_yaml(base::format("metadata: {{annotations: {}}}", annotations));
}

TEST(Watermarks, annotations_in_place_of_the_configuration) {
  Config config;
  config.cpu_high = 70;
  const Watermarks configured{70, 30, 60, 30};
  const auto marks = [&config](const char* annotations) {
    std::string problem;
    return watermarks_for(config, node(annotations), &problem);
  };
  EXPECT_EQ(marks("{}"), configured);
  EXPECT_EQ(marks("{volcano.sh/evicting-cpu-high-watermark: '90'}"), (Watermarks{90, 30, 60, 30}));
  EXPECT_EQ(marks("{volcano.sh/evicting-memory-low-watermark: '10'}"), (Watermarks{80, 30, 60, 10}));
  EXPECT_EQ(marks("{volcano.sh/oversubscription-evicting-cpu-high-watermark: '90'}"), (Watermarks{90, 30, 60, 30}));
  EXPECT_EQ(marks("{volcano.sh/oversubscription-evicting-cpu-high-watermark: '90', "
                  "volcano.sh/evicting-cpu-high-watermark: '50'}"),
            (Watermarks{50, 30, 60, 30}));
  for (const char* wrong :
       {"{volcano.sh/evicting-cpu-high-watermark: '-1'}", "{volcano.sh/evicting-cpu-high-watermark: x}",
        "{volcano.sh/evicting-cpu-high-watermark: '30'}", "{volcano.sh/evicting-memory-low-watermark: '60'}",
        "{volcano.sh/evicting-cpu-high-watermark: '9223372036854775808'}"})
    EXPECT_EQ(marks(wrong), configured) << wrong;
}

TEST(Pressure, six_looks_in_a_row) {
  PressureCount count;
  const Watermarks marks;
  for (int look = 0; look < 5; ++look) count.look(NodeResource::kCpu, 80, marks);
  EXPECT_FALSE(count.is_pressed(NodeResource::kCpu));
  count.look(NodeResource::kCpu, 80, marks);
  EXPECT_TRUE(count.is_pressed(NodeResource::kCpu));
  EXPECT_FALSE(count.is_pressed(NodeResource::kMemory));
  count.look(NodeResource::kCpu, 79, marks);
  EXPECT_FALSE(count.is_pressed(NodeResource::kCpu));
  EXPECT_EQ(percent_used(5, 0), -1);
  EXPECT_EQ(percent_used(5, 10), 50);
}

struct Pods {
  PodFacts& add(const std::string& name, std::int64_t memory, std::int64_t batch = 0) {
    PodFacts& pod = kept.emplace_back();
    pod.ns = "a", pod.name = pod.uid = name, pod.level = -1, pod.memory_bytes = memory, pod.batch_memory_bytes = batch;
    return pod;
  }
  // "x", or "x+y" for those that go together, in order.
  std::string order(EvictionInput input = {}) {
    input.resource = NodeResource::kMemory;
    for (const PodFacts& pod : kept) input.candidates.push_back({&pod, {}});
    std::string out;
    for (const Victim& victim : victims_in_order(input)) {
      if (!out.empty()) out += " ";
      for (const PodFacts* pod : victim.pods) out += (pod == victim.pods.front() ? "" : "+") + pod->name;
    }
    return out;
  }
  std::deque<PodFacts> kept;
};

TEST(Victims, the_largest_effective_request_goes_first) {
  Pods pods;
  pods.add("small", 1), pods.add("large", 9), pods.add("batch-small", 0, 3), pods.add("batch-large", 0, 5);
  EXPECT_EQ(pods.order(), "large small batch-large batch-small");
}

TEST(Victims, then_the_lower_priority_then_the_one_with_less_work_to_lose) {
  Pods pods;
  pods.add("old", 1).started = base::Time{100};
  pods.add("young", 1).started = base::Time{200};
  pods.add("important", 1).priority = 5;
  EXPECT_EQ(pods.order(), "young old important");
}

TEST(Victims, some_pods_never_go) {
  Pods pods;
  pods.add("online", 9).level = 0;
  pods.add("static", 9).critical = true;
  pods.add("deleting", 9).deleting = true;
  pods.add("ended", 9).ended = true;
  pods.add("offline", 1);
  EXPECT_EQ(pods.order(), "offline");
}

TEST(Victims, a_gang_that_loses_its_minimum_is_one_victim_and_goes_last) {
  Pods pods;
  for (const char* name : {"g1", "g2"}) pods.add(name, 9).group = "gang";
  for (const char* name : {"w1", "w2"}) pods.add(name, 5).group = "wide";
  pods.add("single", 1);
  EvictionInput input;
  input.gangs = {{"a/gang", {.running = 2, .min_member = 2}}, {"a/wide", {.running = 4, .min_member = 2}}};
  EXPECT_EQ(pods.order(input), "w1 w2 single g1+g2");
}

TEST(Victims, nobody_goes_while_enough_is_on_its_way_out) {
  Pods pods;
  pods.add("one", 5);
  EXPECT_EQ(pods.order({.excess = 5, .releasing = 5}), "");
  EXPECT_EQ(pods.order({.excess = 6, .releasing = 5}), "one");
  EXPECT_EQ(pods.order({.excess = 0, .releasing = 0}), "one");
}

}  // namespace
}  // namespace colocation

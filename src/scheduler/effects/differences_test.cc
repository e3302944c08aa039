// The differences from the scheduler that runs, and when they count.
#include "scheduler/effects/differences.h"

#include <gtest/gtest.h>

namespace scheduler {
namespace {

using api::Json;
using base::seconds;

constexpr base::Time kStart{1'767'225'600'000'000'000};

Json pod(const std::string& name, const std::string& node = "", const std::string& scheduler = "volcano") {
  return Json::object(
      {{"metadata", Json::object({{"name", name},
                                  {"namespace", "ns"},
                                  {"uid", "uid-" + name},
                                  {"annotations", Json::object({{"scheduling.k8s.io/group-name", "job"}})}})},
       {"spec", Json::object({{"schedulerName", scheduler}, {"nodeName", node}})}});
}
Plan binds(std::vector<std::pair<std::string, std::string>> pods) {
  Plan plan;
  for (const auto& [name, node] : pods)
    plan.binds.push_back({.ns = "ns", .pod = name, .uid = "uid-" + name, .node = node});
  return plan;
}
std::vector<std::string> words(Differences& differences) {
  std::vector<std::string> out;
  for (const Difference& one : differences.take_news())
    out.push_back(one.pod + " " + std::string(word_for(one.kind)) + " " + one.here + ">" + one.there);
  return out;
}
using Words = std::vector<std::string>;

TEST(Differences, what_the_other_binds_is_compared_with_what_would_have_been) {
  Differences differences({"volcano"});
  for (const char* name : {"a", "b", "c"}) differences.saw(pod(name), kStart);
  differences.saw(pod("other", "", "default-scheduler"), kStart);
  differences.decided(binds({{"a", "n1"}, {"b", "n2"}}), kStart);
  EXPECT_EQ(words(differences), Words{});
  differences.saw(pod("a", "n1"), kStart);
  differences.saw(pod("b", "n3"), kStart);
  differences.saw(pod("c", "n3"), kStart);
  differences.saw(pod("c", "n3"), kStart);
  differences.saw(pod("other", "n1", "default-scheduler"), kStart);
  const auto news = differences.take_news();
  EXPECT_EQ(Differences::lines(news),
            Words{"ns/job: 2 of 3 decisions differ: b: here n2, there n3; c: bound to n3, would wait here"});
  EXPECT_EQ(differences.report()["decisions"].dump(),
            R"({"same":1,"other_node":1,"only_there":1,"only_here":0,"evicted_here":0,"evicted_both":0})");
  EXPECT_EQ(differences.report()["differences"].size(), 2u);
  EXPECT_EQ(differences.report()["waiting"].as_int(), 0);
}

TEST(Differences, what_only_we_would_do_is_one_after_a_while_and_once) {
  Differences differences({"volcano"});
  differences.saw(pod("a"), kStart);
  differences.decided(binds({{"a", "n1"}}), kStart);
  ASSERT_TRUE(differences.next_due());
  EXPECT_EQ(*differences.next_due(), kStart + seconds(10));
  differences.decided(binds({{"a", "n2"}}), kStart + seconds(9));
  EXPECT_EQ(words(differences), Words{});
  differences.decided(binds({{"a", "n2"}}), kStart + seconds(10));
  differences.decided(binds({{"a", "n2"}}), kStart + seconds(11));
  EXPECT_EQ(words(differences), Words{"a only_here n2>"});
  EXPECT_FALSE(differences.next_due());
}

TEST(Differences, a_decision_counts_until_the_other_has_decided) {
  Differences differences({"volcano"});
  differences.saw(pod("a"), kStart);
  differences.saw(pod("b"), kStart);
  differences.decided(binds({{"a", "n1"}, {"b", "n1"}}), kStart);
  differences.decided({}, kStart + seconds(1));
  differences.saw(pod("a", "n1"), kStart + seconds(2));
  differences.gone("uid-b", kStart + seconds(3));
  differences.decided({}, kStart + seconds(20));
  EXPECT_EQ(words(differences), Words{"a same n1>n1"});
}

TEST(Differences, evictions_are_compared_with_what_goes) {
  Differences differences({"volcano"});
  Plan plan;
  for (const char* name : {"a", "b"})
    plan.evictions.push_back({.ns = "ns",
                              .pod = name,
                              .uid = std::string("uid-") + name,
                              .node = "n1",
                              .action = "reclaim",
                              .group = "ns/victims"});
  differences.decided(plan, kStart);
  differences.gone("uid-a", kStart + seconds(1));
  differences.decided(plan, kStart + seconds(10));
  EXPECT_EQ(words(differences), (Words{"a evicted_both >n1", "b evicted_here >n1"}));
}

}  // namespace
}  // namespace scheduler

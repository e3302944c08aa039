// From counters to means, and the pages that show them.
#include "node/machine/usage.h"

#include <gtest/gtest.h>

#include "node/machine/image_hook.h"
#include "node/os/usage_reader.h"

namespace node {
namespace {

using api::Json;
using api::NodeUsage;

NodeUsage reading(std::int64_t second, std::int64_t machine, std::int64_t container) {
  NodeUsage usage;
  usage.at = base::Time{second * 1'000'000'000};
  usage.node = "n1";
  usage.machine.cpu_nanoseconds = machine;
  usage.machine.working_set_bytes = 600;
  usage.memory_total_bytes = 1000;
  api::ContainerUsage one{"c", "id1", base::Time{5'000'000'000}, {}};
  one.usage.cpu_nanoseconds = container;
  one.usage.working_set_bytes = 4096;
  usage.pods.push_back({"ns", "p", "u1", {one}});
  return usage;
}

TEST(Usage, IsAMeanOverTheWindow) {
  const NodeUsage usage = usage_since(reading(100, 0, 1'000'000'000), reading(110, 15'000'000'000, 6'000'000'000));
  EXPECT_EQ(usage.window, base::seconds(10));
  EXPECT_EQ(usage.machine.cpu_nanocores, 1'500'000'000);
  EXPECT_EQ(usage.pods[0].containers[0].usage.cpu_nanocores, 500'000'000);
}

TEST(Usage, HasNoMeanOfWhatIsNewOrBeganAnew) {
  NodeUsage now = reading(110, 1, 6);
  now.pods[0].containers.push_back({"d", "id2", {}, {}});
  const NodeUsage usage = usage_since(reading(100, 0, 7), now);
  EXPECT_EQ(usage.pods[0].containers[0].usage.cpu_nanocores, -1);
  EXPECT_EQ(usage.pods[0].containers[1].usage.cpu_nanocores, -1);
  EXPECT_EQ(usage_since(reading(100, 0, 0), reading(100, 1, 1)).machine.cpu_nanocores, -1) << "no time went by";
}

TEST(Usage, IsShownAsAKubeletShowsIt) {
  const NodeUsage usage = usage_since(reading(100, 0, 1'000'000'000), reading(110, 15'000'000'000, 6'000'000'000));
  const Json summary = stats_summary(usage);
  EXPECT_EQ(summary["node"]["nodeName"].as_string(), "n1");
  EXPECT_EQ(summary["node"]["memory"]["availableBytes"].as_int(), 400);
  const Json& pod = summary["pods"][std::size_t{0}];
  EXPECT_EQ(pod["podRef"]["name"].as_string(), "p");
  EXPECT_EQ(pod["cpu"]["usageNanoCores"].as_int(), 500'000'000);
  EXPECT_EQ(pod["containers"][std::size_t{0}]["memory"]["workingSetBytes"].as_int(), 4096);
  const std::string resource = resource_metrics(usage);
  for (const char* line : {"\nnode_cpu_usage_seconds_total 15 110000\n",
                           "\ncontainer_cpu_usage_seconds_total{container=\"c\",namespace=\"ns\",pod=\"p\"} 6 110000\n",
                           "\npod_memory_working_set_bytes{namespace=\"ns\",pod=\"p\"} 4096 110000\n"})
    EXPECT_NE(resource.find(line), std::string::npos) << line << resource;
  const std::string containers = container_metrics(usage);
  EXPECT_NE(
      containers.find("container_memory_working_set_bytes{container=\"c\",id=\"/podu1/id1\",image=\"\",name=\"id1\","
                      "namespace=\"ns\",pod=\"p\"} 4096 110000\n"),
      std::string::npos)
      << containers;
}

TEST(Usage, OfTheMachineLeavesIdleTimeOut) {
  const api::Usage usage =
      machine_usage("cpu  100 20 30 9000 500 1 2 7 0 0\ncpu0 1 1 1 1\n",
                    "MemTotal: 1000 kB\nMemFree: 400 kB\nInactive(file): 100 kB\nAnonPages: 50 kB\n", 100);
  EXPECT_EQ(usage.cpu_nanoseconds, 153 * 10'000'000);
  EXPECT_EQ(usage.memory_bytes, 600 * 1024);
  EXPECT_EQ(usage.working_set_bytes, 500 * 1024);
}

TEST(ImageHook, NamesImagesThatAreNotHere) {
  const Json pod = *api::parse_json(
      R"({"spec": {"initContainers": [{"name": "i", "image": "here"}], "containers": [{"name": "a", "image": "here"}, {"name":
         "b", "image": "ngnix"}, {"name": "c", "image": "No Name"}]}})");
  EXPECT_EQ(
      image_warnings(pod, [](const std::string& image) { return image == "here"; }),
      (std::vector<std::string>{"spec.containers[1].image: \"ngnix\" is not imported: the host's root file system "
                                "stands in for it"}));
}

}  // namespace
}  // namespace node

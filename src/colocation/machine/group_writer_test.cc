// Writes, what is left alone, and what is taken back.
#include "colocation/machine/group_writer.h"

#include <gtest/gtest.h>

#include "colocation/machine/observe.h"
#include "colocation/made_up_machine_for_tests.h"

namespace colocation {
namespace {

using made_up::Machine;

struct Layout {
  const char* name;
  GroupVersion version;
  GroupDriver driver;
  const char* runtime;
};
constexpr Layout kLayouts[] = {
    {"v1 cgroupfs containerd", GroupVersion::kV1, GroupDriver::kCgroupfs, "containerd"},
    {"v1 systemd cri-o", GroupVersion::kV1, GroupDriver::kSystemd, "cri-o"},
    {"v2 cgroupfs containerd", GroupVersion::kV2, GroupDriver::kCgroupfs, "containerd"},
    {"v2 systemd containerd", GroupVersion::kV2, GroupDriver::kSystemd, "containerd"},
    {"v2 systemd cri-o", GroupVersion::kV2, GroupDriver::kSystemd, "cri-o"},
    {"v2 systemd docker", GroupVersion::kV2, GroupDriver::kSystemd, "docker"},
    {"v1 volcano", GroupVersion::kV1, GroupDriver::kOwn, "volcano"},
    {"v2 volcano", GroupVersion::kV2, GroupDriver::kOwn, "volcano"},
};

PodFacts offline_pod(const char* runtime) {
  PodFacts pod{.ns = "a", .name = "p", .uid = "11-22", .qos = QosClass::kBestEffort, .level = -1};
  ContainerFacts one{.name = "c", .id = std::string(runtime) + "://abc"};
  one.batch_request = {.cpu_milli = 2000, .memory_bytes = 1 << 30};
  one.batch_limit = one.batch_request;
  pod.containers.push_back(one);
  return pod;
}

std::vector<GroupValue> values_of(const Machine& machine, const PodFacts& pod) {
  const MachineReading look = read_machine({machine.paths, machine.tree, {pod}, true});
  Config config;
  config.colocation = config.cpu_qos = config.memory_qos = true;
  if (!look.groups.contains(pod.uid)) return {};
  return values_of_pod(machine.tree, SupportedFeatures({"*"}), config, pod, look.groups.at(pod.uid)).values;
}

TEST(GroupWriter, every_layout_is_written_and_taken_back) {
  for (const Layout& layout : kLayouts) {
    Machine machine(layout.version, layout.driver, layout.driver == GroupDriver::kOwn ? "volcano-1" : "");
    const PodFacts pod = offline_pod(layout.runtime);
    machine.make_group(pods_path(machine.tree));
    const std::string path = machine.make_pod(pod),
                      below = path + "/" + *container_group(machine.tree, pod.containers[0].id);
    const bool v1 = layout.version == GroupVersion::kV1;
    for (const std::string& one : {path, below})
      for (const char* file : {"cpu.qos_level", "memory.qos_level"}) machine.set_group(one, file, "0");
    GroupWriter writer(machine.tree, machine.folder() + "/book");
    const auto report = writer.apply(values_of(machine, pod), {}, true);
    EXPECT_EQ(report.failed, 0u) << layout.name;
    EXPECT_EQ(machine.group(below, v1 ? "cpu.shares" : "cpu.weight"), v1 ? "2048" : "200") << layout.name;
    EXPECT_EQ(machine.group(below, v1 ? "cpu.cfs_quota_us" : "cpu.max"), v1 ? "200000" : "200000 100000")
        << layout.name;
    EXPECT_EQ(machine.group(path, v1 ? "memory.limit_in_bytes" : "memory.max"), "1073741824") << layout.name;
    EXPECT_EQ(machine.group(below, "cpu.qos_level"), "-1") << layout.name;
    EXPECT_EQ(machine.group(path, "memory.qos_level"), "-1") << layout.name;
    EXPECT_TRUE(writer.apply(values_of(machine, pod), {}, true).entries.empty()) << layout.name;
    writer.apply({}, {}, true);
    EXPECT_EQ(machine.group(below, v1 ? "cpu.shares" : "cpu.weight"), v1 ? "1024" : "100") << layout.name;
    EXPECT_EQ(machine.group(path, "cpu.qos_level"), "0") << layout.name;
    EXPECT_EQ(machine.group(path, v1 ? "memory.limit_in_bytes" : "memory.max"), v1 ? "9223372036854771712" : "max")
        << layout.name;
    EXPECT_EQ(writer.kept(), 0u) << layout.name;
  }
}

TEST(GroupWriter, what_another_wrote_meanwhile_is_what_comes_back) {
  Machine machine;
  const PodFacts pod = offline_pod("containerd");
  const std::string path = machine.make_pod(pod);
  GroupWriter writer(machine.tree, "");
  const std::vector<GroupValue> desired = {{Feature::kResources, "cpu", path, "cpu.weight", "7"}};
  writer.apply(desired, {}, true);
  machine.set_group(path, "cpu.weight", "55");
  const auto report = writer.apply(desired, {}, true);
  ASSERT_EQ(report.entries.size(), 1u);
  EXPECT_EQ(report.entries[0].before, "55");
  EXPECT_EQ(machine.group(path, "cpu.weight"), "7");
  writer.apply({}, {}, true);
  EXPECT_EQ(machine.group(path, "cpu.weight"), "55");
}

TEST(GroupWriter, a_weight_of_ours_is_not_what_an_idle_group_gets_back) {
  Machine machine;
  const std::string path = machine.make_pod(offline_pod("containerd"));
  machine.set_group(path, "cpu.idle", "0");
  GroupWriter writer(machine.tree, "");
  writer.apply({{Feature::kResources, "cpu", path, "cpu.weight", "7"}}, {}, true);
  writer.apply({{Feature::kCpuQos, "cpu", path, "cpu.idle", "1", "cpu.weight"}}, {}, true);
  machine.set_group(path, "cpu.weight", "0");  // as the kernel shows it
  writer.apply({}, {}, true);
  EXPECT_EQ(machine.group(path, "cpu.idle"), "0");
  EXPECT_EQ(machine.group(path, "cpu.weight"), "100");
}

TEST(GroupWriter, only_groups_of_pods_are_touched) {
  Machine machine;
  machine.make_group("system.slice");
  machine.make_group("kubepods");
  machine.make_group("kubepods/burstable");
  machine.make_group("kubepods/burstable/podx");
  GroupWriter writer(machine.tree, "");
  for (const char* path :
       {"system.slice", "kubepods", "kubepods/burstable", "kubepods/burstable/podx/../../../system.slice"}) {
    const auto report = writer.apply({{Feature::kResources, "cpu", path, "cpu.weight", "7"}}, {}, true);
    EXPECT_EQ(report.failed, 1u) << path;
  }
  EXPECT_EQ(machine.group("system.slice", "cpu.weight"), "100");
  EXPECT_EQ(machine.group("kubepods/burstable", "cpu.weight"), "100");
  EXPECT_EQ(writer.apply({{Feature::kResources, "cpu", "kubepods/burstable/podx", "cpu.weight", "7"}}, {}, true).failed,
            0u);
}

TEST(GroupWriter, a_book_of_strangers_leads_nowhere) {
  Machine machine;
  machine.make_group("system.slice");
  const std::string file = machine.group_file("system.slice", "cpu.weight");
  machine.write("book", R"({")" + file + R"(":{"feature":"Resources","before":"1","value":"100"}})");
  GroupWriter writer(machine.tree, machine.folder() + "/book");
  writer.apply({}, {}, true);
  EXPECT_EQ(machine.read(file), "100");
  for (const char* text : {"", "[]", "{", R"({"x":1})"}) {
    machine.write("book", text);
    EXPECT_EQ(GroupWriter(machine.tree, machine.folder() + "/book").kept(), 0u);
  }
}

TEST(GroupWriter, groups_that_vanish_and_books_that_cannot_be_kept_stop_nothing) {
  Machine machine;
  const PodFacts pod = offline_pod("containerd");
  const std::string path = machine.make_pod(pod);
  GroupWriter writer(machine.tree, machine.folder() + "/no/such/folder/book");
  const auto report = writer.apply({{Feature::kResources, "cpu", path, "cpu.weight", "7"},
                                    {Feature::kResources, "cpu", path + "/gone", "cpu.weight", "7"}},
                                   {}, true);
  EXPECT_EQ(report.failed, 0u);
  EXPECT_FALSE(report.trouble.empty());
  EXPECT_EQ(machine.group(path, "cpu.weight"), "7");
  machine.remove(group_folder(machine.tree, "cpu", path));
  EXPECT_EQ(writer.apply({}, {}, true).failed, 0u);
  EXPECT_EQ(writer.kept(), 0u);
}

}  // namespace
}  // namespace colocation

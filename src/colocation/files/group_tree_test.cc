// Names of groups, by version, driver and runtime; and finding out which they are.
#include "colocation/files/group_tree.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "colocation/made_up_machine_for_tests.h"

namespace colocation {
namespace {

using enum GroupDriver;
using enum QosClass;
constexpr const char* kUid = "1f-2e";

TEST(GroupTree, paths_of_pods) {
  struct Row {
    GroupDriver driver;
    const char* above;
    QosClass qos;
    const char* path;
  };
  for (const Row& row : {
           Row{kCgroupfs, "", kGuaranteed, "kubepods/pod1f-2e"},
           {kCgroupfs, "", kBurstable, "kubepods/burstable/pod1f-2e"},
           {kCgroupfs, "", kBestEffort, "kubepods/besteffort/pod1f-2e"},
           {kCgroupfs, "/a/b", kBurstable, "a/b/kubepods/burstable/pod1f-2e"},
           {kSystemd, "", kGuaranteed, "kubepods.slice/kubepods-pod1f_2e.slice"},
           {kSystemd, "", kBurstable, "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1f_2e.slice"},
           {kSystemd, "a-b", kBestEffort,
            "a_b.slice/a_b-kubepods.slice/a_b-kubepods-besteffort.slice/a_b-kubepods-besteffort-pod1f_2e.slice"},
           {kOwn, "volcano-12", kBurstable, "volcano-12/pod1f-2e"},
       })
    EXPECT_EQ(pod_path({.driver = row.driver, .above = row.above}, row.qos, kUid), row.path);
  EXPECT_EQ(pod_path({}, kBurstable, "../../etc"), std::nullopt);
  EXPECT_EQ(pod_path({}, kBurstable, ""), std::nullopt);
}

TEST(GroupTree, groups_of_containers) {
  struct Row {
    GroupDriver driver;
    const char* id;
    const char* name;  // empty: none
  };
  for (const Row& row : {Row{kCgroupfs, "containerd://abc", "abc"},
                         {kCgroupfs, "cri-o://abc", "abc"},
                         {kSystemd, "containerd://abc", "cri-containerd-abc.scope"},
                         {kSystemd, "docker://abc", "docker-abc.scope"},
                         {kSystemd, "cri-o://abc", "crio-abc.scope"},
                         {kSystemd, "other://abc", "abc"},
                         {kOwn, "volcano://uid-name-0", "uid-name-0"},
                         {kCgroupfs, "", ""},
                         {kCgroupfs, "containerd://", ""},
                         {kCgroupfs, "containerd://../../x", ""},
                         {kCgroupfs, "containerd://.hidden", ""}})
    EXPECT_EQ(container_group({.driver = row.driver}, row.id).value_or(""), row.name) << row.id;
}

TEST(GroupTree, version_1_has_a_hierarchy_a_controller) {
  EXPECT_EQ(group_folder({.version = GroupVersion::kV1, .root = "/r"}, "cpu", "kubepods"), "/r/cpu/kubepods");
  EXPECT_EQ(group_folder({.version = GroupVersion::kV2, .root = "/r"}, "cpu", "kubepods"), "/r/kubepods");
}

TEST(GroupTree, the_driver_is_the_first_that_is_named) {
  const auto driver = [](const made_up::Machine& machine, const std::string& variable = "") {
    return find_group_tree(
               machine.paths,
               [&variable](const std::string& name) { return name == "CGROUP_DRIVER" ? variable : std::string(); }, "")
        .driver;
  };
  made_up::Machine machine;
  EXPECT_EQ(driver(machine), kCgroupfs);
  machine.write("cgroup/system.slice/x", "");
  EXPECT_EQ(driver(machine), kSystemd);
  machine.write("proc/77/comm", "kubelet\n");
  machine.write("proc/77/cmdline", "kubelet --cgroup-driver cgroupfs");
  EXPECT_EQ(driver(machine), kCgroupfs);
  machine.write("kubelet/kubeadm-flags.env", "KUBELET_KUBEADM_ARGS=\"--cgroup-driver=systemd\"");
  EXPECT_EQ(driver(machine), kSystemd);
  machine.write("kubelet/config.yaml", "cgroupDriver: cgroupfs\n");
  EXPECT_EQ(driver(machine), kCgroupfs);
  EXPECT_EQ(driver(machine, "systemd"), kSystemd);
  EXPECT_EQ(driver(machine, "nonsense"), kCgroupfs);
}

TEST(GroupTree, the_version_is_that_of_the_file_system_or_as_tests_say) {
  made_up::Machine machine;
  const auto version = [&machine](const std::string& word) {
    return find_group_tree(
               machine.paths,
               [&word](const std::string& name) {
                 return name == "VOLCANO_TEST_CGROUP_VERSION" ? word : std::string();
               },
               "")
        .version;
  };
  EXPECT_EQ(version(""), GroupVersion::kV1);
  EXPECT_EQ(version("v2"), GroupVersion::kV2);
  EXPECT_EQ(version("2"), GroupVersion::kV2);
  EXPECT_EQ(version("1"), GroupVersion::kV1);
}

TEST(HostFiles, nothing_but_a_small_regular_file_is_read) {
  made_up::Machine machine;
  const std::string file = machine.folder() + "/file", link = machine.folder() + "/link",
                    pipe = machine.folder() + "/pipe";
  machine.write(file, "text");
  ASSERT_EQ(::symlink(file.c_str(), link.c_str()), 0);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(*read_host_file(file), "text");
  EXPECT_FALSE(read_host_file(link).ok());
  EXPECT_EQ(read_host_file(pipe).error().code, base::Code::kInvalid);
  EXPECT_EQ(read_host_file(machine.folder()).error().code, base::Code::kInvalid);
  EXPECT_EQ(read_host_file(machine.folder() + "/gone").error().code, base::Code::kNotFound);
  machine.write(file, std::string(kFileBytesMax + 1, 'x'));
  EXPECT_EQ(read_host_file(file).error().code, base::Code::kTooLarge);
  EXPECT_EQ(write_host_file(machine.folder() + "/gone", "1").error().code, base::Code::kNotFound);
  EXPECT_FALSE(write_host_file(link, "1").ok());
}

}  // namespace
}  // namespace colocation

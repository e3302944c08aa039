// Control groups of v2 alone: what containers see of them, and how they end.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>

#include "node/os/cgroups.h"
#include "node/os/pod_folders.h"
#include "node/os/runc/oci_bundle.h"
#include "rt/files/files.h"

namespace node {
namespace {

using api::Json;

Json linux_of(bool unified, bool privileged) {
  ContainerSpec spec;
  spec.command = {"x"};
  spec.privileged = privileged;
  BundleInput input;
  input.spec = &spec;
  input.unified_cgroups = unified;
  return (*make_bundle(input))["linux"];
}

bool has_own_groups(const Json& linux) {
  return linux["namespaces"].dump().find(R"({"type":"cgroup"})") != std::string::npos;
}

// Without a namespace /sys/fs/cgroup is the whole machine's, and a program finds no memory.max of its own there.
TEST(UnifiedCgroups, a_container_sees_its_own_group) {
  EXPECT_TRUE(has_own_groups(linux_of(true, false)));
  EXPECT_FALSE(has_own_groups(linux_of(true, true)));
  EXPECT_FALSE(has_own_groups(linux_of(false, false)));
}

TEST(UnifiedCgroups, a_container_without_memory_ends_as_a_whole) {
  EXPECT_EQ(linux_of(true, false)["resources"]["unified"].dump(), R"({"memory.oom.group":"1"})");
  EXPECT_FALSE(linux_of(false, false)["resources"].has("unified"));
}

std::string folder_for_test() {
  std::string folder = testing::TempDir() + "/unified-XXXXXX";
  return ::mkdtemp(folder.data()) == nullptr ? std::string() : folder;
}

TEST(UnifiedCgroups, pods_have_no_swap_where_the_kernel_can_tell) {
  const std::string folder = folder_for_test();
  const std::string file = folder + "/memory.swap.max";
  EXPECT_FALSE(write_cgroup({{file, "0"}}).ok());
  EXPECT_TRUE(write_cgroup({{file, "0", true}}).ok());
  ASSERT_TRUE(rt::write_file(file, "max", 0600).ok());
  EXPECT_TRUE(write_cgroup({{file, "0", true}}).ok());
  EXPECT_EQ(read_text(file), "0ax");
  remove_tree(folder);
}

// In a container of another machine.
TEST(UnifiedCgroups, processes_at_the_top_make_room) {
  std::map<std::string, std::string> files = {{"/c/cgroup.procs", "1\n0\n7\n"}};
  const auto read = [&](const std::string& path) { return files[path]; };
  const CgroupLayout v2{{}, "/c"}, v1{{{"cpu", "/c"}}, ""};
  EXPECT_TRUE(plan_room_at_top(v2, read).files.empty());
  files["/c/cgroup.type"] = "domain\n";
  EXPECT_TRUE(plan_room_at_top(v1, read).files.empty());
  const CgroupPlan plan = plan_room_at_top(v2, read);
  EXPECT_EQ(plan.folders, std::vector<std::string>{"/c/volcano-others"});
  const std::vector<FileWrite> moves = {{"/c/volcano-others/cgroup.procs", "1"},
                                        {"/c/volcano-others/cgroup.procs", "7"}};
  EXPECT_EQ(plan.files, moves);
  files["/c/cgroup.procs"] = "0\n";
  EXPECT_TRUE(plan_room_at_top(v2, read).folders.empty());
}

// A container that may write its control groups can have made some of its own.
TEST(UnifiedCgroups, what_runs_in_groups_below_is_killed_too) {
  const std::string folder = folder_for_test();
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  ASSERT_TRUE(rt::make_folders(folder + "/pod/below", 0700).ok());
  ASSERT_TRUE(rt::write_file(folder + "/pod/below/cgroup.procs", std::to_string(child) + "\n", 0600).ok());
  kill_cgroup({{}, folder}, "/pod");
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  remove_tree(folder);
}

}  // namespace
}  // namespace node

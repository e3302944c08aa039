// How a pod's folder tells that the pod's sandbox is gone.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "api/json/json.h"
#include "node/os/pod_folders.h"
#include "node/os/proc.h"
#include "rt/files/files.h"

namespace node {
namespace {

class LostSandbox : public testing::Test {
 protected:
  ~LostSandbox() override { (void)rt::remove_tree(home); }

  // A pod on the host's network whose control group is a folder of the test.
  void write(const std::vector<VolumeSpec>& volumes = {}) {
    write_file(home + "/cgroup/podu/tasks", "");
    SandboxSpec spec{.uid = "u", .ns = "ns", .name = "p", .hostname = "p", .host_network = true, .volumes = volumes};
    spec.first_attempts = {{"a", 1}};
    ASSERT_TRUE(rt::make_folders(folders.pod("u"), 0700).ok());
    ASSERT_TRUE(folders.write_pod(spec, "10.0.0.9", "/podu").ok());
  }
  void write_file(const std::string& path, const std::string& text) {
    ASSERT_TRUE(rt::make_folders(path.substr(0, path.rfind('/')), 0700).ok());
    ASSERT_TRUE(rt::write_file(path, text, 0600).ok());
  }
  void run(const char* name, int attempt, const std::string& monitor) {
    const std::string folder = folders.container("u", name, attempt);
    for (const char* file : {"/pid", "/started"}) write_file(folder + file, "1");
    write_file(folder + "/id", name + std::to_string(attempt));
    write_file(folder + "/monitor", monitor);
  }
  RecoveredPod recovered() {
    Exits exits;
    EXPECT_TRUE(exits.open(folders.exits(), [](ExitedContainer) {}).ok());
    const std::vector<RecoveredPod> pods = folders.recover(exits, cgroups);
    EXPECT_EQ(pods.size(), 1u);
    return pods.front();
  }

  std::string home = [] {
    char path[] = "/tmp/lost-sandbox-test-XXXXXX";
    return std::string(::mkdtemp(path));
  }();
  PodFolders folders{home};
  CgroupLayout cgroups{{}, home + "/cgroup"};
};

TEST_F(LostSandbox, OneThatIsThereIsWhole) {
  write();
  run("a", 0, "1 1");  // of a sandbox before
  run("a", 1, describe_process(::getpid()));
  const RecoveredPod pod = recovered();
  EXPECT_TRUE(pod.prepared);
  EXPECT_EQ(pod.first_attempts, (std::map<std::string, int>{{"a", 1}}));
}

TEST_F(LostSandbox, AfterARebootAllIsGone) {
  write();
  auto json = api::parse_json(read_text(folders.pod("u") + "/pod.json"));
  ASSERT_TRUE(json.ok());
  json->set("boot", "another");
  write_file(folders.pod("u") + "/pod.json", json->dump());
  EXPECT_EQ(folders.missing_of_sandbox("u", cgroups), "all, by a reboot");
  EXPECT_FALSE(recovered().prepared);
}

TEST_F(LostSandbox, EachPartIsMissed) {
  write({{.name = "v", .memory = true}});
  EXPECT_EQ(folders.missing_of_sandbox("u", cgroups), "the volume v in memory");
  write();
  EXPECT_EQ(folders.missing_of_sandbox("u", cgroups), "");
  write_file(folders.pod("u") + "/sandbox/pid", "1 1");
  EXPECT_EQ(folders.missing_of_sandbox("u", cgroups), "the process namespace");
  (void)rt::remove_tree(home + "/cgroup");
  EXPECT_EQ(folders.missing_of_sandbox("u", cgroups), "the control group");
  ::unlink((folders.pod("u") + "/pod.json").c_str());
  EXPECT_EQ(folders.missing_of_sandbox("u", cgroups), "its description");
}

TEST_F(LostSandbox, ContainersWhoseEndNobodySawAreNotAloneLost) {
  write();
  run("a", 1, "1 1");
  EXPECT_FALSE(recovered().prepared);
  run("b", 0, describe_process(::getpid()));
  EXPECT_TRUE(recovered().prepared) << "another one runs";
}

TEST(Processes, OneOfAnotherBootIsNotThere) {
  const std::string description = describe_process(::getpid());
  EXPECT_EQ(described_process(description), ::getpid());
  EXPECT_EQ(described_process(description.substr(0, description.rfind(' '))), ::getpid())
      << "written by older versions";
  EXPECT_EQ(described_process(description + "0"), 0);
}

}  // namespace
}  // namespace node

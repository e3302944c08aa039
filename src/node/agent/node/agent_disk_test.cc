// Pods that keep more on the disk than they may.
#include <gtest/gtest.h>

#include "base/format.h"
#include "node/agent/agent_world_for_tests.h"
#include "node/pod/disk_limits.h"

namespace node {
namespace {

using api::Json;
using made_up::World;

TEST(AgentDisk, APodThatKeepsTooMuchOnTheDiskIsEvicted) {
  World world;
  world.start();
  world.put(
      "{restartPolicy: Always, terminationGracePeriodSeconds: 600, containers: [{name: a, image: i}], "
      "volumes: [{name: v, emptyDir: {sizeLimit: 1Mi}}]}",
      ", uid: u1");
  world.machine.disk_use.volumes["v"] = 1 << 20;
  world.env.run_for(base::seconds(11));
  EXPECT_EQ(world.pod()["status"]["phase"].as_string(), "Running");
  world.machine.disk_use.volumes["v"] = 2 << 20;
  world.env.run_for(base::seconds(10));
  const std::string why = R"(Usage of EmptyDir volume "v" exceeds the limit "1Mi". )";
  EXPECT_EQ(world.pod()["status"]["phase"].as_string(), "Failed");
  EXPECT_EQ(world.pod()["status"]["reason"].as_string(), "Evicted");
  EXPECT_EQ(world.pod()["status"]["message"].as_string(), why);
  const Json target = world.pod()["status"]["conditions"].items().back();
  EXPECT_EQ(target["type"].as_string(), "DisruptionTarget");
  EXPECT_EQ(target["reason"].as_string(), "TerminationByKubelet");
  world.env.run_for(base::seconds(2));
  EXPECT_EQ(world.machine.log,
            (std::vector<std::string>{"prepare p", "start a", "measure a", "measure a", "term", "kill", "remove"}))
      << "a second to end, and it is not started again";
  EXPECT_TRUE(world.reasons().contains("Evicted"));
}

// A container that had been started again before is not said to be on its way back.
TEST(AgentDisk, APodThatIsEvictedHasNoBackOff) {
  for (const char* policy : {"Always", "OnFailure"}) {
    World world;
    world.start();
    world.put(
        base::format("{{restartPolicy: {}, containers: [{{name: a, image: i}}], "
                     "volumes: [{{name: v, emptyDir: {{sizeLimit: 1Mi}}}}]}}",
                     policy));
    world.machine.exit(world.id(), 1);
    world.env.run_for(base::seconds(1));
    world.machine.disk_use.volumes["v"] = 2 << 20;
    world.env.run_for(base::seconds(20));
    EXPECT_EQ(world.pod()["status"]["reason"].as_string(), "Evicted");
    EXPECT_EQ(world.container()["restartCount"].as_int(), 1);
    EXPECT_FALSE(world.reasons().contains("BackOff"));
  }
}

TEST(AgentDisk, APodWithoutLimitsGoesOnlyForTheFilesThatItIsGiven) {
  World world;
  world.start();
  world.put("{restartPolicy: Always, containers: [{name: a, image: i}], volumes: [{name: v, emptyDir: {}}]}");
  world.env.run_for(base::minutes(1));
  EXPECT_EQ(world.machine.log, (std::vector<std::string>{"prepare p", "start a"})) << "not measured as a whole";
  world.machine.disk_use.given = kGivenBytesMax + 1;
  world.env.run_for(base::seconds(20));
  EXPECT_EQ(world.pod()["status"]["reason"].as_string(), "Evicted");
}

}  // namespace
}  // namespace node

// Volumes of running pods follow the objects that they come from, and no others.
#include <gtest/gtest.h>

#include "base/format.h"
#include "node/agent/agent_world_for_tests.h"

namespace node {
namespace {

using api::Json;
using made_up::World;

TEST(AgentVolumes, OnlyVolumesWhoseObjectsChangedAreLaidOutAnew) {
  World world;
  const auto map = [&world](const char* ns, const char* value) {
    world.server.put(
        api::resources::kConfigMaps,
        *api::parse_yaml(base::format("{{metadata: {{name: cm, namespace: {}}}, data: {{a: '{}'}}}}", ns, value)));
    world.env.run_for(base::seconds(1));
    return std::exchange(world.machine.log, {});
  };
  using Log = std::vector<std::string>;
  world.start();
  (void)map("ns", "1");
  world.put(
      "{containers: [{name: a, image: i}], volumes: [{name: v, projected: {sources: [{configMap: {name: cm}}]}}, "
      "{name: "
      "w, downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.annotations}}]}}]}");
  EXPECT_EQ(map("elsewhere", "1"), (Log{"prepare p", "start a"}));
  EXPECT_EQ(map("ns", "1"), Log());
  EXPECT_EQ(map("ns", "2"), (Log{"update v"}));
  Json changed = world.pod();
  changed.edit("metadata").set("annotations", Json::object({{"a", "b"}}));
  world.server.put(api::resources::kPods, changed);
  EXPECT_EQ(map("elsewhere", "2"), (Log{"update w"}));
}

TEST(AgentVolumes, LaysOutWhatChangedWhileItWasAway) {
  World world;
  world.server.put(api::resources::kConfigMaps,
                   *api::parse_yaml("{metadata: {name: cm, namespace: ns}, data: {a: '1'}}"));
  world.put("{containers: [{name: a, image: i}], volumes: [{name: v, configMap: {name: cm}}]}", ", uid: u1");
  RecoveredPod found{.uid = "u1", .ns = "ns", .name = "p", .ip = "10.0.0.5", .prepared = true};
  found.containers.push_back(
      {.name = "a", .attempt = 0, .id = "c1", .started = true, .running = true, .started_at = world.env.now()});
  world.machine.recovered = {found};
  world.start();
  EXPECT_EQ(world.machine.log, (std::vector<std::string>{"update v"}));
}

}  // namespace
}  // namespace node

// What is different where the machine's control groups are v2 alone: what containers see of them, and how they end.
#include <gtest/gtest.h>

#include "node/os/cgroups.h"
#include "node/os/oci_bundle.h"

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

}  // namespace
}  // namespace node

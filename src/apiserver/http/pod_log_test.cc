// Whose log is meant, and why there is none.
#include "apiserver/http/pod_log.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"

namespace apiserver {
namespace {

TEST(PodLog, why_there_is_none_is_said_as_a_kubelet_says_it) {
  const std::pair<const char*, const char*> rows[] = {
      {"{}", R"(container "c" in pod "p" is not available)"},
      {"{containerStatuses: [{name: c}]}", R"(container "c" in pod "p" is waiting to start - no logs yet)"},
      {"{containerStatuses: [{name: c, state: {waiting: {reason: ErrImagePull}}}]}",
       R"(container "c" in pod "p" is waiting to start: image can't be pulled)"},
      {"{containerStatuses: [{name: c, state: {waiting: {reason: ImagePullBackOff}}}]}",
       R"(container "c" in pod "p" is waiting to start: trying and failing to pull image)"},
      {"{initContainerStatuses: [{name: c, state: {waiting: {reason: PodInitializing}}}]}",
       R"(container "c" in pod "p" is waiting to start: PodInitializing)"},
      {"{ephemeralContainerStatuses: [{name: c, state: {waiting: {reason: ContainerCreating}}}]}",
       R"(container "c" in pod "p" is waiting to start: ContainerCreating)"},
      {"{containerStatuses: [{name: c, state: {running: {}}}]}", ""},
      {"{containerStatuses: [{name: c, state: {terminated: {reason: StartError}}}]}", ""},
      {"{containerStatuses: [{name: c, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {}}}]}",
       ""},
  };
  for (const auto& [status, why] : rows) {
    const auto pod = api::parse_yaml(std::string("{metadata: {name: p}, status: ") + status + "}");
    ASSERT_TRUE(pod.ok()) << status;
    EXPECT_EQ(why_no_log(*pod, "c"), why) << status;
  }
}

TEST(PodLog, a_container_has_to_be_named_where_there_are_several) {
  const auto pod =
      api::parse_yaml("{metadata: {name: p}, spec: {initContainers: [{name: i}], containers: [{name: a}, {name: b}]}}");
  EXPECT_EQ(choose_container(*pod, "").error().message,
            "a container name must be specified for pod p, choose one of: [a b] or one of the init containers: [i]");
  EXPECT_EQ(*choose_container(*pod, "i"), "i");
  EXPECT_EQ(choose_container(*pod, "x").error().message, "container x is not valid for pod p");
}

}  // namespace
}  // namespace apiserver

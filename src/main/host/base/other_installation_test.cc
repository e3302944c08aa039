// Two installations that care for the same pods.
#include "main/host/base/other_installation.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"

namespace volcano_main {
namespace {

constexpr std::string_view kPod =
    "{metadata: {name: s, namespace: other}, spec: {containers: [{command: [vc-scheduler], args: [--x, why]}]}, "
    "status: {phase: Running}}";

OtherInstallationOptions options_with(std::optional<Installation> other) {
  OtherInstallationOptions options{.program = "scheduler", .app = "volcano-scheduler", .ns = "volcano-system"};
  options.own = {.scheduler_names = {"volcano"}, .lease_namespace = "volcano-system", .lease_name = "vc-scheduler"};
  options.read = [other](const std::vector<std::string>&) { return other; };
  return options;
}

TEST(OtherInstallationTest, words_are_those_of_the_first_container) {
  EXPECT_EQ(words_of_program(*api::parse_yaml(std::string(kPod))),
            (std::vector<std::string>{"vc-scheduler", "--x", "why"}));
  EXPECT_TRUE(words_of_program(api::Json()).empty());
}

TEST(OtherInstallationTest, pods_of_one_scheduler_have_one_installation) {
  const api::Json pod = *api::parse_yaml(std::string(kPod));
  const Installation same_lease{
      .scheduler_names = {"volcano"}, .lease_namespace = "volcano-system", .lease_name = "vc-scheduler"};
  Installation own_lease = same_lease, other_name = same_lease, sharing = same_lease;
  own_lease.lease_namespace = "other";
  other_name.lease_namespace = "other";
  other_name.scheduler_names = {"mine"};
  sharing.lease_namespace = "other";
  sharing.shares = true;
  EXPECT_EQ(conflict_with(pod, options_with(same_lease)), "");  // one of them stands by
  EXPECT_NE(conflict_with(pod, options_with(own_lease)).find("second installation in namespace other"),
            std::string::npos);
  EXPECT_EQ(conflict_with(pod, options_with(other_name)), "");
  EXPECT_EQ(conflict_with(pod, options_with(sharing)), "");
  EXPECT_NE(conflict_with(pod, options_with(std::nullopt)), "");  // its flags cannot be read: the usual ones
}

TEST(OtherInstallationTest, a_pod_that_does_not_run_is_no_installation) {
  api::Json pod = *api::parse_yaml(std::string(kPod));
  Installation other{.scheduler_names = {"volcano"}, .lease_namespace = "other", .lease_name = "x"};
  pod.edit("status").set("phase", "Pending");
  EXPECT_EQ(conflict_with(pod, options_with(other)), "");
  pod.edit("status").set("phase", "Running");
  pod.edit("metadata").set("namespace", "volcano-system");
  EXPECT_EQ(conflict_with(pod, options_with(other)), "");  // this pod itself
  pod.edit("metadata").set("namespace", "other");
  pod.edit("metadata").set("deletionTimestamp", "2026-01-01T00:00:00Z");
  EXPECT_EQ(conflict_with(pod, options_with(other)), "");
}

}  // namespace
}  // namespace volcano_main

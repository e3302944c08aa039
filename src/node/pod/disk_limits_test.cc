// When is a pod evicted for what it keeps on the disk, and with which words?
#include "node/pod/disk_limits.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"

namespace node {
namespace {

using api::Json;

struct Row {
  const char* spec;
  DiskUse use;
  const char* why;  // empty: it stays
};

TEST(DiskLimits, a_pod_is_beyond_the_first_limit_that_it_breaks) {
  constexpr std::int64_t kMi = 1 << 20;
  static constexpr const char* kVolume = "{volumes: [{name: v, emptyDir: {sizeLimit: 1Mi}}], containers: [{name: a}]}";
  static constexpr const char* kContainer =
      "{volumes: [{name: v, emptyDir: {}}, {name: m, emptyDir: {medium: Memory}}], containers: "
      "[{name: a, resources: {limits: {ephemeral-storage: 2Mi}}}, {name: b, resources: {limits: {ephemeral-storage: "
      "6M}}}]}";
  const Row rows[] = {
      {kVolume, {{{"v", kMi}}, {}}, ""},
      {kVolume, {{{"v", kMi + 1}}, {}}, R"(Usage of EmptyDir volume "v" exceeds the limit "1Mi". )"},
      {kVolume, {{}, {{"a", 100 * kMi}}}, ""},
      {"{volumes: [{name: v, emptyDir: {sizeLimit: 0}}], containers: [{name: a}]}", {{{"v", kMi}}, {}}, ""},
      {kContainer, {{}, {{"a", 2 * kMi}, {"b", 6'000'000}}}, ""},
      {kContainer,
       {{}, {{"a", 2 * kMi + 1}, {"b", 0}}},
       R"(Container a exceeded its local ephemeral storage limit "2Mi". )"},
      {kContainer,
       {{{"v", 3 * kMi}}, {{"a", kMi}, {"b", 5 * kMi}}},
       "Pod ephemeral local storage usage exceeds the total limit of containers 8097152. "},
      {kContainer, {{{"m", 100 * kMi}}, {{"a", kMi}}}, ""},
      {kContainer,
       {{}, {{"a", kMi}}, 8'000'000, kMi},
       "Pod ephemeral local storage usage exceeds the total limit of containers 8097152. "},
      {kContainer, {{}, {}, 0, 100 * kMi}, ""},
      {kVolume, {{}, {}, 16 * kMi, 16 * kMi}, ""},
      {kVolume,
       {{}, {}, 16 * kMi, 16 * kMi + 1},
       "/etc/hosts, /etc/hostname, /etc/resolv.conf and the termination messages of the containers hold 16777217 "
       "bytes, and without a limit of ephemeral-storage they may hold 16777216. "},
  };
  for (const Row& row : rows) {
    const auto spec = api::parse_yaml(row.spec);
    ASSERT_TRUE(spec.ok()) << row.spec;
    const auto why = beyond_disk_limits(Json::object({{"spec", *spec}}), row.use);
    EXPECT_EQ(why.value_or(""), row.why) << row.spec;
  }
}

TEST(DiskLimits, pods_without_limits_are_measured_by_the_files_that_they_are_given_and_critical_ones_not_at_all) {
  const auto measured = [](const char* spec) {
    const auto pod = api::parse_yaml(std::string("{metadata: {uid: u}, spec: ") + spec + "}");
    PodState state;
    for (const char* name : {"a", "b"}) {
      ContainerState container;
      container.name = name;
      container.phase = name[0] == 'a' ? RunPhase::kRunning : RunPhase::kEnded;
      container.attempt = 3;
      state.containers.push_back(std::move(container));
    }
    return disk_places(*pod, state);
  };
  EXPECT_FALSE(measured("{volumes: [{name: v, emptyDir: {}}]}")->whole);
  EXPECT_FALSE(measured("{volumes: [{name: v, emptyDir: {medium: Memory, sizeLimit: 1Mi}}]}")->whole);
  EXPECT_FALSE(measured("{priority: 2000000000, volumes: [{name: v, emptyDir: {sizeLimit: 1Mi}}]}"));
  const auto places = measured("{volumes: [{name: v, emptyDir: {sizeLimit: 1Mi}}, {name: w, emptyDir: {}}]}");
  ASSERT_TRUE(places);
  EXPECT_TRUE(places->whole);
  EXPECT_EQ(places->all_containers, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(places->volumes, (std::vector<std::string>{"v", "w"}));
  ASSERT_EQ(places->containers.size(), 1u) << "those that run";
  EXPECT_EQ(places->containers[0], (std::pair<std::string, int>{"a", 3}));
}

}  // namespace
}  // namespace node

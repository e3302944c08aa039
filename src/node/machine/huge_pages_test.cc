// Huge pages: what a machine has of them, what containers may have, and volumes of them.
#include "node/machine/huge_pages.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"
#include "base/format.h"
#include "node/machine/machine.h"
#include "node/pod/pod_specs.h"
#include "node/pod/volumes.h"
#include "rt/files/files.h"

namespace node {
namespace {

using api::Json;

Json yaml(const std::string& text) {
  const auto json = api::parse_yaml(text);
  CHECK(json.ok());
  return *json;
}

TEST(HugePages, AreReadFromTheKernelsFolder) {
  const std::string folder = testing::TempDir() + "/hugepages";
  ASSERT_TRUE(rt::remove_tree(folder).ok());
  EXPECT_TRUE(read_huge_pages(folder).empty());
  const std::pair<const char*, const char*> files[] = {{"hugepages-2048kB", "512\n"},
                                                       {"hugepages-1048576kB", "0\n"},
                                                       {"hugepages-64kB", "3"},
                                                       {"hugepages-kB", "7\n"},
                                                       {"hugepages--4kB", "7\n"},
                                                       {"hugepages-32kB", "many\n"},
                                                       {"hugepages-16kB", "9999999999999999999\n"},
                                                       {"else", "1\n"}};
  for (const auto& [name, text] : files) {
    ASSERT_TRUE(rt::make_folders(base::format("{}/{}", folder, name), 0700).ok());
    ASSERT_TRUE(rt::write_file(base::format("{}/{}/nr_hugepages", folder, name), text, 0600).ok());
  }
  EXPECT_EQ(read_huge_pages(folder),
            (std::map<std::int64_t, std::int64_t>{{64 << 10, 3 * (64 << 10)}, {2 << 20, 512 * (2 << 20)}}));
}

TEST(HugePages, HaveNames) {
  const std::pair<std::int64_t, const char*> names[] = {{2 << 20, "hugepages-2Mi"},
                                                        {1 << 30, "hugepages-1Gi"},
                                                        {64 << 10, "hugepages-64Ki"},
                                                        {32 << 20, "hugepages-32Mi"}};
  for (const auto& [bytes, name] : names) {
    EXPECT_EQ(huge_page_resource(bytes), name);
    EXPECT_EQ(page_bytes_of(name), bytes);
  }
  for (const char* name : {"hugepages-", "hugepages-x", "hugepages--2Mi", "memory", "2Mi", ""})
    EXPECT_EQ(page_bytes_of(name), 0) << name;
}

TEST(HugePages, AContainerHasWhatItAskedForAndNothingOfOthers) {
  const Json pod = yaml(R"(
metadata: {name: p, namespace: ns, uid: u}
spec: {containers: [{name: c, image: i, resources: {limits: {memory: 1Gi, hugepages-2Mi: 64Mi}}}, {name: d, image: i}]}
)");
  Lookups lookups;
  lookups.find = [](std::string_view, std::string_view, std::string_view) -> const Json* { return nullptr; };
  for (const char* name : {"hugepages-2Mi", "hugepages-1Gi", "cpu"})
    lookups.allocatable[name] = api::Quantity::from_int(1 << 30);
  using Limits = std::vector<std::pair<std::string, std::int64_t>>;
  const auto limits_of = [&](const char* name) {
    ContainerState container;
    container.name = name;
    return container_spec_for(pod, container, lookups)->huge_page_limits;
  };
  EXPECT_EQ(limits_of("c"), (Limits{{"1GB", 0}, {"2MB", 64 << 20}}));
  EXPECT_EQ(limits_of("d"), (Limits{{"1GB", 0}, {"2MB", 0}}));
}

TEST(HugePages, VolumesHaveTheSizeThatTheirPodAsksFor) {
  struct Row {
    const char* medium;
    const char* limits;
    const char* expected;  // bytes, or the event's end
  };
  const Row rows[] = {
      {"HugePages", "{hugepages-2Mi: 2Mi}", "2097152"},
      {"HugePages-1Gi", "{hugepages-2Mi: 2Mi, hugepages-1Gi: 1Gi}", "1073741824"},
      {"HugePages", "{hugepages-2Mi: 2Mi, hugepages-1Gi: 1Gi}",
       "medium HugePages can't be used if container requests multiple huge page sizes"},
      {"HugePages", "{cpu: 1}", "hugePages storage requested, but there is no resource request for huge pages."},
      {"HugePages-1Gi", "{hugepages-2Mi: 2Mi}",
       "medium HugePages-1Gi can't be used: no container requests pages of that size"},
      {"HugePages-", "{hugepages-2Mi: 2Mi}",
       "medium HugePages- can't be used: no container requests pages of that size"},
      {"HugePages2Mi", "{hugepages-2Mi: 2Mi}", "unknown storage medium \"HugePages2Mi\""},
  };
  for (const Row& row : rows) {
    const auto volumes =
        volumes_of(yaml(base::format("spec: {{volumes: [{{name: v, emptyDir: {{medium: {}, sizeLimit: 4Mi}}}}], "
                                     "containers: [{{name: c, resources: {{limits: {}}}}}]}}",
                                     row.medium, row.limits)),
                   {});
    if (!volumes.ok()) {
      EXPECT_EQ(volumes.error().message, base::format("MountVolume.SetUp failed for volume \"v\" : {}", row.expected));
      continue;
    }
    EXPECT_EQ(std::to_string((*volumes)[0].huge_page_bytes), row.expected) << row.medium;
    EXPECT_EQ((*volumes)[0].bytes_max, 4 << 20);
  }
}

}  // namespace
}  // namespace node

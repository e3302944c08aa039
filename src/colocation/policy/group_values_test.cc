// The tables of agent.md 5 and 8: what pods ask for, and what their groups are to have.
#include "colocation/policy/group_values.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"
#include "base/format.h"
#include "colocation/files/kernel_text.h"

namespace colocation {
namespace {

constexpr std::int64_t kGi = std::int64_t{1} << 30;

GroupTree v1() { return {.version = GroupVersion::kV1, .root = "/r"}; }
GroupTree v2() { return {.version = GroupVersion::kV2, .root = "/r"}; }

PodFacts pod(int level, std::vector<ContainerFacts> containers = {}) {
  PodFacts facts{.ns = "a", .name = "p", .uid = "u", .qos = QosClass::kBestEffort, .level = level};
  facts.containers = std::move(containers);
  return facts;
}
ContainerFacts container(const std::string& id, Amounts request, Amounts limit) {
  return {.name = id, .id = "containerd://" + id, .batch_request = request, .batch_limit = limit};
}
PodGroups groups(std::set<std::string> files = {}, std::map<std::string, std::int64_t> quotas = {}) {
  return {.path = "P", .all = {"P", "P/a", "P/b"}, .quotas = std::move(quotas), .files = std::move(files)};
}
// "FILE=VALUE" in the order of writing, with the path in front.
std::vector<std::string> lines(const GroupValues& desired) {
  std::vector<std::string> out;
  for (const GroupValue& one : desired.values) out.push_back(base::format("{}/{}={}", one.path, one.file, one.value));
  return out;
}
using Lines = std::vector<std::string>;

TEST(QosLevel, words_and_numbers) {
  for (const auto& [text, level] : {std::pair("LC", 2),
                                    {"HLS", 2},
                                    {"LS", 1},
                                    {"BE", -1},
                                    {"", 0},
                                    {"be", 0},
                                    {"other", 0},
                                    {"-1", -1},
                                    {"2", 2},
                                    {"0", 0},
                                    {"-7", 0},
                                    {"99999999999", 0}})
    EXPECT_EQ(qos_level(text), level) << text;
}

TEST(CpuQos, a_level_in_every_group_where_the_kernel_has_levels) {
  for (const int level : {2, 1, 0, -1}) {
    GroupValues desired;
    add_cpu_qos(v2(), pod(level), groups({"cpu.qos_level", "cpu.idle"}), desired);
    const std::string value = std::to_string(level);
    EXPECT_EQ(lines(desired),
              (Lines{"P/cpu.qos_level=" + value, "P/a/cpu.qos_level=" + value, "P/b/cpu.qos_level=" + value}));
  }
}

TEST(CpuQos, other_kernels_make_offline_pods_idle_and_leave_the_others) {
  const auto values = [](const GroupTree& tree, int level, std::set<std::string> files) {
    GroupValues desired;
    add_cpu_qos(tree, pod(level), groups(std::move(files)), desired);
    return lines(desired);
  };
  EXPECT_EQ(values(v2(), -1, {"cpu.idle"}), Lines{"P/cpu.idle=1"});
  EXPECT_EQ(values(v1(), -1, {"cpu.idle"}), Lines{"P/cpu.idle=1"});
  EXPECT_EQ(values(v2(), -1, {}), Lines{"P/cpu.weight=1"});
  EXPECT_EQ(values(v1(), -1, {}), Lines{"P/cpu.shares=2"});
  EXPECT_EQ(values(v2(), 2, {"cpu.idle"}), Lines{});
}

TEST(CpuBurst, times_and_quotas) {
  const auto values = [](const GroupTree& tree, const char* time, std::map<std::string, std::int64_t> quotas) {
    PodFacts facts = pod(0);
    facts.burst = "true";
    facts.burst_time = time;
    GroupValues desired;
    add_cpu_burst(tree, facts, groups({"cpu.max.burst", "cpu.cfs_burst_us"}, std::move(quotas)), desired);
    return desired.problems.empty() ? lines(desired) : desired.problems;
  };
  const std::map<std::string, std::int64_t> quotas = {{"P", 90'000}, {"P/a", 50'000}, {"P/b", kUnlimited}};
  EXPECT_EQ(values(v2(), "20000", quotas), (Lines{"P/a/cpu.max.burst=20000", "P/cpu.max.burst=20000"}));
  EXPECT_EQ(values(v1(), "20000", quotas), (Lines{"P/a/cpu.cfs_burst_us=20000", "P/cpu.cfs_burst_us=20000"}));
  for (const char* time : {"", "0", "-5", "x", "60000", "9223372036854775808"})
    EXPECT_EQ(values(v2(), time, quotas), (Lines{"P/a/cpu.max.burst=50000", "P/cpu.max.burst=50000"})) << time;
  EXPECT_EQ(values(v2(), "", {{"P", kUnlimited}, {"P/a", 50'000}, {"P/b", 30'000}}),
            (Lines{"P/a/cpu.max.burst=50000", "P/b/cpu.max.burst=30000"}));
  EXPECT_EQ(values(v2(), "", {{"P", 60'000}, {"P/a", 50'000}, {"P/b", 30'000}}),
            (Lines{"P/a/cpu.max.burst=50000", "P/b/cpu.max.burst=30000", "P/cpu.max.burst=60000"}));
  EXPECT_EQ(values(v2(), "", {{"P", 60'000}, {"P/a", 50'000}}),
            (Lines{"pod a/p: group P/b has no quota that can be read"}));
}

TEST(CpuBurst, nothing_without_the_annotation_or_the_file) {
  GroupValues desired;
  PodFacts facts = pod(0);
  add_cpu_burst(v2(), facts, groups({"cpu.max.burst"}), desired);
  facts.burst = "true";
  add_cpu_burst(v2(), facts, groups(), desired);
  facts.burst = "yes";
  add_cpu_burst(v2(), facts, groups({"cpu.max.burst"}), desired);
  EXPECT_TRUE(desired.values.empty() && desired.problems.empty());
}

TEST(MemoryQos, minus_one_for_offline_and_zero_for_all_others) {
  for (const auto& [level, value] : {std::pair(-1, "-1"), {0, "0"}, {1, "0"}, {2, "0"}}) {
    GroupValues desired;
    add_memory_qos(pod(level), groups({"memory.qos_level"}), desired);
    EXPECT_EQ(lines(desired).front(), std::string("P/memory.qos_level=") + value);
    EXPECT_EQ(desired.values.size(), 3u);
  }
}

TEST(MemoryQosV2, ratios_of_limits_and_requests) {
  struct Row {
    const char* config;
    const char *high, *low, *min;
  };
  PodFacts facts =
      pod(-1, {container("a", {.cpu_milli = {}, .memory_bytes = 1000}, {.cpu_milli = {}, .memory_bytes = 2000})});
  for (const Row& row : {Row{R"({"memoryQos":{"highRatio":90,"lowRatio":20,"minRatio":10}})", "1800", "200", "100"},
                         {"{}", "max", "0", "0"},
                         {R"({"memoryQos":{"highRatio":100,"lowRatio":50}})", "max", "500", "0"},
                         {R"({"memoryQos":{"lowRatio":50}})", "max", "500", "0"}}) {
    facts.config = row.config;
    GroupValues desired;
    add_memory_qos_v2(v2(), facts, groups(), desired);
    EXPECT_EQ(lines(desired),
              (Lines{std::string("P/a/memory.high=") + row.high, std::string("P/a/memory.low=") + row.low,
                     std::string("P/a/memory.min=") + row.min}))
        << row.config;
  }
}

TEST(MemoryQosV2, ordinary_memory_where_the_batch_one_is_not_named_or_not_for_the_pod) {
  ContainerFacts one = container("a", {.cpu_milli = {}, .memory_bytes = 1000}, {.cpu_milli = {}, .memory_bytes = 2000});
  one.request.memory_bytes = 100;
  one.limit.memory_bytes = 200;
  PodFacts facts = pod(2, {one});
  facts.config = R"({"memoryQos":{"highRatio":50,"lowRatio":10,"minRatio":10}})";
  GroupValues desired;
  add_memory_qos_v2(v2(), facts, groups(), desired);
  EXPECT_EQ(lines(desired), (Lines{"P/a/memory.high=100", "P/a/memory.low=10", "P/a/memory.min=10"}));
  GroupValues old;
  add_memory_qos_v2(v1(), facts, groups(), old);
  EXPECT_TRUE(old.values.empty());
}

TEST(MemoryQosV2, a_wrong_annotation_is_a_problem_and_changes_nothing) {
  for (const char* config : {"{", "[]", R"({"memoryQos":{"highRatio":101}})", R"({"memoryQos":{"minRatio":-1}})",
                             R"({"memoryQos":{"lowRatio":"1"}})", R"({"memoryQos":{"lowRatio":1.5}})"}) {
    PodFacts facts = pod(-1, {container("a", {}, {})});
    facts.config = config;
    GroupValues desired;
    add_memory_qos_v2(v2(), facts, groups(), desired);
    EXPECT_TRUE(desired.values.empty()) << config;
    EXPECT_EQ(desired.problems.size(), 1u) << config;
  }
}

TEST(Resources, every_row_of_both_versions) {
  struct Row {
    const char* name;
    std::vector<ContainerFacts> containers;
    Lines v1, v2;
  };
  const auto cpu = [](std::int64_t milli) { return Amounts{.cpu_milli = milli, .memory_bytes = {}}; };
  const auto memory = [](std::int64_t bytes) { return Amounts{.cpu_milli = {}, .memory_bytes = bytes}; };
  const Row rows[] = {
      {"requests and limits of one container",
       {container("a", cpu(2000), {.cpu_milli = 4000, .memory_bytes = kGi})},
       {"P/a/cpu.shares=2048", "P/a/cpu.cfs_quota_us=400000", "P/a/memory.limit_in_bytes=1073741824",
        "P/cpu.shares=2048", "P/cpu.cfs_quota_us=400000", "P/memory.limit_in_bytes=1073741824"},
       {"P/a/cpu.weight=200", "P/a/cpu.max=400000 100000", "P/a/memory.max=1073741824", "P/cpu.weight=200",
        "P/cpu.max=400000 100000", "P/memory.max=1073741824"}},
      {"the smallest and the largest",
       {container("a", cpu(1), cpu(1)), container("b", cpu(1'000'000'000), cpu(2))},
       {"P/a/cpu.shares=2", "P/a/cpu.cfs_quota_us=1000", "P/b/cpu.shares=262144", "P/b/cpu.cfs_quota_us=1000",
        "P/cpu.shares=262144", "P/cpu.cfs_quota_us=1000"},
       {"P/a/cpu.weight=1", "P/a/cpu.max=1000 100000", "P/b/cpu.weight=10000", "P/b/cpu.max=1000 100000",
        "P/cpu.weight=10000", "P/cpu.max=1000 100000"}},
      {"a limit of zero",
       {container("a", {}, {.cpu_milli = 0, .memory_bytes = 0})},
       {"P/cpu.shares=2"},
       {"P/a/cpu.max=max 100000", "P/a/memory.max=max", "P/cpu.weight=100", "P/cpu.max=max 100000",
        "P/memory.max=max"}},
      {"one container without limits keeps the pod without",
       {container("a", cpu(1000), cpu(1000)), container("b", memory(kGi), memory(kGi))},
       {"P/a/cpu.shares=1024", "P/a/cpu.cfs_quota_us=100000", "P/b/memory.limit_in_bytes=1073741824",
        "P/cpu.shares=1024"},
       {"P/a/cpu.weight=100", "P/a/cpu.max=100000 100000", "P/b/memory.max=1073741824", "P/cpu.weight=100"}},
      {"none names the resources", {container("a", {}, {})}, {}, {}},
  };
  for (const Row& row : rows) {
    GroupValues old, unified;
    add_resources(v1(), pod(-1, row.containers), groups(), old);
    add_resources(v2(), pod(1, row.containers), groups(), unified);
    EXPECT_EQ(lines(old), row.v1) << row.name;
    EXPECT_EQ(lines(unified), row.v2) << row.name;
  }
  GroupValues critical;
  add_resources(v2(), pod(2, rows[0].containers), groups(), critical);
  EXPECT_TRUE(critical.values.empty());
}

TEST(Wishes, an_idle_group_gets_no_weight) {
  Config config;
  config.colocation = config.cpu_qos = true;
  const PodFacts facts = pod(-1, {container("a", {.cpu_milli = 1000, .memory_bytes = {}}, {})});
  const GroupValues desired = values_of_pod(v2(), SupportedFeatures({"*"}), config, facts, groups({"cpu.idle"}));
  EXPECT_EQ(lines(desired), (Lines{"P/a/cpu.weight=100", "P/cpu.idle=1"}));
}

TEST(Wishes, files_that_say_the_same_are_left_alone) {
  EXPECT_TRUE(has_value("cpu.weight", "100\n", "100"));
  EXPECT_TRUE(has_value("cpu.max", "50000  100000\n", "50000 100000"));
  EXPECT_FALSE(has_value("cpu.max", "max 100000", "50000 100000"));
  EXPECT_TRUE(has_value("memory.max", "4096000", "4096100"));  // the kernel counts in pages
  EXPECT_FALSE(has_value("memory.max", "max", "4096"));
  EXPECT_FALSE(has_value("memory.qos_level", "0", "-1"));
}

TEST(Throttle, limits_of_steps) {
  Config config;
  config.throttle = true;
  ThrottleState state;
  EXPECT_EQ(next_throttle(config, 10'000, 2'000, state), 6'000);         // 80 percent, less what is used
  EXPECT_EQ(next_throttle(config, 10'000, 2'010, state), std::nullopt);  // within the jitter
  EXPECT_EQ(next_throttle(config, 10'000, 5'000, state), 3'000);
  EXPECT_EQ(next_throttle(config, 10'000, 0, state), 3'300);  // ten percent at a time
  EXPECT_EQ(next_throttle(config, 10'000, 9'000, state), 0);
  EXPECT_EQ(next_throttle(config, 10'000, 9'000, state), std::nullopt);
  EXPECT_EQ(next_throttle(config, 10'000, 1'000, state), 7'000);  // from nothing at once
  EXPECT_EQ(throttle_value(v2(), 0).value, "1000 100000");
  EXPECT_EQ(throttle_value(v1(), 6'000).value, "600000");
  EXPECT_EQ(throttle_value(v1(), 6'000).path, "kubepods/besteffort");
}

TEST(PodFacts, effective_requests_count_sidecars_init_containers_overhead_and_the_pod_as_a_whole) {
  const auto facts = [](const char* spec) {
    const auto object = api::parse_yaml(base::format("metadata: {{name: p, namespace: a, uid: u}}\nspec: {}\n", spec));
    return pod_facts(*object, {});
  };
  EXPECT_EQ(facts(R"({containers: [{name: a, resources: {requests: {cpu: 500m}}}],
                      initContainers: [{name: s, restartPolicy: Always, resources: {requests: {cpu: 250m}}}]})")
                .cpu_milli,
            750);
  EXPECT_EQ(facts(R"({containers: [{name: a, resources: {requests: {cpu: 500m}}}],
                      initContainers: [{name: i, resources: {requests: {cpu: 2}}}]})")
                .cpu_milli,
            2000);
  EXPECT_EQ(facts(R"({containers: [{name: a, resources: {requests: {cpu: 500m}}}], overhead: {cpu: 100m}})").cpu_milli,
            600);
  EXPECT_EQ(facts(R"({containers: [{name: a, resources: {requests: {cpu: 500m}}}], resources: {requests: {cpu: 3}}})")
                .cpu_milli,
            3000);
  EXPECT_EQ(
      facts(
          R"({containers: [{name: a, resources: {requests: {kubernetes.io/batch-cpu: 1500, kubernetes.io/batch-memory: 1Gi}}}]})")
          .batch_cpu_milli,
      1500);
}

}  // namespace
}  // namespace colocation

// The limits that the kernel holds containers to, read back.
#include "node/os/kernel_limits.h"

#include <gtest/gtest.h>

#include <map>

#include "api/json/yaml.h"

namespace node {
namespace {

using api::Json;

Json yaml(const std::string& text) { return *api::parse_yaml(text); }

std::string shown(const std::string& reported, const KernelLimits& limits) {
  return with_kernel_limits(yaml(reported), limits).dump();
}

TEST(KernelLimits, are_read_from_either_version) {
  const std::map<std::string, std::string> files = {
      {"/v2/p/cpu.max", "20000 100000\n"},    {"/v2/p/memory.max", "max\n"},
      {"/v2/q/cpu.max", "max 100000\n"},      {"/v2/q/memory.max", "1048576\n"},
      {"/v2/r/cpu.max", "5000 50000\n"},      {"/cpu/p/cpu.shares", "204\n"},
      {"/cpu/p/cpu.cfs_quota_us", "20000\n"}, {"/cpu/p/cpu.cfs_period_us", "100000\n"},
      {"/cpu/q/cpu.cfs_quota_us", "-1\n"},    {"/mem/p/memory.limit_in_bytes", "9223372036854771712\n"}};
  const auto read = [&](const std::string& path) {
    const auto found = files.find(path);
    return found == files.end() ? std::string() : found->second;
  };
  const CgroupLayout v2{{}, "/v2"}, v1{{{"cpu", "/cpu"}, {"memory", "/mem"}}, ""};
  KernelLimits limits = kernel_limits(v2, "/p", read);
  EXPECT_FALSE(limits.cpu_shares);
  EXPECT_EQ(limits.cpu_quota, 20'000);
  EXPECT_EQ(limits.memory_limit_bytes, 0);
  limits = kernel_limits(v2, "/q", read);
  EXPECT_EQ(limits.cpu_quota, 0);
  EXPECT_EQ(limits.memory_limit_bytes, 1 << 20);
  EXPECT_EQ(kernel_limits(v2, "/r", read).cpu_quota, 10'000) << "of our period";
  EXPECT_FALSE(kernel_limits(v2, "/gone", read).cpu_quota);
  limits = kernel_limits(v1, "/p", read);
  EXPECT_EQ(limits.cpu_shares, 204);
  EXPECT_EQ(limits.cpu_quota, 20'000);
  EXPECT_EQ(limits.memory_limit_bytes, 0) << "the largest number of pages is not a limit";
  EXPECT_EQ(kernel_limits(v1, "/q", read).cpu_quota, 0);
}

TEST(KernelLimits, are_shown_where_they_are_not_what_was_told) {
  const std::string reported =
      "{requests: {cpu: 200m, memory: 64Mi}, limits: {cpu: 200m, memory: 64Mi, example.com/x: 1}}";
  const std::string same = yaml(reported).dump();
  EXPECT_EQ(shown(reported, {}), same) << "nothing is known";
  EXPECT_EQ(shown(reported, {204, 20'000, 64 << 20}), same);
  EXPECT_EQ(shown(reported, {{}, 20'000, (64 << 20) - 4096}), same) << "counted in pages";
  EXPECT_EQ(shown("{limits: {cpu: 5m}}", {10, 1'000, 0}), R"({"limits":{"cpu":"5m"}})") << "the least there is";
  EXPECT_EQ(
      shown(reported, {102, 50'000, 32 << 20}),
      R"({"requests":{"cpu":"100m","memory":"64Mi"},"limits":{"cpu":"500m","memory":"33554432","example.com/x":1}})");
  EXPECT_EQ(shown(reported, {204, 0, 0}),
            R"({"requests":{"cpu":"200m","memory":"64Mi"},"limits":{"example.com/x":1}})");
  EXPECT_EQ(shown("{}", {2, 50'000, 4096}), "{}") << "what was not asked for is not told";
}

}  // namespace
}  // namespace node

// Resource arithmetic and comparisons, by the spec's worked examples.
#include "scheduler/model/core/resource.h"

#include <gtest/gtest.h>

namespace scheduler {
namespace {

Resource resource(std::vector<std::pair<Dim, double>> parts) {
  Resource out;
  for (const auto& [dim, value] : parts) out.set(dim, value);
  return out;
}

constexpr Dim kGpu = 3;

TEST(Dimensions, store_amounts_in_their_units) {
  Dimensions dimensions;
  const Request request = request_from(
      api::resource_list_from(*api::parse_json(
          R"({"cpu":"1500m","memory":"1Ki","pods":"3","nvidia.com/gpu":"2","ephemeral-storage":"1","hugepages-2Mi":"4","count/pods":"9","limits.cpu":"5","requests.a.b/c":"1","requests.kubernetes.io/batch-cpu":"900","kubernetes.io/batch-cpu":"900"})")),
      dimensions);
  EXPECT_EQ(request.get(kCpu), 1500);
  EXPECT_EQ(request.get(kMemory), 1024);
  EXPECT_EQ(request.get(kPods), 3);
  EXPECT_EQ(request.get(*dimensions.dim_of("nvidia.com/gpu")), 2000);
  EXPECT_EQ(request.get(*dimensions.dim_of("ephemeral-storage")), 1);
  EXPECT_EQ(request.get(*dimensions.dim_of("hugepages-2Mi")), 4000);
  EXPECT_EQ(request.get(*dimensions.dim_of("kubernetes.io/batch-cpu")), 900'000);
  EXPECT_EQ(request.parts.size(), 7u);
}

// Names from pods stay for ever, so their number is bounded; what a node offers counts whatever pods have named before.
TEST(Dimensions, names_that_only_pods_bring_are_bounded) {
  Dimensions dimensions;
  const Dim early = *dimensions.dim_of("a.b/early");
  api::ResourceList list;
  for (int i = 0; i < 3'000; ++i) list["a.b/x" + std::to_string(i)] = api::Quantity::from_int(1);
  const Request made_up = request_from(list, dimensions);
  EXPECT_LE(dimensions.size(), kResourceNamesMax + 1);
  const Dim none = *dimensions.dim_of("a.b/late");
  EXPECT_EQ(dimensions.name(none), kNoSuchResource);
  EXPECT_EQ(made_up.get(none), (3'000 - static_cast<std::int64_t>(kResourceNamesMax) + 5) * 1000);
  EXPECT_EQ(dimensions.dim_of("a.b/early"), early);

  const api::ResourceList offered = {{"a.b/late", api::Quantity::from_int(4)}, {"count/pods", {}}, {"limits.cpu", {}}};
  const std::size_t before = dimensions.size();
  dimensions.know(offered);
  EXPECT_EQ(dimensions.size(), before + 1);
  EXPECT_EQ(request_from(offered, dimensions).get(*dimensions.find("a.b/late")), 4000);
  EXPECT_NE(dimensions.dim_of("a.b/late"), none);
}

// Clusters may have more of everything than thousandths of it would fit; absurd amounts are bounded one by one.
TEST(Dimensions, amounts_are_bounded_so_that_sums_of_a_thousand_fit) {
  Dimensions dimensions;
  const auto read = [&](const char* text) {
    return request_from(api::resource_list_from(*api::parse_json(text)), dimensions);
  };
  const Request petabyte = read(R"({"ephemeral-storage":"1P"})");
  const Request absurd = read(
      R"({"cpu":"9223372036854775807","memory":"9223372036854775807","ephemeral-storage":"8Ei","pods":"9E","a.b/c":"9E"})");
  const Request negative = read(R"({"cpu":"-9E","memory":"-9E"})");
  Sums storage, much, less;
  for (int i = 0; i < 1000; ++i) {
    storage.add(petabyte, 1);
    much.add(absurd, 1);
    less.add(negative, 1);
  }
  const Dim ephemeral = *dimensions.dim_of("ephemeral-storage");
  EXPECT_EQ(storage.get(ephemeral), 1'000'000'000'000'000'000);
  for (const Dim d : {kCpu, kMemory, kPods, ephemeral, *dimensions.dim_of("a.b/c")})
    EXPECT_GT(much.get(d), 999 * (std::int64_t{1} << 53)) << d;
  EXPECT_LT(less.get(kCpu), 0);
  // More of them are too much, and when they have gone, what is left is right.
  for (int i = 0; i < 1000; ++i) much.add(absurd, 1);
  for (int i = 0; i < 1998; ++i) much.add(absurd, -1);
  EXPECT_EQ(much.get(kMemory), 2 * (std::int64_t{1} << 53));
  EXPECT_EQ(much.get(ephemeral), 2 * (std::int64_t{1} << 53));
  Request eight = absurd;
  for (int i = 0; i < 8; ++i) eight.add(absurd);
  EXPECT_EQ(eight, absurd);
  // A queue's limit is a double and need not be lowered.
  EXPECT_GT(resource_from(api::resource_list_from(*api::parse_json(R"({"memory":"9223372036854775807"})")), dimensions)
                .get(kMemory),
            9e18);
}

TEST(Resource, compares_with_zero_or_infinity_for_what_is_missing) {
  const Resource small = resource({{kCpu, 1}}), gpu = resource({{kCpu, 1}, {kGpu, 1}}),
                 large = resource({{kCpu, 2}, {kGpu, 2}});
  EXPECT_TRUE(small.less_equal(large, Missing::kZero));
  EXPECT_FALSE(small.less_equal(large, Missing::kInfinity));  // the right side names a scalar that the left lacks
  EXPECT_FALSE(gpu.less_equal(small, Missing::kZero));
  EXPECT_TRUE(gpu.less_equal(small, Missing::kInfinity));
  EXPECT_TRUE(resource({{kCpu, 1.05}}).less_equal(small, Missing::kZero));  // within 0.1
}

TEST(Resource, wanted_dimensions_are_strict_and_leave_pods_out) {
  const Resource used = resource({{kCpu, 4}, {kMemory, 9}, {kPods, 7}}),
                 limit = resource({{kCpu, 3}, {kMemory, 1}, {kPods, 1}});
  std::vector<Dim> failing;
  EXPECT_FALSE(used.fits_wanted(limit, resource({{kCpu, 1}, {kPods, 1}}), &failing));
  EXPECT_EQ(failing, std::vector<Dim>{kCpu});
  EXPECT_TRUE(used.fits_wanted(limit, resource({{kPods, 1}})));
  EXPECT_TRUE(used.exceeds_some_wanted(limit, resource({{kMemory, 1}})));
}

TEST(Resource, exceeded_part_and_lowering) {
  const Resource left = resource({{kCpu, 5}, {kGpu, 1}}), right = resource({{kCpu, 3}, {kMemory, 2}});
  const Resource more = Resource::exceeded_part(left, right);
  EXPECT_EQ(more.get(kCpu), 2);
  EXPECT_EQ(more.get(kGpu), 1);
  EXPECT_EQ(more.get(kMemory), 0);
  Resource lowered = left;
  lowered.lower_to(right, Missing::kInfinity);
  EXPECT_EQ(lowered.get(kCpu), 3);
  EXPECT_EQ(lowered.get(kGpu), 1);
  lowered.lower_to(right, Missing::kZero);
  EXPECT_EQ(lowered.get(kGpu), 0);
}

TEST(Resource, share_of_nothing_is_everything) {
  EXPECT_EQ(share_of(0, 0), 0);
  EXPECT_EQ(share_of(1, 0), 1);
  EXPECT_EQ(share_of(1, 4), 0.25);
}

}  // namespace
}  // namespace scheduler

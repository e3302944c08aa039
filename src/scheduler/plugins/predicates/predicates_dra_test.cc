// How do resource claims take part in filtering?
#include "scheduler/plugins/predicates/predicates_dra.h"

#include <gtest/gtest.h>

#include <string>

#include "api/cel/expression.h"
#include "api/meta/resource.h"
#include "scheduler/cache/intake.h"
#include "scheduler/model/devices/dra_allocator.h"

namespace scheduler {
namespace {

// A filter stays for more than one cycle: what selectors cost in one pass over the nodes is not missing in the next.
TEST(ClaimFilter, has_the_whole_cost_of_selectors_for_each_pass) {
  Model model;
  Ledger ledger;
  Intake intake{model, ledger, {}};
  const auto set = [&](const api::ResourceId& id, const std::string& text) { intake.set(id, *api::parse_json(text)); };
  std::string costly = "true";
  for (const char* name : {"a", "b", "c", "d", "e"})
    costly = "[1, 2, 3, 4, 5, 6, 7, 8, 9].all(" + std::string(name) + ", " + costly + ")";
  constexpr std::uint64_t kPasses = 60;
  std::uint64_t cost = 0;
  (void)api::cel::Expression::compile(costly, {"device"})->evaluate({}, api::cel::kCostMax, &cost);
  ASSERT_LT(cost, api::cel::kCostMax);
  ASSERT_GT(cost * kPasses, kSelectorsCostMax);
  set(api::resources::kNodes, R"({"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"8"}}})");
  set(api::resources::kDeviceClasses, R"({"metadata":{"name":"c"}})");
  set(api::resources::kResourceClaims, R"({"metadata":{"namespace":"ns","name":"a","uid":"u"},"spec":{"devices":{
      "requests":[{"name":"r","exactly":{"deviceClassName":"c","selectors":[{"cel":{"expression":")" +
                                           costly + R"("}}]}}]}}})");
  set(api::resources::kPods, R"({"metadata":{"name":"p","namespace":"ns","uid":"v"},"spec":{"schedulerName":"volcano",
      "resourceClaims":[{"name":"c","resourceClaimName":"a"}],"containers":[{"name":"c"}]},
      "status":{"phase":"Pending"}})");
  const TaskId pod = model.find_task("ns/p");
  ASSERT_TRUE(pod.is_set());
  const auto filter = make_claim_filter(model, model.task(pod), 1000);
  ASSERT_NE(filter, nullptr);
  for (std::uint64_t pass = 0; pass < kPasses; ++pass) {
    set(api::resources::kResourceSlices, R"({"metadata":{"name":"s"},"spec":{"driver":"d","pool":{"name":"p"},
        "allNodes":true,"devices":[{"name":"gpu"}]}})");
    Sieve sieve(model.nodes.known(), nullptr);
    filter->apply(sieve);
    ASSERT_EQ(sieve.failed().count(), 0U) << "pass " << pass;
  }
  EXPECT_EQ(model.claims.pools().devices().size(), 1U);
}

}  // namespace
}  // namespace scheduler

// How much does a search for devices cost?
#include "scheduler/model/devices/dra_allocator.h"

#include <gtest/gtest.h>

#include "api/cel/expression.h"
#include "base/format.h"

namespace scheduler {
namespace {

constexpr std::string_view kCostly =
    "[1, 2, 3, 4, 5, 6, 7, 8, 9].all(a, [1, 2, 3, 4, 5, 6, 7, 8, 9].all(b, a + b > 0)) && device.driver != ''";
constexpr std::string_view kTooLong = "the search for devices took too long: its selectors cost too much";

class Search : public testing::Test {
 public:
  Search() {
    claims_.set_class(*api::parse_json(R"({"metadata":{"name":"c"}})"));
    claims_.set_claim(*api::parse_json(base::format(R"({{"metadata":{{"namespace":"ns","name":"a","uid":"u"}},"spec":{{
        "devices":{{"requests":[{{"name":"r","exactly":{{"deviceClassName":"c","selectors":[
        {{"cel":{{"expression":"{}"}}}}]}}}}]}}}}}})",
                                                    kCostly)),
                      symbols_);
  }

  // With one device, of a driver of its own.
  void set_slice(std::string_view driver, std::string_view node) {
    claims_.set_slice(*api::parse_json(base::format(R"({{"metadata":{{"name":"{0}"}},"spec":{{"driver":"{0}",
        "pool":{{"name":"p"}},"nodeName":"{1}","devices":[{{"name":"gpu"}}]}}}})",
                                                    driver, node)),
                      symbols_);
  }

  DeviceSearch search(std::uint64_t selectors_cost_max) const {
    return {claims_, nodes_, symbols_, 1000, selectors_cost_max};
  }

  std::string outcome(DeviceSearch& search, NodeId node) const {
    return search.run({claims_.find_claim("ns/a")}, node) ? "found" : search.problem();
  }
  std::string outcome(std::uint64_t selectors_cost_max) const {
    DeviceSearch once = search(selectors_cost_max);
    return outcome(once, node_);
  }

 protected:
  Symbols symbols_;
  NodeTable nodes_{symbols_};
  ResourceClaims claims_;
  NodeId node_ = nodes_.find_or_add("n");
};

TEST_F(Search, ends_where_selectors_cost_too_much) {
  set_slice("d", "n");
  EXPECT_EQ(outcome(100), kTooLong);
  EXPECT_EQ(outcome(100), kTooLong);  // which is not an answer that is remembered
  EXPECT_EQ(outcome(kSelectorsCostMax), "found");
  EXPECT_EQ(outcome(100), "found");  // known already
}

TEST_F(Search, pays_once_for_all_nodes) {
  const NodeId other = nodes_.find_or_add("other");
  set_slice("d", "n");
  set_slice("e", "other");
  std::uint64_t spent = 0;
  const auto selector = api::cel::Expression::compile(kCostly, {"device"});
  ASSERT_TRUE(selector.ok());
  (void)selector->evaluate({{"device", *claims_.pools().devices()[0]->value}}, api::cel::kCostMax, &spent);
  DeviceSearch both = search(spent + spent / 2);
  EXPECT_EQ(outcome(both, node_), "found");
  EXPECT_EQ(outcome(both, other), kTooLong);
  EXPECT_EQ(outcome(both, node_), "found");
}

TEST_F(Search, asks_selectors_only_about_devices_that_changed) {
  set_slice("d", "n");
  EXPECT_EQ(outcome(kSelectorsCostMax), "found");
  set_slice("e", "other");
  EXPECT_EQ(outcome(100), "found");
  claims_.remove_slice("e");
  EXPECT_EQ(outcome(100), "found");
  set_slice("d", "n");
  EXPECT_EQ(outcome(100), kTooLong);
}

}  // namespace
}  // namespace scheduler

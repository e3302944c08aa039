// The example of docs/extending.md does what its page says, and the page shows the code that is tested here.
#include "node_price.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "base/format.h"
#include "scheduler/actions/all.h"
#include "scheduler/cache/intake.h"
#include "scheduler/plugins/all.h"
#include "scheduler/session/decider.h"

namespace extending {
namespace {

api::Json object(const std::string& text) {
  auto read = api::parse_json(text);
  EXPECT_TRUE(read.ok()) << text;
  return read.ok() ? *read : api::Json();
}

// Three nodes with their prices and one pod that fits on each of them.
class NodePriceTest : public testing::Test {
 protected:
  NodePriceTest() : intake_(model_, ledger_, {}) {
    const auto all = scheduler::all_plugins();
    plugins_.assign(all.begin(), all.end());
    plugins_.push_back({"node-price", make_node_price});
    intake_.set(api::resources::kQueues,
                object(R"({"metadata":{"name":"default","uid":"q"},"spec":{"weight":1},"status":{"state":"Open"}})"));
    add_node("dear", "90");
    add_node("cheap", "20");
    add_node("middle", "50");
    intake_.set(api::resources::kPodGroups,
                object(R"({"metadata":{"name":"g","namespace":"n","uid":"g"},"spec":{"minMember":1,"queue":"default"},)"
                       R"("status":{"phase":"Inqueue"}})"));
    intake_.set(api::resources::kPods,
                object(R"({"metadata":{"name":"p","namespace":"n","uid":"p","annotations":)"
                       R"({"scheduling.k8s.io/group-name":"g"}},"spec":{"schedulerName":"volcano","containers":)"
                       R"([{"name":"c","resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":"Pending"}})"));
  }

  void add_node(const std::string& name, const std::string& price) {
    intake_.set(api::resources::kNodes,
                object(base::format(R"({{"metadata":{{"name":"{0}","labels":{{"example.com/price":"{1}"}}}},"status":)"
                                    R"({{"allocatable":{{"cpu":"4","memory":"8Gi","pods":"10"}}}}}})",
                                    name, price)));
  }

  // The node of the pod; "" if nowhere.
  std::string place(const std::string& arguments) {
    scheduler::Decider decider(model_, ledger_, {plugins_, scheduler::all_actions()}, 1, "volcano");
    const base::Status used = decider.configure(
        base::format("actions: \"allocate\"\ntiers:\n- plugins: [{{name: gang}}, {{name: predicates}}, "
                     "{{name: node-price, arguments: {{{}}}}}]\n",
                     arguments));
    EXPECT_TRUE(used.ok());
    const scheduler::CycleReport report = decider.run_cycle(base::Time{});
    return report.plan.binds.empty() ? "" : report.plan.binds[0].node;
  }

  scheduler::Model model_;
  scheduler::Ledger ledger_;
  scheduler::Intake intake_;
  std::vector<scheduler::PluginFactory> plugins_;
};

TEST_F(NodePriceTest, the_cheapest_node_comes_first) { EXPECT_EQ(place(""), "cheap"); }

TEST_F(NodePriceTest, nonsense_costs_nothing) {
  add_node("middle", "a-lot");
  EXPECT_EQ(place(""), "middle");
}

TEST_F(NodePriceTest, a_negative_weight_turns_the_order_round) { EXPECT_EQ(place("node-price.weight: -1"), "dear"); }

TEST_F(NodePriceTest, nodes_above_the_limit_are_refused) {
  EXPECT_EQ(place("node-price.weight: -1, node-price.max: 60"), "middle");
  EXPECT_EQ(place("node-price.max: 10"), "");
}

// Every piece of C++ on the page stands in the source, line for line.
TEST(ExtendingPageTest, shows_the_code_that_is_tested) {
  const auto read = [](const char* path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  };
  const std::string source = read("tests/extending/node_price.cc");
  const std::string page = read("docs/extending.md");
  int pieces = 0;
  for (std::size_t at = page.find("```cpp\n"); at != std::string::npos; at = page.find("```cpp\n", at)) {
    at += 7;
    const std::string piece = page.substr(at, page.find("```", at) - at);
    EXPECT_NE(source.find(piece), std::string::npos) << piece;
    ++pieces;
  }
  EXPECT_GE(pieces, 3);
}

}  // namespace
}  // namespace extending

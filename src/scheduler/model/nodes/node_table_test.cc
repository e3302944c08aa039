// Does what nodes were once like stay for ever?
#include "scheduler/model/nodes/node_table.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace scheduler {
namespace {

TEST(NodeTable, taints_that_no_node_has_any_more_are_forgotten) {
  Symbols symbols;
  NodeTable nodes(symbols);
  const NodeId steady = nodes.find_or_add("steady"), node = nodes.find_or_add("n");
  const auto facts = [&](std::string_view value) {
    NodeFacts out;
    out.taints.push_back({symbols.intern("candidate"), symbols.intern(value), Taint::Effect::kPreferNoSchedule});
    return out;
  };
  nodes.set_facts(steady, facts("steady"));
  for (int i = 0; i < 1000; ++i) {
    nodes.set_facts(node, facts(base::format("{}", i)));
    const std::uint32_t set = nodes[node].taint_set;
    ASSERT_EQ(symbols.text(nodes.taint_sets()[set][0].value), base::format("{}", i));
    ASSERT_TRUE(nodes.nodes_with_taints(set).has(node.index));
    ASSERT_FALSE(nodes.nodes_with_taints(set).has(steady.index));
  }
  EXPECT_LE(nodes.taint_sets().size(), 3U);
}

}  // namespace
}  // namespace scheduler

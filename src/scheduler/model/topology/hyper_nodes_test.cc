// HyperNodes become a tree of domains, whatever the objects say.
#include "scheduler/model/topology/hyper_nodes.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "scheduler/model/model.h"

namespace scheduler {
namespace {

class Network : public testing::Test {
 protected:
  void add_node(const std::string& name, const std::string& labels = "{}") {
    NodeFacts facts;
    facts.name = name;
    facts.labels = labels_from(*api::parse_json(labels), model.symbols);
    const NodeId id = model.nodes.find_or_add(name);
    model.nodes.set_facts(id, std::move(facts));
    model.hyper_nodes.node_changed(id);
  }
  void add(const std::string& name, const std::string& spec) {
    auto object = api::parse_json(R"({"spec":)" + spec + "}");
    ASSERT_TRUE(object.ok()) << spec;
    model.hyper_nodes.set(name, *object);
  }
  static std::string of(int tier, const char* type, const std::vector<std::string>& members) {
    std::string list;
    for (const std::string& one : members) {
      list += base::format(R"({}{{"type":"{}","selector":{{"exactMatch":{{"name":"{}"}}}}}})", list.empty() ? "" : ",",
                           type, one);
    }
    return base::format(R"({{"tier":{},"members":[{}]}})", tier, list);
  }
  const DomainTree& tree() { return model.hyper_nodes.tree(); }
  DomainId find(const std::string& name) { return tree().find(model.symbols.intern(name)); }
  std::string nodes_of(const std::string& name) {
    std::string out;
    for (const std::uint32_t n : tree()[find(name)].nodes) out += model.nodes[NodeId{n}].name + " ";
    return out;
  }
  std::string common(const std::string& a, const std::string& b) {
    return model.symbols.text(tree()[tree().common(find(a), find(b))].name);
  }

  Model model;
};

TEST_F(Network, without_hyper_nodes_there_is_one_domain_of_tier_1) {
  add_node("n1");
  EXPECT_EQ(tree().size(), 1u);
  EXPECT_EQ(tree()[kRootDomain].tier, 1);
  EXPECT_EQ(nodes_of(std::string(kRootDomainName)), "n1 ");
  EXPECT_EQ(tree().leaf_of(0), kRootDomain);
}

TEST_F(Network, domains_hold_what_lies_below_them) {
  for (const char* name : {"n1", "n2", "n3", "n4"}) add_node(name);
  add("s0", of(1, "Node", {"n2", "n1", "missing"}));
  add("s1", of(1, "Node", {"n3"}));
  add("t0", of(4, "HyperNode", {"s1", "s0", "later"}));
  EXPECT_TRUE(model.hyper_nodes.is_ready());
  EXPECT_EQ(tree().tiers(), (std::vector<std::int64_t>{1, 4, 5}));
  EXPECT_EQ(nodes_of("t0"), "n1 n2 n3 ");
  EXPECT_EQ(common("s0", "s1"), "t0");
  EXPECT_EQ(common("s0", "t0"), "t0");
  EXPECT_EQ(common("s0", "s0"), "s0");
  EXPECT_TRUE(tree().contains(find("t0"), find("s1")));
  EXPECT_FALSE(tree().contains(find("s1"), find("t0")));
  EXPECT_FALSE(tree().leaf_of(model.nodes.find("n4").index).is_set()) << "no domain of the lowest tier holds it";
  // A member that is named but comes later takes its place then.
  add("later", of(1, "Node", {"n4"}));
  EXPECT_EQ(nodes_of("t0"), "n1 n2 n3 n4 ");
  model.hyper_nodes.remove("t0");
  EXPECT_EQ(common("s0", "s1"), kRootDomainName);
}

TEST_F(Network, members_are_matched_and_follow_the_nodes) {
  add_node("gpu-1", R"({"rack":"a"})");
  add_node("gpu-2", R"({"rack":"b"})");
  add("p", R"({"tier":1,"members":[{"type":"Node","selector":{"regexMatch":{"pattern":"gpu-[12]$"}}}]})");
  add("l", R"({"tier":1,"members":[{"type":"Node","selector":{"labelMatch":{"matchLabels":{"rack":"b"}}}}]})");
  add("all", R"({"tier":1,"members":[{"type":"Node","selector":{"labelMatch":{}}}]})");
  add("bad", R"({"tier":1,"members":[{"type":"Node","selector":{"regexMatch":{"pattern":"("}}}]})");
  add("inner", R"({"tier":2,"members":[{"type":"HyperNode","selector":{"regexMatch":{"pattern":".*"}}}]})");
  EXPECT_EQ(nodes_of("p"), "gpu-1 gpu-2 ");
  EXPECT_EQ(nodes_of("l"), "gpu-2 ");
  EXPECT_EQ(nodes_of("all") + nodes_of("bad") + nodes_of("inner"), "");
  add_node("gpu-1", R"({"rack":"b"})");
  add_node("cpu-1", R"({"rack":"b"})");
  EXPECT_EQ(nodes_of("l"), "gpu-1 gpu-2 cpu-1 ");
  EXPECT_EQ(nodes_of("p"), "gpu-1 gpu-2 ");
}

TEST_F(Network, contradictions_are_named_and_do_not_last) {
  add_node("n1");
  add("s0", of(1, "Node", {"n1"}));
  add("t0", of(2, "HyperNode", {"s0"}));
  add("t1", of(2, "HyperNode", {"s0"}));
  EXPECT_EQ(model.hyper_nodes.problem(), "HyperNode s0 already has a parent t0, and cannot set another parent t1");
  model.hyper_nodes.remove("t0");
  EXPECT_TRUE(model.hyper_nodes.is_ready());
  add("s0", R"({"tier":1,"members":[{"type":"HyperNode","selector":{"exactMatch":{"name":"t1"}}}]})");
  EXPECT_FALSE(model.hyper_nodes.is_ready());
  add("s0", of(1, "HyperNode", {"s0"}));
  EXPECT_EQ(model.hyper_nodes.problem(), "HyperNode s0 is part of a cyclic dependency");
  add("s0", of(1, "Node", {"n1"}));
  EXPECT_TRUE(model.hyper_nodes.is_ready());
  EXPECT_EQ(nodes_of("t1"), "n1 ");
}

TEST_F(Network, objects_of_any_shape_have_an_answer) {
  add_node("n1");
  for (const char* spec :
       {"null", "[]", "7", R"({"tier":"x","members":{}})", R"({"tier":-9223372036854775808,"members":[7,null,"a"]})",
        R"({"tier":9223372036854775807,"members":[{"type":"Node","selector":{"exactMatch":{"name":7}}}]})",
        R"({"tier":1,"tierName":3,"members":[{"type":"Node","selector":{"labelMatch":{"matchLabels":[1]}}}]})"}) {
    add("odd", spec);
    EXPECT_LE(tree().size(), 2u) << spec;
    EXPECT_TRUE(model.hyper_nodes.is_ready()) << spec;
  }
}

TEST_F(Network, chains_may_be_long_and_circles_too) {
  add_node("n1");
  constexpr int kLength = 20'000;
  add("c0", of(0, "Node", {"n1"}));
  for (int i = 1; i < kLength; ++i) add(base::format("c{}", i), of(i, "HyperNode", {base::format("c{}", i - 1)}));
  EXPECT_TRUE(model.hyper_nodes.is_ready());
  EXPECT_EQ(tree()[find("c0")].depth, static_cast<std::uint32_t>(kLength));
  EXPECT_EQ(common("c0", base::format("c{}", kLength - 1)), base::format("c{}", kLength - 1));
  add("c0", of(0, "HyperNode", {base::format("c{}", kLength - 1)}));
  EXPECT_FALSE(model.hyper_nodes.is_ready());
  EXPECT_EQ(tree().size(), static_cast<std::size_t>(kLength) + 1);
}

struct Matched {
  const char* labels;
  const char* uid;
  std::int64_t index;
};

TEST(SubJobs, tasks_fall_into_the_first_policy_that_takes_them) {
  Symbols symbols;
  const auto spec = api::parse_json(R"({"networkTopology":{"mode":"soft"},"subGroupPolicy":[
    {"name":"a","subGroupSize":2,"minSubGroups":1,"matchLabelKeys":["i","j"],"labelSelector":{"matchLabels":{"kind":"x"}}},
    {"name":"never"},
    {"name":"b","matchLabelKeys":["i"],"networkTopology":{"mode":"hard","highestTierName":"rack"}}]})");
  ASSERT_TRUE(spec.ok());
  JobTopology topology = topology_from(*spec, "ns/j", 5, symbols);
  EXPECT_EQ(topology.sub_jobs[0].min_available, 1) << "with policies the rest needs one";
  const std::string long_value(130, 'v');
  const std::string long_labels = R"({"i":")" + long_value + R"("})";
  const Matched rows[] = {
      {R"({"i":"7","j":"q","kind":"x"})", "ns/j/a-7-q", 7},
      {R"({"i":"7","kind":"x"})", "ns/j/b-7", 7},
      {R"({"i":"","kind":"x"})", "ns/j", 0},
      {R"({"i":"7x"})", "ns/j/b-7x", 0},
      {R"({})", "ns/j", 0},
      {long_labels.c_str(), "", 0},
  };
  for (const Matched& row : rows) {
    const Labels labels = labels_from(*api::parse_json(row.labels), symbols);
    const SubJob& part = topology.sub_jobs[sub_job_for(topology, "ns/j", labels, symbols)];
    if (*row.uid != 0)
      EXPECT_EQ(part.uid, row.uid) << row.labels;
    else
      EXPECT_LT(part.uid.size(), 30u) << "long values are hashed";
    EXPECT_EQ(part.match_index, row.index) << row.labels;
  }
  EXPECT_EQ(topology.sub_jobs.size(), 5u);
}

TEST(SubJobs, policies_are_bounded_and_asked_once_each) {
  Symbols symbols;
  std::string list;
  for (std::size_t i = 0; i < kSubGroupPoliciesMax + 1; ++i) list += (i == 0 ? "" : ",") + std::string("{}");
  const auto many = api::parse_json(R"({"subGroupPolicy":[)" + list + "]}");
  EXPECT_EQ(topology_from(*many, "ns/j", 1, symbols).policies.size(), kSubGroupPoliciesMax);

  const auto spec = api::parse_json(R"({"subGroupPolicy":[{"minSubGroups":2},{},{"minSubGroups":1}]})");
  JobTopology topology = topology_from(*spec, "ns/j", 1, symbols);
  for (const std::uint32_t policy : {0u, 1u, 0u, 2u, 0u}) {
    SubJob& part = topology.sub_jobs.emplace_back();
    part.policy = policy;
    part.counts[0] = 1;
  }
  std::vector<std::uint32_t> asked;
  const auto enough = [&](std::uint32_t refused) {
    asked.clear();
    return topology.enough_sub_jobs([&](const SubJob& one) {
      asked.push_back(one.policy);
      return one.policy != refused;
    });
  };
  EXPECT_TRUE(enough(9));
  EXPECT_EQ(asked, (std::vector<std::uint32_t>{0, 0, 2}));
  EXPECT_TRUE(enough(1));
  EXPECT_FALSE(enough(2));
  topology.sub_jobs[4].counts[0] = 0;  // the only one of the last policy
  EXPECT_FALSE(enough(9));
}

}  // namespace
}  // namespace scheduler

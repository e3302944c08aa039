// The HyperNodes found in labels and in the answers of a UFM server, and the rules of the configuration.
#include "controllers/hypernode/discovery.h"

#include <gtest/gtest.h>

#include "api/meta/resource.h"
#include "base/format.h"
#include "controllers/hypernode/step.h"

namespace controllers::hypernode {
namespace {

using api::Json;

Json node(std::string_view name, std::string_view labels) {
  return *api::parse_json(base::format(R"({{"metadata": {{"name": "{}", "labels": {{{}}}}}}})", name, labels));
}

std::vector<const Json*> pointers(const std::vector<Json>& objects) {
  std::vector<const Json*> out;
  for (const Json& one : objects) out.push_back(&one);
  return out;
}

// "tier name <- members", the name without its last five characters where they are made up.
std::vector<std::string> text(const std::vector<Found>& found, bool whole_names = true) {
  std::vector<std::string> lines;
  for (const Found& one : found) {
    std::string line =
        base::format("{} {} <-", one.tier, whole_names ? one.name : one.name.substr(0, one.name.size() - 5));
    for (const std::string& member : one.members) line += " " + member;
    lines.push_back(std::move(line));
  }
  return lines;
}

const std::vector<TopologyType> kTypes = {{"Type_A", {"spine", "leaf", "kubernetes.io/hostname"}}};

TEST(LabelSource, walks_up_while_labels_are_there) {
  const std::vector<Json> nodes = {node("n1", R"("leaf": "l1", "spine": "s1")"),
                                   node("n2", R"("leaf": "l1", "spine": "s1")"), node("n3", R"("leaf": "l2")"),
                                   node("n4", R"("spine": "s1")")};
  const auto found = discover_by_label(kTypes, pointers(nodes), {});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(text(found, false)[0], "1 hypernode-type-a-tier1- <- n1 n2");
  EXPECT_EQ(text(found, false)[1], "1 hypernode-type-a-tier1- <- n3");
  EXPECT_TRUE(found[2].name.starts_with("hypernode-type-a-tier2-"));
  EXPECT_EQ(found[2].tier, 2);
  EXPECT_EQ(found[2].members, std::vector<std::string>{found[0].name});
  EXPECT_EQ(found[2].tier_name, "spine");
  EXPECT_EQ(found[2].labels.at("spine"), "s1");
  // The same again, and the same with what is there now.
  EXPECT_EQ(discover_by_label(kTypes, pointers(nodes), {}), found);
  std::vector<Json> there;
  for (const Found& one : found) there.push_back(to_object(one, "label"));
  EXPECT_EQ(discover_by_label(kTypes, pointers(nodes), pointers(there)), found);
}

TEST(LabelSource, a_label_without_a_value_is_a_label) {
  const std::vector<Json> nodes = {node("n1", R"("leaf": "", "spine": "s1")"), node("n2", R"("leaf": "", "spine": "")"),
                                   node("n3", R"("spine": "s1")")};
  const auto found = discover_by_label(kTypes, pointers(nodes), {});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(text(found, false)[0], "1 hypernode-type-a-tier1- <- n1 n2");
  EXPECT_EQ(found[0].labels.at("leaf"), "");
  EXPECT_EQ(found[1].labels.at("spine"), "");
  EXPECT_EQ(found[2].labels.at("spine"), "s1");
  // A HyperNode that lacks the label is none for it.
  Json other = to_object(found[0], "label");
  other.edit("metadata").edit("labels").erase("leaf");
  EXPECT_NE(discover_by_label(kTypes, pointers(nodes), pointers({other}))[0].name, found[0].name);
}

TEST(LabelSource, keeps_a_name_that_is_there_and_avoids_those_of_others) {
  const std::vector<Json> nodes = {node("n1", R"("leaf": "l1")")};
  const std::string first = discover_by_label(kTypes, pointers(nodes), {})[0].name;
  const std::vector<Json> ours = {
      to_object({.name = "hypernode-type-a-tier1-mine", .labels = {{"leaf", "l1"}}}, "label")};
  EXPECT_EQ(discover_by_label(kTypes, pointers(nodes), pointers(ours))[0].name, "hypernode-type-a-tier1-mine");
  const std::vector<Json> foreign = {to_object({.name = first}, "ufm")};
  const auto found = discover_by_label(kTypes, pointers(nodes), pointers(foreign));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].name, first);
}

TEST(UfmSource, joins_leaves_that_share_a_node) {
  std::size_t unusable = 0;
  const auto found = discover_by_ports(R"([
    {"description": "Computer IB Port", "system_name": "n1", "peer_node_name": "leaf-b"},
    {"description": "Computer IB Port", "system_name": "n2", "peer_node_name": "leaf-a"},
    {"description": "Computer IB Port", "system_name": "n2", "peer_node_name": "leaf-c"},
    {"description": "Computer IB Port", "system_name": "n3", "peer_node_name": "leaf-c"},
    {"description": "Switch IB Port", "system_name": "x", "peer_node_name": "leaf-c"}])",
                                       unusable);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(text(*found), (std::vector<std::string>{"1 leaf-hn-0 <- n2 n3", "1 leaf-hn-1 <- n1",
                                                    "2 spine-hn <- leaf-hn-0 leaf-hn-1"}));
  EXPECT_EQ(unusable, 0u);
}

TEST(UfmSource, rubbish_is_left_out_or_refused) {
  struct Row {
    std::string_view answer;
    bool ok;
    std::size_t found, unusable;
  };
  const Row rows[] = {
      {"[]", true, 0, 0},
      {"", false, 0, 0},
      {"{}", false, 0, 0},
      {"[{\"descr", false, 0, 0},
      {"[1, null, \"x\"]", true, 0, 3},
      {R"([{"description": "Computer", "system_name": "Not A Name", "peer_node_name": "l"}])", true, 0, 1},
      {R"([{"description": "Computer", "system_name": "n", "peer_node_name": ""}])", true, 0, 1},
      {R"([{"description": 5, "system_name": "n", "peer_node_name": "l"}])", true, 0, 0},
      {R"([{"description": "Computer", "system_name": "n", "peer_node_name": "l"}])", true, 2, 0}};
  for (const Row& row : rows) {
    std::size_t unusable = 0;
    const auto found = discover_by_ports(row.answer, unusable);
    EXPECT_EQ(found.ok(), row.ok) << row.answer;
    EXPECT_EQ(found.ok() ? found->size() : 0, row.found) << row.answer;
    EXPECT_EQ(unusable, row.unusable) << row.answer;
  }
}

TEST(Config, every_entry_is_judged_by_itself) {
  struct Row {
    std::string_view entry;
    std::string_view problem;
  };
  const Row rows[] = {
      {"{source: label, enabled: true, config: {networkTopologyTypes: {a: [{nodeLabel: x}, {nodeLabel: z}]}}}", ""},
      {"{source: roce, enabled: true}", "unsupported discoverer type: roce"},
      {R"({source: label, enabled: "yes"})", "enabled is neither true nor false"},
      {"{source: label, enabled: true}", "config.networkTopologyTypes is missing"},
      {"{source: label, enabled: true, config: {networkTopologyTypes: {a: [{nodeLabel: x}, {nodeLabel: x}]}}}",
       "networkTopologyTypes: type \"a\": nodeLabel \"x\" is there twice"},
      {"{source: label, enabled: true, config: {networkTopologyTypes: {a: []}}}",
       "networkTopologyTypes: type \"a\": it is a list of 1 to 100 entries with nodeLabel"},
      {"{source: label, enabled: true, config: {networkTopologyTypes: {a-name-of-21-letters: [{nodeLabel: x}]}}}", ""},
      {"{source: label, enabled: true, config: {networkTopologyTypes: {a-name-of-21-letterss: [{nodeLabel: x}]}}}",
       "networkTopologyTypes: type \"a-name-of-21-letterss\": a name has 1 to 20 characters"},
      {"{source: ufm, enabled: true, config: {endpoint: u}}", "credentials.secretRef needs a name and a namespace"},
      {"{source: ufm, enabled: true, credentials: {secretRef: {name: s, namespace: ns}}}",
       "config.endpoint is missing"}};
  for (const Row& row : rows) {
    const auto sources = parse_discovery(base::format("networkTopologyDiscovery:\n- {}\n", row.entry));
    ASSERT_TRUE(sources.ok()) << row.entry;
    ASSERT_EQ(sources->size(), 1u) << row.entry;
    EXPECT_EQ(sources->front().problem, row.problem);
    EXPECT_EQ(sources->front().interval, base::hours(1));
  }
  const auto ufm = parse_discovery(
      "networkTopologyDiscovery: [{source: label, enabled: false}, {source: ufm, enabled: true, interval: 10m, "
      "credentials: {secretRef: {name: s, namespace: ns}}, config: {endpoint: host/, insecureSkipVerify: true}}]");
  ASSERT_TRUE(ufm.ok());
  ASSERT_EQ(ufm->size(), 1u);
  EXPECT_EQ(ufm->front().ufm.host, "host");
  EXPECT_EQ(ufm->front().ufm.path, "");
  EXPECT_EQ(ufm->front().ufm.port, 443);
  EXPECT_EQ(ufm->front().interval, base::minutes(10));
  EXPECT_TRUE(ufm->front().ufm.insecure_skip_verify);
  EXPECT_FALSE(parse_discovery("networkTopologyDiscovery: 5").ok());
  EXPECT_FALSE(parse_discovery("networkTopologyDiscovery: [{enabled: true}]").ok());
  EXPECT_FALSE(parse_discovery("a: [").ok());
  EXPECT_FALSE(parse_discovery("- source: label").ok());
  EXPECT_TRUE(parse_discovery("").ok());
}

TEST(Status, counts_distinct_names) {
  const std::vector<Json> nodes = {node("n1", R"("a": "b")"), node("n2", R"("a": "c")"), node("m1", "")};
  struct Row {
    std::string_view members;
    std::int64_t count;
  };
  const Row rows[] = {
      {R"({"selector": {"exactMatch": {"name": "absent"}}})", 1},
      {R"({"selector": {"regexMatch": {"pattern": "^n"}}}, {"selector": {"exactMatch": {"name": "n1"}}})", 2},
      {R"({"selector": {"regexMatch": {"pattern": "("}}})", 0},
      {R"({"selector": {"labelMatch": {"matchLabels": {"a": "b"}}}})", 1},
      {R"({"selector": {"labelMatch": {}}})", 0},
      {R"({"selector": {"labelMatch": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}})", 2}};
  for (const Row& row : rows)
    EXPECT_EQ(count_members(*api::parse_json(base::format(R"({{"spec": {{"members": [{}]}}}})", row.members)),
                            pointers(nodes)),
              row.count)
        << row.members;
}

}  // namespace
}  // namespace controllers::hypernode

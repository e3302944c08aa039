// Rules against wishes, bindings against users, and which rules cover others.
#include "apiserver/pipeline/roles.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace apiserver {
namespace {

// "verbs|groups|resources|names|urls", words apart by commas.
RoleRule rule(const std::string& text) {
  RoleRule out;
  std::vector<std::string>* lists[] = {&out.verbs, &out.groups, &out.resources, &out.names, &out.urls};
  std::size_t at = 0;
  std::string word;
  bool given = false;
  for (const char c : text + "|") {
    if (c == ',' || c == '|') {
      if (given || c == ',') lists[at]->push_back(word == "-" ? "" : word);
      word.clear();
      given = false;
    } else {
      word += c;
      given = true;
    }
    if (c == '|') ++at;
  }
  return out;
}

TEST(Roles, rules_allow_what_they_name) {
  struct Row {
    const char* rule;
    Attributes wish;
    bool allowed;
  };
  const Row rows[] = {
      {"get|-|pods", {"get", "", "pods", "", "n", "p", ""}, true},
      {"get|-|pods", {"list", "", "pods", "", "n", "", ""}, false},
      {"get|-|pods", {"get", "apps", "pods", "", "n", "p", ""}, false},
      {"get|-|pods", {"get", "", "pods", "log", "n", "p", ""}, false},
      {"get|-|pods/log", {"get", "", "pods", "log", "n", "p", ""}, true},
      {"get|-|pods/log", {"get", "", "pods", "", "n", "p", ""}, false},
      {"get|-|*/log", {"get", "", "pods", "log", "n", "p", ""}, true},
      {"*|*|*", {"delete", "apps", "deployments", "scale", "n", "p", ""}, true},
      {"get|-|pods|a,b", {"get", "", "pods", "", "n", "b", ""}, true},
      {"get|-|pods|a,b", {"get", "", "pods", "", "n", "c", ""}, false},
      {"list|-|pods|a", {"list", "", "pods", "", "n", "", ""}, false},
      {"get||||/metrics", {"get", "", "", "", "", "", "/metrics"}, true},
      {"get||||/apis/*", {"get", "", "", "", "", "", "/apis/batch"}, true},
      {"get||||/apis/*", {"get", "", "", "", "", "", "/api"}, false},
      {"*||||*", {"post", "", "", "", "", "", "/x"}, true},
      {"*|*|*", {"get", "", "", "", "", "", "/metrics"}, false},
  };
  for (const Row& row : rows)
    EXPECT_EQ(rule(row.rule).allows(row.wish), row.allowed) << row.rule << " " << row.wish.verb << row.wish.path;
}

TEST(Roles, bindings_hold_for_their_subjects_in_their_namespace) {
  const auto reads = std::make_shared<const std::vector<RoleRule>>(std::vector<RoleRule>{rule("get|-|pods")});
  const auto subjects = [](const std::string& list) {
    return role_subjects(*api::parse_json(R"({"subjects":[)" + list + "]}"));
  };
  const auto some = subjects(R"({"kind":"User","name":"jane"},{"kind":"Group","name":"dev"},
                                {"kind":"ServiceAccount","namespace":"m","name":"bot"})");
  const RoleSet set{{{"n", some, reads}, {"", subjects(R"({"kind":"User","name":"ann"})"), reads}}};
  const Attributes in_n{"get", "", "pods", "", "n", "p", ""}, in_m{"get", "", "pods", "", "m", "p", ""};
  EXPECT_TRUE(set.allows({"jane", {}}, in_n));
  EXPECT_FALSE(set.allows({"jane", {}}, in_m));
  EXPECT_TRUE(set.allows({"x", {"dev"}}, in_n));
  EXPECT_TRUE(set.allows({"system:serviceaccount:m:bot", {}}, in_n));
  EXPECT_FALSE(set.allows({"system:serviceaccount:n:bot", {}}, in_n));
  EXPECT_TRUE(set.allows({"ann", {}}, in_m));
  EXPECT_FALSE(set.allows({"dev", {"jane"}}, in_n));
  EXPECT_TRUE(set.allows({"root", {"system:masters"}}, {"get", "", "", "", "", "", "/metrics"}));
}

TEST(Roles, a_rule_is_covered_by_others_together) {
  const auto missing = [](std::vector<std::string> owned, const std::string& wanted) {
    std::vector<RoleRule> rules;
    for (const std::string& one : owned) rules.push_back(rule(one));
    return uncovered(rules, {rule(wanted)});
  };
  EXPECT_EQ(missing({"get|-|pods", "list|-|pods"}, "get,list|-|pods"), "");
  EXPECT_EQ(missing({"*|*|*"}, "get|-|pods/log"), "");
  EXPECT_EQ(missing({"get|-|*/log"}, "get|-|pods/log"), "");
  EXPECT_EQ(missing({"get|-|pods"}, "get|-|pods|a"), "");
  EXPECT_EQ(missing({"get||||/apis/*"}, "get||||/apis/batch/*"), "");
  EXPECT_EQ(missing({"get|-|pods|a"}, "get|-|pods"), R"({APIGroups:[""], Resources:["pods"], Verbs:["get"]})");
  EXPECT_NE(missing({"get|-|pods"}, "get|-|pods/log"), "");
  EXPECT_NE(missing({"get|-|pods"}, "*|-|pods"), "");
  EXPECT_NE(missing({"get||||/apis"}, "get||||/apis/*"), "");
  EXPECT_NE(missing({"get||||/metrics"}, "get||||/metrics*"), "") << "a pattern is more than what it begins with";
  EXPECT_NE(missing({"get||||/"}, "get||||/*"), "");
  EXPECT_EQ(missing({"get||||/metrics*"}, "get||||/metrics*"), "");
  EXPECT_EQ(missing({"get||||/metrics*"}, "get||||/metrics"), "");
  EXPECT_NE(missing({}, "get|-|pods"), "");
}

// A few kilobytes of words name billions of combinations.
TEST(Roles, what_a_rule_of_many_words_costs_is_limited) {
  const auto many = [](const std::string& word, int count, bool numbered) {
    std::vector<std::string> words;
    for (int i = 0; i < count; ++i) words.push_back(numbered ? word + std::to_string(i) : word);
    return words;
  };
  const RoleRule repeated{many("get", 3000, false), many("", 3000, false), many("pods", 3000, false), {}, {}};
  EXPECT_EQ(uncovered({rule("get|-|pods")}, {repeated}), "");
  const RoleRule numbered{many("v", 3000, true), many("g", 3000, true), many("r", 3000, true), {}, {}};
  EXPECT_NE(uncovered({rule("*|*|*")}, {numbered}).find("more combinations"), std::string::npos);
  const RoleRule of_names{{"get"}, {""}, {"pods"}, many("n", 20'000, true), {}};
  EXPECT_EQ(uncovered({of_names}, {of_names}), "");
  EXPECT_NE(uncovered({of_names}, {rule("get|-|pods|n1,other")}), "");
}

TEST(Roles, the_default_roles_stop_where_they_should) {
  const auto allows = [](std::string_view role, const Attributes& wish) {
    for (const api::Json& one : default_roles()) {
      if (one["kind"].as_string() != "ClusterRole" || one["metadata"]["name"].as_string() != role) continue;
      const RoleRules rules = role_rules(one);
      return std::ranges::any_of(*rules, [&](const RoleRule& rule) { return rule.allows(wish); });
    }
    return false;
  };
  EXPECT_TRUE(allows("edit", {"list", "batch.volcano.sh", "jobs", "", "n", "", ""}));
  EXPECT_TRUE(allows("edit", {"get", "", "resourcequotas", "", "n", "", ""}));
  EXPECT_FALSE(allows("admin", {"update", "", "resourcequotas", "", "n", "", ""}));
  const Attributes exec{"create", "", "pods", "exec", "n", "p", ""},
      bind{"create", "", "pods", "binding", "n", "p", ""}, secret{"get", "", "secrets", "", "n", "s", ""},
      role{"create", "rbac.authorization.k8s.io", "roles", "", "n", "", ""};
  EXPECT_TRUE(allows("edit", exec));
  EXPECT_TRUE(allows("edit", secret));
  EXPECT_TRUE(allows("admin", role));
  EXPECT_FALSE(allows("edit", role));
  // Whoever binds pods passes the scheduler, its queues and its quotas by.
  EXPECT_FALSE(allows("edit", bind));
  EXPECT_FALSE(allows("admin", bind));
  EXPECT_TRUE(allows("cluster-admin", bind));
  // Whoever adds containers to the pods of others is them.
  EXPECT_FALSE(allows("admin", {"patch", "", "pods", "ephemeralcontainers", "n", "p", ""}));
  // Resizing is not theirs on a stock server, either.
  EXPECT_FALSE(allows("admin", {"patch", "", "pods", "resize", "n", "p", ""}));
  EXPECT_FALSE(allows("edit", {"update", "", "pods", "resize", "n", "p", ""}));
  EXPECT_TRUE(allows("cluster-admin", {"patch", "", "pods", "resize", "n", "p", ""}));
  EXPECT_TRUE(allows("view", {"list", "metrics.k8s.io", "pods", "", "n", "", ""}));
  EXPECT_FALSE(allows("edit", {"create", "metrics.k8s.io", "pods", "", "n", "", ""}));
  EXPECT_FALSE(allows("view", exec));
  EXPECT_FALSE(allows("view", secret));
}

}  // namespace
}  // namespace apiserver

// Rules against wishes, bindings against users, and which rules cover others.
#include "apiserver/pipeline/rights/roles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "apiserver/pipeline/api_for_tests.h"
#include "apiserver/pipeline/rights/default_roles.h"

namespace apiserver {
namespace {

using api::Json;

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
    Attributes attributes;
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
    EXPECT_EQ(rule(row.rule).allows(row.attributes), row.allowed)
        << row.rule << " " << row.attributes.verb << row.attributes.path;
}

TEST(Roles, bindings_hold_for_their_subjects_in_their_namespace) {
  const auto reads = std::make_shared<const std::vector<RoleRule>>(std::vector<RoleRule>{rule("get|-|pods")});
  const auto subjects = [](const std::string& list) {
    return role_subjects(*api::parse_json(R"({"subjects":[)" + list + "]}"));
  };
  const auto some = subjects(R"({"kind":"User","name":"jane"},{"kind":"Group","name":"dev"},
                                {"kind":"ServiceAccount","namespace":"m","name":"bot"})");
  const auto beside = role_subjects(
      *api::parse_json(R"({"metadata":{"namespace":"n"},"subjects":[{"kind":"ServiceAccount","name":"bot"}]})"));
  EXPECT_TRUE(beside->include({"system:serviceaccount:n:bot", {}}));
  EXPECT_FALSE(beside->include({"system:serviceaccount:m:bot", {}}));
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

const Json* default_role(const std::vector<Json>& all, std::string_view kind, std::string_view name) {
  const auto found = std::ranges::find_if(all, [&](const Json& one) {
    return one["kind"].as_string() == kind && one["metadata"]["name"].as_string() == name;
  });
  return found == all.end() ? nullptr : &*found;
}

TEST(DefaultRoles, are_those_of_a_stock_server) {
  const std::vector<Json> all = default_roles();
  const Json* role = default_role(all, "ClusterRole", "system:controller:pod-garbage-collector");
  ASSERT_TRUE(role);
  EXPECT_EQ(
      (*role)["metadata"].dump(),
      R"({"name":"system:controller:pod-garbage-collector","labels":{"kubernetes.io/bootstrapping":"rbac-defaults"},)"
      R"("annotations":{"rbac.authorization.kubernetes.io/autoupdate":"true"}})");
  EXPECT_EQ((*role)["rules"][std::size_t{0}].dump(),
            R"({"verbs":["delete","list","watch"],"apiGroups":[""],"resources":["pods"]})");
  const Json* binding = default_role(all, "ClusterRoleBinding", "system:controller:pod-garbage-collector");
  ASSERT_TRUE(binding);
  EXPECT_EQ((*binding)["subjects"].dump(),
            R"([{"kind":"ServiceAccount","name":"pod-garbage-collector","namespace":"kube-system"}])");
  EXPECT_EQ((*binding)["roleRef"]["name"].as_string(), "system:controller:pod-garbage-collector");
  const Json* reader = default_role(all, "RoleBinding", "system::extension-apiserver-authentication-reader");
  ASSERT_TRUE(reader);
  EXPECT_EQ((*reader)["metadata"]["namespace"].as_string(), "kube-system");
  EXPECT_EQ((*reader)["roleRef"]["kind"].as_string(), "Role");
  EXPECT_EQ((*reader)["roleRef"]["name"].as_string(), "extension-apiserver-authentication-reader");
  const Json* viewer = default_role(all, "ClusterRole", "system:public-info-viewer");
  ASSERT_TRUE(viewer);
  EXPECT_EQ((*viewer)["rules"].dump(),
            R"([{"verbs":["get"],"nonResourceURLs":["/healthz","/livez","/readyz","/version","/version/"]}])");
  EXPECT_EQ(default_role(all, "ClusterRoleBinding", "cluster-admin")->find("subjects")->dump(),
            R"([{"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":"system:masters"}])");
  std::set<std::string> names;
  for (const Json& one : all) {
    EXPECT_TRUE(
        names.insert(one["kind"].str() + "/" + one["metadata"]["namespace"].str() + "/" + one["metadata"]["name"].str())
            .second);
    // Nodes have their rights by another way.
    EXPECT_EQ((one.has("roleRef") ? one["subjects"] : one["rules"]).empty(),
              one.has("roleRef") && one["metadata"]["name"].as_string() == "system:node")
        << one.dump();
  }
}

TEST(DefaultRoles, are_mended_unless_their_annotation_says_no) {
  const std::vector<Json> all = default_roles();
  const Json& ours = *default_role(all, "ClusterRole", "system:kube-dns");
  EXPECT_FALSE(mended_role(ours, ours));
  Json less = ours;
  less.set("rules", *api::parse_json(R"([{"verbs":["list"],"apiGroups":[""],"resources":["endpoints"]}])"));
  const auto mended = mended_role(less, ours);
  ASSERT_TRUE(mended);
  EXPECT_EQ((*mended)["rules"].size(), 2u) << "what was there stays";
  EXPECT_FALSE(mended_role(*mended, ours));
  less.edit("metadata").edit("annotations").set("rbac.authorization.kubernetes.io/autoupdate", "false");
  EXPECT_FALSE(mended_role(less, ours));
  Json more = ours;
  more.set("rules", *api::parse_json(R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}])"));
  EXPECT_FALSE(mended_role(more, ours)) << "it has all and more";
  Json old = ours;
  old.edit("metadata").erase("annotations");
  EXPECT_TRUE(mended_role(old, ours)) << "of an earlier version";

  const Json& binding = *default_role(all, "ClusterRoleBinding", "system:kube-dns");
  Json nobody = binding;
  nobody.set("subjects", Json::array());
  EXPECT_EQ((*mended_role(nobody, binding))["subjects"], binding["subjects"]);
  const Json& view = *default_role(all, "ClusterRole", "view");
  Json gathered = view;
  gathered.set("rules", Json::array());
  EXPECT_FALSE(mended_role(gathered, view)) << "its rules are those of others";
}

TEST(DefaultRoles, are_there_from_the_start_and_mended_at_the_next) {
  ApiForTests tested;
  const api::KindInfo& kind = *api::find_kind_named("rbac.authorization.k8s.io/v1", "ClusterRole");
  Request request;
  request.kind = &kind;
  request.resource = static_cast<std::uint32_t>(&kind - api::all_kinds().data());
  request.name = "system:kube-dns";
  const auto ask = [&](Verb verb, Json body) {
    request.verb = verb;
    request.body = std::move(body);
    std::optional<base::Result<Answer>> answer;
    tested.api.call(request, [&](base::Result<Answer> a) { answer.emplace(std::move(a)); });
    tested.env.settle();
    EXPECT_TRUE(answer->ok());
    return object_of(*std::move(*answer));
  };
  Json role = ask(Verb::kGet, {});
  role.set("rules", Json::array());
  EXPECT_TRUE(ask(Verb::kUpdate, role)["rules"].empty());
  base::Status begun = base::make_error(base::Code::kInternal, "not yet");
  tested.api.bootstrap([&](base::Status how) { begun = std::move(how); });
  tested.env.settle();
  EXPECT_TRUE(begun.ok());
  EXPECT_EQ(ask(Verb::kGet, {})["rules"].size(), 1u);
}

TEST(Roles, the_default_roles_stop_where_they_should) {
  const auto allows = [](std::string_view role, const Attributes& attributes) {
    for (const api::Json& one : default_roles()) {
      if (one["kind"].as_string() != "ClusterRole" || one["metadata"]["name"].as_string() != role) continue;
      const RoleRules rules = role_rules(one);
      return std::ranges::any_of(*rules, [&](const RoleRule& rule) { return rule.allows(attributes); });
    }
    return false;
  };
  EXPECT_TRUE(allows("edit", {"list", "batch.volcano.sh", "jobs", "", "n", "", ""}));
  EXPECT_TRUE(allows("edit", {"get", "", "resourcequotas", "", "n", "", ""}));
  EXPECT_FALSE(allows("admin", {"update", "", "resourcequotas", "", "n", "", ""}));
  // The endpoints of a service are not theirs to write (CVE-2021-25740).
  EXPECT_TRUE(allows("edit", {"list", "discovery.k8s.io", "endpointslices", "", "n", "", ""}));
  EXPECT_FALSE(allows("admin", {"update", "discovery.k8s.io", "endpointslices", "", "n", "", ""}));
  EXPECT_FALSE(allows("edit", {"create", "", "endpoints", "", "n", "", ""}));
  // Programs tell what they do, in either form, and act as their accounts.
  EXPECT_TRUE(allows("edit", {"create", "", "events", "", "n", "", ""}));
  EXPECT_TRUE(allows("edit", {"patch", "events.k8s.io", "events", "", "n", "e", ""}));
  EXPECT_TRUE(allows("view", {"watch", "events.k8s.io", "events", "", "n", "", ""}));
  EXPECT_FALSE(allows("view", {"create", "", "events", "", "n", "", ""}));
  EXPECT_TRUE(allows("edit", {"impersonate", "", "serviceaccounts", "", "n", "a", ""}));
  EXPECT_FALSE(allows("view", {"impersonate", "", "serviceaccounts", "", "n", "a", ""}));
  const Attributes exec{"create", "", "pods", "exec", "n", "p", ""},
      bind{"create", "", "pods", "binding", "n", "p", ""}, secret{"get", "", "secrets", "", "n", "s", ""},
      role{"create", "rbac.authorization.k8s.io", "roles", "", "n", "", ""};
  EXPECT_TRUE(allows("edit", exec));
  EXPECT_TRUE(allows("edit", secret));
  EXPECT_TRUE(allows("admin", role));
  EXPECT_FALSE(allows("edit", role));
  // A user who binds pods passes the scheduler, its queues and its quotas by.
  EXPECT_FALSE(allows("edit", bind));
  EXPECT_FALSE(allows("admin", bind));
  EXPECT_TRUE(allows("cluster-admin", bind));
  // A user who adds containers to the pods of others is them.
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

// How rules match, and which of them cover others.
#include "apiserver/pipeline/roles.h"

#include <algorithm>
#include <set>

#include "api/kinds.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

constexpr std::string_view kServiceAccount = "system:serviceaccount:";

bool has(const std::vector<std::string>& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}
bool has_or_star(const std::vector<std::string>& list, std::string_view word) {
  return has(list, "*") || has(list, word);
}

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> out;
  for (const Json& item : list.items()) out.push_back(item.str());
  return out;
}

bool url_matches(const std::vector<std::string>& urls, std::string_view path) {
  return std::ranges::any_of(urls, [path](std::string_view url) {
    if (url.ends_with('*')) return path.starts_with(url.substr(0, url.size() - 1));
    return url == path;
  });
}

bool resource_matches(const std::vector<std::string>& resources, const std::string& resource,
                      const std::string& subresource) {
  if (has(resources, "*")) return true;
  if (subresource.empty()) return has(resources, resource);
  return has(resources, resource + "/" + subresource) || has(resources, "*/" + subresource);
}

Json rule_json(std::vector<std::string> verbs, const std::vector<std::string>& groups,
               const std::vector<std::string>& resources) {
  const auto list = [](const std::vector<std::string>& words) {
    Json json = Json::array();
    for (const std::string& word : words) json.push_back(word);
    return json;
  };
  return Json::object({{"verbs", list(verbs)}, {"apiGroups", list(groups)}, {"resources", list(resources)}});
}

constexpr std::string_view kAggregateTo = "rbac.authorization.k8s.io/aggregate-to-";

// `into`: the role that these rules are gathered in; empty: none.
Json role_json(std::string_view name, Json rules, std::string_view into = {}) {
  Json labels = Json::object({{"kubernetes.io/bootstrapping", "rbac-defaults"}});
  if (!into.empty()) labels.set(base::format("{}{}", kAggregateTo, into), "true");
  return Json::object({{"apiVersion", "rbac.authorization.k8s.io/v1"},
                       {"kind", "ClusterRole"},
                       {"metadata", Json::object({{"name", name}, {"labels", std::move(labels)}})},
                       {"rules", std::move(rules)}});
}

// A role of what others are labelled with; `rules`: what that is at the start.
Json gathering_role(std::string_view name, Json rules, std::string_view into = {}) {
  Json role = role_json(name, std::move(rules), into);
  const Json labels = Json::object({{base::format("{}{}", kAggregateTo, name), "true"}});
  role.set("aggregationRule",
           Json::object({{"clusterRoleSelectors", Json::array({Json::object({{"matchLabels", labels}})})}}));
  return role;
}

Json binding_json(std::string_view name, std::string_view group) {
  return Json::object(
      {{"apiVersion", "rbac.authorization.k8s.io/v1"},
       {"kind", "ClusterRoleBinding"},
       {"metadata",
        Json::object({{"name", name}, {"labels", Json::object({{"kubernetes.io/bootstrapping", "rbac-defaults"}})}})},
       {"roleRef", Json::object({{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", name}})},
       {"subjects",
        Json::array({Json::object({{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "Group"}, {"name", group}})})}});
}

Json urls_json(std::initializer_list<const char*> urls) {
  Json list = Json::array();
  for (const char* url : urls) list.push_back(url);
  return Json::object({{"verbs", Json::array({"get"})}, {"nonResourceURLs", std::move(list)}});
}

// What a role of namespaces adds to the one before it: view reads, edit writes and reads secrets, admin gives rights.
enum class Share : std::uint8_t { kView, kEdit, kAdmin };

Json namespaced_rules(Share share) {
  const std::vector<std::string> reads = {"get", "list", "watch"};
  const std::vector<std::string> writes = {"create", "delete", "deletecollection", "patch", "update"};
  const std::vector<std::string> all = {"create", "delete", "deletecollection", "get",
                                        "list",   "patch",  "update",           "watch"};
  Json rules = Json::array();
  for (const api::KindInfo& kind : api::all_kinds()) {
    const api::ResourceId& id = kind.resource;
    const bool gives_rights = id.group == "rbac.authorization.k8s.io" || id.group == "authorization.k8s.io";
    if (!kind.namespaced || gives_rights != (share == Share::kAdmin)) continue;
    const bool secret = id.plural == "secrets";
    const bool only_read = id.plural == "resourcequotas" || id.plural == "limitranges" || id.plural == "events" ||
                           id.group == "metrics.k8s.io";
    if (share == Share::kView ? secret : only_read) continue;
    std::vector<std::string> resources = {id.plural};
    if (kind.status_subresource && share == Share::kView) resources.push_back(id.plural + "/status");
    // Whoever binds pods passes the scheduler by; whoever adds containers to the pods of others is them; and to resize
    // pods is a right of its own on a stock server, too.
    for (const std::string& name : kind.subresources)
      if ((share != Share::kView && name != "binding" && name != "ephemeralcontainers" && name != "resize") ||
          name == "log" || name == "scale")
        resources.push_back(id.plural + "/" + name);
    const bool whole = share == Share::kAdmin || secret;
    rules.push_back(rule_json(share == Share::kView ? reads : whole ? all : writes, {id.group}, resources));
  }
  if (share == Share::kView) {
    rules.push_back(rule_json(reads, {""}, {"namespaces"}));
    rules.push_back(rule_json(reads, {"metrics.k8s.io"}, {"nodes"}));
  }
  return rules;
}

// The rules of both, as the controller that gathers them puts them together.
Json together(Json rules, const Json& more) {
  for (const Json& rule : more.items()) rules.push_back(rule);
  return rules;
}

void add_namespaced_roles(std::vector<Json>& all) {
  const Json to_view = namespaced_rules(Share::kView), to_edit = namespaced_rules(Share::kEdit),
             to_admin = namespaced_rules(Share::kAdmin);
  all.push_back(role_json("system:aggregate-to-view", to_view, "view"));
  all.push_back(role_json("system:aggregate-to-edit", to_edit, "edit"));
  all.push_back(role_json("system:aggregate-to-admin", to_admin, "admin"));
  const Json edit = together(to_edit, to_view);
  all.push_back(gathering_role("view", to_view, "edit"));
  all.push_back(gathering_role("edit", edit, "admin"));
  all.push_back(gathering_role("admin", together(edit, to_admin)));
}

std::string text_of(const RoleRule& rule) {
  const auto list = [](const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "\"" : ", \"") + word + "\"";
    return "[" + text + "]";
  };
  if (!rule.urls.empty()) return base::format("{{NonResourceURLs:{}, Verbs:{}}}", list(rule.urls), list(rule.verbs));
  std::string text = base::format("{{APIGroups:{}, Resources:{}", list(rule.groups), list(rule.resources));
  if (!rule.names.empty()) text += ", ResourceNames:" + list(rule.names);
  return text + ", Verbs:" + list(rule.verbs) + "}";
}

// `url` may be a pattern itself: one that begins like an owned pattern is part of it, one that begins like an owned
// path is more.
bool covers_url(const RoleRule& owned, std::string_view url) {
  return std::ranges::any_of(owned.urls, [&url](std::string_view own) {
    if (own == url) return true;
    if (!own.ends_with('*')) return false;
    own.remove_suffix(1);
    return url.starts_with(own);
  });
}

bool covers_resource(const RoleRule& owned, std::string_view resource) {
  const std::size_t slash = resource.find('/');
  return has_or_star(owned.resources, resource) ||
         (slash != std::string_view::npos && has(owned.resources, "*" + std::string(resource.substr(slash))));
}

// Whether one who has rules has what others give. A rule names all combinations of its words, so each word is looked at
// by those rules alone that cover the words before it, and what that costs together is limited.
class Coverage {
 public:
  explicit Coverage(const std::vector<RoleRule>& owned) {
    for (const RoleRule& one : owned) owned_.push_back(&one);
  }

  bool includes(const RoleRule& rule) {
    const std::set<std::string_view> groups = words(rule.groups), resources = words(rule.resources),
                                     names = words(rule.names), urls = words(rule.urls);
    for (const std::string_view verb : words(rule.verbs)) {
      const Rules by_verb = those(owned_, &RoleRule::verbs, verb);
      for (const std::string_view url : urls)
        if (!any(by_verb, &RoleRule::urls, [url](const RoleRule& own) { return covers_url(own, url); })) return false;
      for (const std::string_view group : groups) {
        const Rules by_group = those(by_verb, &RoleRule::groups, group);
        for (const std::string_view resource : resources)
          if (!has_names(by_group, resource, names)) return false;
      }
    }
    return true;
  }
  bool is_exhausted() const { return steps_ > kStepsMax; }

 private:
  using Rules = std::vector<const RoleRule*>;
  using List = std::vector<std::string> RoleRule::*;
  static constexpr std::size_t kStepsMax = 5'000'000;  // words compared; the server's loop waits for them

  static std::set<std::string_view> words(const std::vector<std::string>& list) { return {list.begin(), list.end()}; }

  template <class Test>
  bool any(const Rules& rules, List list, Test test) {
    return std::ranges::any_of(rules, [&](const RoleRule* own) {
      steps_ += 1 + (own->*list).size();
      return !is_exhausted() && test(*own);
    });
  }
  Rules those(const Rules& rules, List list, std::string_view word) {
    Rules left;
    any(rules, list, [&](const RoleRule& own) {
      if (has_or_star(own.*list, word)) left.push_back(&own);
      return false;
    });
    return left;
  }
  bool has_names(const Rules& rules, std::string_view resource, const std::set<std::string_view>& names) {
    std::set<std::string_view> owned;
    const bool all = any(rules, &RoleRule::resources, [&](const RoleRule& own) {
      if (!covers_resource(own, resource)) return false;
      steps_ += own.names.size();
      owned.insert(own.names.begin(), own.names.end());
      return own.names.empty();
    });
    steps_ += names.size();
    return all || (!names.empty() && !is_exhausted() && std::ranges::includes(owned, names));
  }

  Rules owned_;
  std::size_t steps_ = 0;
};

}  // namespace

bool RoleRule::allows(const Attributes& wish) const {
  if (!has_or_star(verbs, wish.verb)) return false;
  if (!wish.path.empty()) return url_matches(urls, wish.path);
  return has_or_star(groups, wish.group) && resource_matches(resources, wish.resource, wish.subresource) &&
         (names.empty() || has(names, wish.name));
}

RoleRules role_rules(const Json& role) {
  auto rules = std::make_shared<std::vector<RoleRule>>();
  for (const Json& rule : role["rules"].items())
    rules->push_back({texts(rule["verbs"]), texts(rule["apiGroups"]), texts(rule["resources"]),
                      texts(rule["resourceNames"]), texts(rule["nonResourceURLs"])});
  return rules;
}

bool RoleSubjects::include(const UserInfo& user) const {
  return users.contains(user.name) ||
         std::ranges::any_of(user.groups, [this](const std::string& group) { return groups.contains(group); });
}

std::shared_ptr<const RoleSubjects> role_subjects(const Json& binding) {
  auto subjects = std::make_shared<RoleSubjects>();
  for (const Json& subject : binding["subjects"].items()) {
    const std::string_view kind = subject["kind"].as_string(), ns = subject["namespace"].as_string();
    if (kind == "User") subjects->users.insert(subject["name"].str());
    if (kind == "Group") subjects->groups.insert(subject["name"].str());
    if (kind == "ServiceAccount" && !ns.empty())
      subjects->users.insert(base::format("{}{}:{}", kServiceAccount, ns, subject["name"].as_string()));
  }
  return subjects;
}

bool RoleSet::allows(const UserInfo& user, const Attributes& wish) const {
  if (is_administrator(user)) return true;
  const void* refused = nullptr;  // rules that do not allow it; many bindings may be of one role
  for (const Grant& grant : grants) {
    if (!grant.ns.empty() && (grant.ns != wish.ns || !wish.path.empty())) continue;
    if (grant.rules.get() == refused || !grant.subjects->include(user)) continue;
    if (std::ranges::any_of(*grant.rules, [&wish](const RoleRule& rule) { return rule.allows(wish); })) return true;
    refused = grant.rules.get();
  }
  return false;
}

std::vector<RoleRule> RoleSet::rules_of(const UserInfo& user, std::string_view ns) const {
  std::vector<RoleRule> rules;
  if (is_administrator(user)) return {{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}};
  const void* taken = nullptr;
  for (const Grant& grant : grants) {
    if ((!grant.ns.empty() && grant.ns != ns) || grant.rules.get() == taken || !grant.subjects->include(user)) continue;
    rules.insert(rules.end(), grant.rules->begin(), grant.rules->end());
    taken = grant.rules.get();
  }
  return rules;
}

bool is_administrator(const UserInfo& user) { return has(user.groups, "system:masters"); }

std::string uncovered(const std::vector<RoleRule>& owned, const std::vector<RoleRule>& wanted) {
  Coverage coverage(owned);
  for (const RoleRule& rule : wanted)
    if (!coverage.includes(rule))
      return text_of(rule) + (coverage.is_exhausted() ? " (of more combinations than are compared; ask for less)" : "");
  return {};
}

std::vector<Json> default_roles() {
  std::vector<Json> all;
  Json everything = Json::array({rule_json({"*"}, {"*"}, {"*"})});
  everything.push_back(Json::object({{"verbs", Json::array({"*"})}, {"nonResourceURLs", Json::array({"*"})}}));
  all.push_back(role_json("cluster-admin", std::move(everything)));
  add_namespaced_roles(all);
  all.push_back(role_json("system:discovery",
                          Json::array({urls_json({"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez",
                                                  "/openapi", "/openapi/*", "/readyz", "/version", "/version/"})})));
  all.push_back(role_json("system:basic-user",
                          Json::array({rule_json({"create"}, {"authorization.k8s.io"},
                                                 {"selfsubjectaccessreviews", "selfsubjectrulesreviews"}),
                                       rule_json({"create"}, {"authentication.k8s.io"}, {"selfsubjectreviews"})})));
  all.push_back(binding_json("cluster-admin", "system:masters"));
  all.push_back(binding_json("system:discovery", "system:authenticated"));
  all.push_back(binding_json("system:basic-user", "system:authenticated"));
  return all;
}

}  // namespace apiserver

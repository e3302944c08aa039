// How rules match, and which of them cover others.
#include "apiserver/pipeline/roles.h"

#include <algorithm>

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

Json role_json(std::string_view name, Json rules) {
  return Json::object(
      {{"apiVersion", "rbac.authorization.k8s.io/v1"},
       {"kind", "ClusterRole"},
       {"metadata",
        Json::object({{"name", name}, {"labels", Json::object({{"kubernetes.io/bootstrapping", "rbac-defaults"}})}})},
       {"rules", std::move(rules)}});
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

// Rules for all that is served inside namespaces; what gives rights is left to administrators of the namespace.
Json namespaced_rules(bool write, bool roles) {
  Json rules = Json::array();
  const std::vector<std::string> verbs =
      write
          ? std::vector<std::string>{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
          : std::vector<std::string>{"get", "list", "watch"};
  for (const api::KindInfo& kind : api::all_kinds()) {
    const api::ResourceId& id = kind.resource;
    const bool gives_rights = id.group == "rbac.authorization.k8s.io";
    const bool only_roles = gives_rights || id.group == "authorization.k8s.io";
    const bool only_read = id.plural == "resourcequotas" || id.plural == "limitranges" || id.plural == "events";
    if (!kind.namespaced || (only_roles && !roles) || (id.plural == "secrets" && !write)) continue;
    std::vector<std::string> resources = {id.plural};
    if (kind.status_subresource && !write) resources.push_back(id.plural + "/status");
    // Whoever binds pods passes the scheduler by.
    for (const std::string& name : kind.subresources)
      if ((write && name != "binding") || name == "log" || name == "scale") resources.push_back(id.plural + "/" + name);
    const bool reads = only_read && write;
    rules.push_back(rule_json(reads ? std::vector<std::string>{"get", "list", "watch"} : verbs, {id.group}, resources));
  }
  rules.push_back(rule_json({"get", "list", "watch"}, {""}, {"namespaces"}));
  return rules;
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

bool covers_url(const RoleRule& owned, const std::string& verb, const std::string& url) {
  if (!has_or_star(owned.verbs, verb)) return false;
  return has(owned.urls, url) || url_matches(owned.urls, url.ends_with('*') ? url.substr(0, url.size() - 1) : url);
}

bool covers(const RoleRule& owned, const std::string& verb, const std::string& group, const std::string& resource,
            const std::string& name) {
  const std::size_t slash = resource.find('/');
  const bool star_of = slash != std::string::npos && has(owned.resources, "*" + resource.substr(slash));
  return has_or_star(owned.verbs, verb) && has_or_star(owned.groups, group) &&
         (has_or_star(owned.resources, resource) || star_of) &&
         (owned.names.empty() || (!name.empty() && has(owned.names, name)));
}

bool is_covered(const std::vector<RoleRule>& owned, const RoleRule& rule) {
  const auto any = [&owned](auto test) { return std::ranges::any_of(owned, test); };
  const std::vector<std::string> names = rule.names.empty() ? std::vector<std::string>{""} : rule.names;
  for (const std::string& verb : rule.verbs) {
    for (const std::string& url : rule.urls)
      if (!any([&](const RoleRule& own) { return covers_url(own, verb, url); })) return false;
    for (const std::string& group : rule.groups)
      for (const std::string& resource : rule.resources)
        for (const std::string& name : names)
          if (!any([&](const RoleRule& own) { return covers(own, verb, group, resource, name); })) return false;
  }
  return true;
}

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

bool RoleSubject::is(const UserInfo& user) const {
  if (kind == "User") return user.name == name;
  if (kind == "Group") return has(user.groups, name);
  if (kind != "ServiceAccount" || ns.empty()) return false;
  return user.name == base::format("{}{}:{}", kServiceAccount, ns, name);
}

std::vector<RoleSubject> role_subjects(const Json& binding) {
  std::vector<RoleSubject> subjects;
  for (const Json& subject : binding["subjects"].items())
    subjects.push_back({subject["kind"].str(), subject["name"].str(), subject["namespace"].str()});
  return subjects;
}

bool RoleSet::allows(const UserInfo& user, const Attributes& wish) const {
  if (is_administrator(user)) return true;
  for (const Grant& grant : grants) {
    if (!grant.ns.empty() && (grant.ns != wish.ns || !wish.path.empty())) continue;
    const auto is_user = [&user](const RoleSubject& subject) { return subject.is(user); };
    if (std::ranges::none_of(grant.subjects, is_user)) continue;
    if (std::ranges::any_of(*grant.rules, [&wish](const RoleRule& rule) { return rule.allows(wish); })) return true;
  }
  return false;
}

std::vector<RoleRule> RoleSet::rules_of(const UserInfo& user, std::string_view ns) const {
  std::vector<RoleRule> rules;
  if (is_administrator(user)) return {{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}};
  for (const Grant& grant : grants) {
    if (!grant.ns.empty() && grant.ns != ns) continue;
    for (const RoleSubject& subject : grant.subjects) {
      if (!subject.is(user)) continue;
      rules.insert(rules.end(), grant.rules->begin(), grant.rules->end());
      break;
    }
  }
  return rules;
}

bool is_administrator(const UserInfo& user) { return has(user.groups, "system:masters"); }

std::string uncovered(const std::vector<RoleRule>& owned, const std::vector<RoleRule>& wanted) {
  for (const RoleRule& rule : wanted)
    if (!is_covered(owned, rule)) return text_of(rule);
  return {};
}

std::vector<Json> default_roles() {
  std::vector<Json> all;
  Json everything = Json::array({rule_json({"*"}, {"*"}, {"*"})});
  everything.push_back(Json::object({{"verbs", Json::array({"*"})}, {"nonResourceURLs", Json::array({"*"})}}));
  all.push_back(role_json("cluster-admin", std::move(everything)));
  all.push_back(role_json("admin", namespaced_rules(true, true)));
  all.push_back(role_json("edit", namespaced_rules(true, false)));
  all.push_back(role_json("view", namespaced_rules(false, false)));
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

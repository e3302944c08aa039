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
bool covers_url(const RoleRule& owned, const std::string& verb, const std::string& url) {
  if (!has_or_star(owned.verbs, verb)) return false;
  return std::ranges::any_of(owned.urls, [&url](std::string_view own) {
    if (own == url) return true;
    if (!own.ends_with('*')) return false;
    own.remove_suffix(1);
    return url.starts_with(own);
  });
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
  for (const Grant& grant : grants) {
    if (!grant.ns.empty() && (grant.ns != wish.ns || !wish.path.empty())) continue;
    if (!grant.subjects->include(user)) continue;
    if (std::ranges::any_of(*grant.rules, [&wish](const RoleRule& rule) { return rule.allows(wish); })) return true;
  }
  return false;
}

std::vector<RoleRule> RoleSet::rules_of(const UserInfo& user, std::string_view ns) const {
  std::vector<RoleRule> rules;
  if (is_administrator(user)) return {{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}};
  for (const Grant& grant : grants) {
    if (!grant.ns.empty() && grant.ns != ns) continue;
    if (grant.subjects->include(user)) rules.insert(rules.end(), grant.rules->begin(), grant.rules->end());
  }
  return rules;
}

bool is_administrator(const UserInfo& user) { return has(user.groups, "system:masters"); }

std::string uncovered(const std::vector<RoleRule>& owned, const std::vector<RoleRule>& wanted) {
  for (const RoleRule& rule : wanted)
    if (!is_covered(owned, rule)) return text_of(rule);
  return {};
}

}  // namespace apiserver

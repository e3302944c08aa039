// How rules match, and which of them cover others.
#include "apiserver/pipeline/rights/roles.h"

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

bool RoleRule::allows(const Attributes& attributes) const {
  if (!has_or_star(verbs, attributes.verb)) return false;
  if (!attributes.path.empty()) return url_matches(urls, attributes.path);
  return has_or_star(groups, attributes.group) &&
         resource_matches(resources, attributes.resource, attributes.subresource) &&
         (names.empty() || has(names, attributes.name));
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
    const std::string_view kind = subject["kind"].as_string();
    std::string_view ns = subject["namespace"].as_string();
    if (ns.empty()) ns = api::namespace_of(binding);  // an account beside the binding
    if (kind == "User") subjects->users.insert(subject["name"].str());
    if (kind == "Group") subjects->groups.insert(subject["name"].str());
    if (kind == "ServiceAccount" && !ns.empty())
      subjects->users.insert(base::format("{}{}:{}", kServiceAccount, ns, subject["name"].as_string()));
  }
  return subjects;
}

bool RoleSet::allows(const UserInfo& user, const Attributes& attributes) const {
  if (is_administrator(user)) return true;
  const void* refused = nullptr;  // rules that do not allow it; many bindings may be of one role
  for (const Grant& grant : grants) {
    if (!grant.ns.empty() && (grant.ns != attributes.ns || !attributes.path.empty())) continue;
    if (grant.rules.get() == refused || !grant.subjects->include(user)) continue;
    if (std::ranges::any_of(*grant.rules, [&attributes](const RoleRule& rule) { return rule.allows(attributes); }))
      return true;
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

}  // namespace apiserver

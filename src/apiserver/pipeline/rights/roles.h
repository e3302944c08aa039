// The rights that roles and bindings give (RBAC). Pure.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "api/json/json.h"
#include "apiserver/pipeline/request/request.h"

namespace apiserver {

// The act that somebody wants to do. For a path that is not a resource `path` is set, and of the rest only `verb`.
struct Attributes {
  std::string verb;
  std::string group;
  std::string resource;
  std::string subresource;
  std::string ns;
  std::string name;
  std::string path;
};

struct RoleRule {
  std::vector<std::string> verbs;
  std::vector<std::string> groups;
  std::vector<std::string> resources;  // "pods", "pods/log", "*/scale", "*"
  std::vector<std::string> names;      // none: every name
  std::vector<std::string> urls;       // "/healthz", "/apis/*", "*"

  bool allows(const Attributes& attributes) const;
};
using RoleRules = std::shared_ptr<const std::vector<RoleRule>>;

RoleRules role_rules(const api::Json& role);

// Whom a binding names. There may be many; to find one among them costs the same for all.
struct RoleSubjects {
  std::unordered_set<std::string> users;  // service accounts by their names as users
  std::unordered_set<std::string> groups;

  bool include(const UserInfo& user) const;
};

std::shared_ptr<const RoleSubjects> role_subjects(const api::Json& binding);

// A binding with the rules of its role.
struct Grant {
  std::string ns;  // where it holds; empty: everywhere
  std::shared_ptr<const RoleSubjects> subjects;
  RoleRules rules;
};

// All bindings, each with its role. Immutable; any thread.
struct RoleSet {
  std::vector<Grant> grants;  // those of one namespace and role stand together

  bool allows(const UserInfo& user, const Attributes& attributes) const;
  // The user's rights in the namespace (empty: in the cluster as a whole).
  std::vector<RoleRule> rules_of(const UserInfo& user, std::string_view ns) const;
};

// The group whose members may do everything.
bool is_administrator(const UserInfo& user);
// Whether who has `owned` has everything that `wanted` gives: the first rule that is not covered, as text, or nothing.
std::string uncovered(const std::vector<RoleRule>& owned, const std::vector<RoleRule>& wanted);

}  // namespace apiserver

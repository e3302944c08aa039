// Which requests do the rules and selectors of a policy name?
#include <algorithm>
#include <map>

#include "api/kinds.h"
#include "api/policies/policy.h"
#include "api/policies/webhook.h"

namespace api::policies {
namespace {

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& one) { return one == "*" || one == word; });
}

std::string_view word(Operation operation) {
  switch (operation) {
    case Operation::kCreate: return "CREATE";
    case Operation::kUpdate: return "UPDATE";
    case Operation::kDelete: return "DELETE";
    case Operation::kConnect: return "CONNECT";
  }
  return "";
}

// "pods", "pods/status", "pods/*", "*/status", "*/*"; "*" is every resource without its subresources.
bool names_resource(std::string_view pattern, const AdmissionRequest& request) {
  const std::size_t slash = pattern.find('/');
  const std::string_view resource = pattern.substr(0, slash);
  const std::string_view sub = slash == std::string_view::npos ? std::string_view() : pattern.substr(slash + 1);
  if (resource != "*" && resource != request.resource.plural) return false;
  return slash != std::string_view::npos && sub == "*" ? true : sub == request.subresource;
}

bool matches_rule(const Rule& rule, const AdmissionRequest& request) {
  if (!has(rule.operations, word(request.operation)) || !has(rule.groups, request.resource.group) ||
      !has(rule.versions, request.resource.version))
    return false;
  if (std::none_of(rule.resources.begin(), rule.resources.end(),
                   [&](const std::string& one) { return names_resource(one, request); }))
    return false;
  const KindInfo* kind = find_kind(request.resource);
  // A Namespace is cluster-scoped, although requests for one name it as their namespace elsewhere.
  const bool namespaced = kind != nullptr ? kind->namespaced : !request.ns.empty();
  if (rule.scope == "Cluster" && namespaced) return false;
  if (rule.scope == "Namespaced" && !namespaced) return false;
  return rule.names.empty() || has(rule.names, request.name);
}

// Kubernetes' own: what decides about requests is not decided about.
bool is_exempt(const ResourceId& resource) { return is_policy_kind(resource) || is_webhook_kind(resource); }

}  // namespace

bool is_policy_kind(const ResourceId& resource) {
  return resource == kValidatingPolicies || resource == kValidatingBindings || resource == kMutatingPolicies ||
         resource == kMutatingBindings;
}

bool matches_rules(const std::vector<Rule>& rules, const AdmissionRequest& request) {
  return std::any_of(rules.begin(), rules.end(), [&](const Rule& rule) { return matches_rule(rule, request); });
}

bool matches(const Match& match, const AdmissionRequest& request, const Json& space) {
  if (is_exempt(request.resource) || matches_rules(match.excluded, request)) return false;
  if (!match.rules.empty() && !matches_rules(match.rules, request)) return false;
  return matches_selectors(match, request, space);
}

bool matches_selectors(const Match& match, const AdmissionRequest& request, const Json& space) {
  const KindInfo* kind = find_kind(request.resource);
  const bool is_namespace = kind != nullptr && kind->kind == "Namespace" && kind->resource.group.empty();
  if (!match.namespaces.requirements.empty()) {
    // Cluster-scoped objects are in no namespace that could be left out; a Namespace is judged by its own labels.
    const Json& own = request.object.is_null() ? request.old_object : request.object;
    if (is_namespace && !match.namespaces.matches(own["metadata"]["labels"])) return false;
    if (!is_namespace && !request.ns.empty() && !match.namespaces.matches(space)) return false;
  }
  if (match.objects.requirements.empty()) return true;
  return (request.object.is_object() && match.objects.matches(request.object["metadata"]["labels"])) ||
         (request.old_object.is_object() && match.objects.matches(request.old_object["metadata"]["labels"]));
}

Set bind(const std::vector<std::shared_ptr<const Policy>>& policies,
         const std::vector<std::shared_ptr<const Binding>>& bindings) {
  std::map<std::pair<bool, std::string_view>, std::vector<std::shared_ptr<const Binding>>> by_policy;
  for (const auto& binding : bindings) by_policy[{binding->mutating, binding->policy}].push_back(binding);
  Set out;
  for (const auto& policy : policies) {
    const auto found = by_policy.find({policy->mutating, policy->name});
    if (found == by_policy.end()) continue;
    (policy->mutating ? out.mutating : out.validating).push_back({policy, found->second});
  }
  return out;
}

}  // namespace api::policies

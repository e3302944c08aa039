// Reading of policies and bindings; everything that is wrong is said with its path, as Kubernetes says it.
#include <algorithm>
#include <array>
#include <set>

#include "api/policies/policy.h"
#include "api/policies/problems.h"
#include "api/policies/reading.h"
#include "api/schema/names.h"
#include "api/schema/selector_rules.h"
#include "base/format.h"
#include "base/letters.h"

namespace api::policies {
namespace {

using base::Cause;

constexpr std::string_view kFailurePolicies[] = {"Fail", "Ignore"};
constexpr std::string_view kMatchPolicies[] = {"Equivalent", "Exact"};
constexpr std::string_view kReinvocations[] = {"IfNeeded", "Never"};
constexpr std::string_view kScopes[] = {"*", "Cluster", "Namespaced"};
constexpr std::string_view kOperations[] = {"*", "CONNECT", "CREATE", "DELETE", "UPDATE"};
constexpr std::string_view kMutableOperations[] = {"*", "CONNECT", "CREATE", "UPDATE"};
constexpr std::string_view kActions[] = {"Audit", "Deny", "Warn"};
constexpr std::string_view kNotFoundActions[] = {"Allow", "Deny"};

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> out;
  for (const Json& item : list.items()) out.push_back(item.str());
  return out;
}

bool has(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

void check_wildcard(const Json& list, const std::string& path, std::string_view what, Problems& problems) {
  const auto all = texts(list);
  if (all.empty()) return problems.required(path);
  if (all.size() > 1 && has(all, "*"))
    problems.invalid(path, list, base::format("if '*' is present, must not specify other {}", what));
}

void check_resources(const Json& list, const std::string& path, Problems& problems) {
  const auto all = texts(list);
  if (all.empty()) return problems.required(path);
  std::set<std::string, std::less<>> with_all_subs, with_all_resources;
  bool plain = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string at = base::format("{}[{}]", path, i);
    const std::size_t slash = all[i].find('/');
    if (all[i].empty()) problems.required(at);
    if (slash == std::string::npos) {
      plain = plain || (!all[i].empty() && all[i] != "*");
      continue;
    }
    const std::string resource = all[i].substr(0, slash), sub = all[i].substr(slash + 1);
    if (with_all_subs.count(resource) > 0)
      problems.invalid(at, all[i], base::format("if '{}/*' is present, must not specify {}", resource, all[i]));
    if (with_all_resources.count(sub) > 0)
      problems.invalid(at, all[i], base::format("if '*/{}' is present, must not specify {}", sub, all[i]));
    if (sub == "*") with_all_subs.insert(resource);
    if (resource == "*") with_all_resources.insert(sub);
  }
  if (all.size() > 1 && has(all, "*/*"))
    problems.invalid(path, list, "if '*/*' is present, must not specify other resources");
  if (has(all, "*") && plain)
    problems.invalid(path, list, "if '*' is present, must not specify other resources without subresources");
}

}  // namespace

namespace policy_detail {

Rule read_rule(const Json& given, const std::string& path, Problems& problems) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < given["resourceNames"].size(); ++i)
    if (!seen.insert(given["resourceNames"][i].str()).second)
      problems.duplicate(base::format("{}.resourceNames[{}]", path, i), given["resourceNames"][i]);
  check_wildcard(given["operations"], path + ".operations", "operations", problems);
  for (std::size_t i = 0; i < given["operations"].size(); ++i)
    problems.one_of(base::format("{}.operations[{}]", path, i), given["operations"][i], kOperations);
  check_wildcard(given["apiGroups"], path + ".apiGroups", "API groups", problems);
  check_wildcard(given["apiVersions"], path + ".apiVersions", "API versions", problems);
  for (std::size_t i = 0; i < given["apiVersions"].size(); ++i)
    if (given["apiVersions"][i].as_string().empty()) problems.required(base::format("{}.apiVersions[{}]", path, i));
  check_resources(given["resources"], path + ".resources", problems);
  if (!given["scope"].is_null()) problems.one_of(path + ".scope", given["scope"], kScopes);
  return {.groups = texts(given["apiGroups"]),
          .versions = texts(given["apiVersions"]),
          .resources = texts(given["resources"]),
          .names = texts(given["resourceNames"]),
          .operations = texts(given["operations"]),
          .scope = std::string(given["scope"].as_string("*"))};
}

LabelSelector read_selector(const Json& given, const std::string& path, Problems& problems) {
  auto selector = label_selector_from(given);
  if (selector.ok()) return *std::move(selector);
  FieldErrors errors;
  check_label_selector(given, path, errors);
  problems.add(errors.take());
  return {};
}

void check_selector_names(const Json& given, const std::string& path, Problems& problems) {
  if (!label_selector_from(given).ok()) return;
  FieldErrors errors;
  check_label_selector(given, path, errors);
  problems.add(errors.take());
}

}  // namespace policy_detail

namespace {

using policy_detail::read_rule;
using policy_detail::read_selector;

Match read_match(const Json& given, const std::string& path, bool mutating, Problems& problems) {
  if (!given["matchPolicy"].is_null()) problems.one_of(path + ".matchPolicy", given["matchPolicy"], kMatchPolicies);
  Match out;
  out.namespaces = read_selector(given["namespaceSelector"], path + ".namespaceSelector", problems);
  out.objects = read_selector(given["objectSelector"], path + ".objectSelector", problems);
  for (std::size_t i = 0; i < given["resourceRules"].size(); ++i) {
    out.rules.push_back(read_rule(given["resourceRules"][i], base::format("{}.resourceRules[{}]", path, i), problems));
    for (const Json& operation : given["resourceRules"][i]["operations"].items())
      if (mutating) problems.one_of(path + ".resourceRules.operations", operation, kMutableOperations);
  }
  for (std::size_t i = 0; i < given["excludeResourceRules"].size(); ++i)
    out.excluded.push_back(
        read_rule(given["excludeResourceRules"][i], base::format("{}.excludeResourceRules[{}]", path, i), problems));
  for (const auto* list : {&out.rules, &out.excluded})
    for (const Rule& rule : *list)
      out.words += rule.groups.size() + rule.versions.size() + rule.resources.size() + rule.names.size() +
                   rule.operations.size();
  for (const auto* selector : {&out.namespaces, &out.objects})
    for (const Requirement& one : selector->requirements) out.words += 1 + one.values.size();
  return out;
}

void check_param_kind(const Json& given, const std::string& path, Problems& problems) {
  const std::string version = given["apiVersion"].str(), kind = given["kind"].str();
  const std::size_t slashes = static_cast<std::size_t>(std::count(version.begin(), version.end(), '/'));
  if (version.empty()) {
    problems.required(path + ".apiVersion");
  } else if (slashes > 1) {
    problems.invalid(path + ".apiVersion", version, "unexpected GroupVersion string: " + version);
  } else {
    const std::size_t slash = version.find('/');
    const std::string group = slash == std::string::npos ? "" : version.substr(0, slash);
    const std::string rest = slash == std::string::npos ? version : version.substr(slash + 1);
    if (!group.empty())
      for (const std::string& one : check_dns_subdomain(group)) problems.invalid(path + ".apiVersion", group, one);
    if (rest.empty()) problems.invalid(path + ".apiVersion", version, "version must be specified");
    if (!rest.empty())
      for (const std::string& one : check_dns1035_label(rest)) problems.invalid(path + ".apiVersion", rest, one);
  }
  if (kind.empty()) return problems.required(path + ".kind");
  for (const std::string& one : check_dns1035_label(base::lower(kind)))
    problems.invalid(path + ".kind", kind, "may have mixed case, but should otherwise match: " + one);
}

void read_param_ref(const Json& given, const std::string& path, Binding& out, Problems& problems) {
  if (!given.is_object()) return;
  out.has_param = true;
  out.param_name = given["name"].str();
  out.param_ns = given["namespace"].str();
  const bool selects = given["selector"].is_object();
  if (out.param_name == "." || out.param_name == ".." || out.param_name.find_first_of("/%") != std::string::npos)
    problems.invalid(path + ".name", out.param_name, "may not be '.' or '..', or contain '/' or '%'");
  if (selects) {
    out.param_selector = read_selector(given["selector"], path + ".selector", problems);
    if (!out.param_name.empty()) {
      problems.forbidden(path + ".name", "name and selector are mutually exclusive");
      problems.forbidden(path + ".selector", "name and selector are mutually exclusive");
    }
  }
  if (!selects && out.param_name.empty()) problems.required(path, "one of name or selector must be specified");
  const Json& action = given["parameterNotFoundAction"];
  if (action.as_string().empty())
    problems.required(path + ".parameterNotFoundAction");
  else
    problems.one_of(path + ".parameterNotFoundAction", action, kNotFoundActions);
  out.refuses_without_param = action.as_string() == "Deny";
}

void read_actions(const Json& given, const std::string& path, Binding& out, Problems& problems) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < given.size(); ++i) {
    problems.one_of(base::format("{}[{}]", path, i), given[i], kActions);
    if (!seen.insert(given[i].str()).second) problems.duplicate(base::format("{}[{}]", path, i), given[i]);
  }
  out.deny = seen.count("Deny") > 0;
  out.warn = seen.count("Warn") > 0;
  out.audit = seen.count("Audit") > 0;
  if (out.deny && out.warn)
    problems.invalid(path, given,
                     "must not contain both Deny and Warn (repeating the same validation failure information in the "
                     "API response and headers serves no purpose)");
  if (seen.empty()) problems.required(path, "at least one validation action is required");
}

}  // namespace

namespace policy_detail {

void read_frame(const Json& spec, Policy& out, Problems& problems) {
  if (!spec["failurePolicy"].is_null()) problems.one_of("spec.failurePolicy", spec["failurePolicy"], kFailurePolicies);
  out.ignores_failures = spec["failurePolicy"].as_string() == "Ignore";
  if (spec["paramKind"].is_object()) {
    check_param_kind(spec["paramKind"], "spec.paramKind", problems);
    out.param_api_version = spec["paramKind"]["apiVersion"].str();
    out.param_kind = spec["paramKind"]["kind"].str();
  }
  const Json& constraints = spec["matchConstraints"];
  if (!constraints.is_object()) {
    problems.required("spec.matchConstraints");
  } else {
    out.match = read_match(constraints, "spec.matchConstraints", out.mutating, problems);
    if (out.match.rules.empty()) problems.required("spec.matchConstraints.resourceRules");
  }
  if (!out.mutating) return;
  const Json& again = spec["reinvocationPolicy"];
  if (again.as_string().empty())
    problems.required("spec.reinvocationPolicy");
  else
    problems.one_of("spec.reinvocationPolicy", again, kReinvocations);
  out.reinvoked = again.as_string() == "IfNeeded";
}

}  // namespace policy_detail

std::shared_ptr<const Binding> read_binding(const Json& object, std::vector<Cause>& causes) {
  Problems problems(causes);
  auto out = std::make_shared<Binding>();
  const std::size_t before = causes.size();
  const Json& spec = object["spec"];
  out->name = name_of(object);
  out->mutating = kind_of(object) == "MutatingAdmissionPolicyBinding";
  out->policy = spec["policyName"].str();
  if (out->policy.empty()) problems.required("spec.policyName");
  if (!out->policy.empty())
    for (const std::string& one : check_dns_subdomain(out->policy))
      problems.invalid("spec.policyName", out->policy, one);
  read_param_ref(spec["paramRef"], "spec.paramRef", *out, problems);
  if (spec["matchResources"].is_object())
    out->match = read_match(spec["matchResources"], "spec.matchResources", out->mutating, problems);
  if (!out->mutating) read_actions(spec["validationActions"], "spec.validationActions", *out, problems);
  if (causes.size() > before) out->problem = causes[before].field + ": " + causes[before].message;
  return out;
}

void check(const Json& object, std::vector<Cause>& causes) {
  if (kind_of(object).ends_with("Binding"))
    read_binding(object, causes);
  else
    read_policy(object, causes);
  Problems problems(causes);
  for (const auto& [part, selector] : {std::pair{"matchConstraints", "namespaceSelector"},
                                       {"matchConstraints", "objectSelector"},
                                       {"matchResources", "namespaceSelector"},
                                       {"matchResources", "objectSelector"},
                                       {"paramRef", "selector"}})
    policy_detail::check_selector_names(object["spec"][part][selector], base::format("spec.{}.{}", part, selector),
                                        problems);
}

void apply_defaults(Json& object) {
  if (!object["spec"].is_object()) return;
  const bool binds = kind_of(object).ends_with("Binding");
  Json& spec = object.edit("spec");
  if (!binds && spec["failurePolicy"].is_null()) spec.set("failurePolicy", "Fail");
  const char* name = binds ? "matchResources" : "matchConstraints";
  if (!spec[name].is_object()) return;
  Json& match = spec.edit(name);
  if (match["matchPolicy"].is_null()) match.set("matchPolicy", "Equivalent");
  for (const char* selector : {"namespaceSelector", "objectSelector"})
    if (match[selector].is_null()) match.set(selector, Json::object());
  for (const char* list : {"resourceRules", "excludeResourceRules"})
    for (std::size_t i = 0; i < match[list].items().size(); ++i)
      if (match[list][i].is_object() && match[list][i]["scope"].is_null()) match.edit(list).edit(i).set("scope", "*");
}

}  // namespace api::policies

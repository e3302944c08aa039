// The places where pods of a template may run: node selector, affinity, tolerations, spread, host aliases, gates.
#include <array>
#include <map>
#include <set>

#include "api/ipv4.h"
#include "api/pods/names.h"
#include "api/pods/parts.h"
#include "api/schema/selector_rules.h"
#include "base/format.h"
#include "base/split.h"

namespace api {

namespace {

void check_weight(const Json& weight, const std::string& path, FieldErrors& errors) {
  if (weight.as_int() < 1 || weight.as_int() > 100)
    errors.invalid(path, weight.is_null() ? Json(0) : weight, "must be in the range 1-100");
}

void check_node_affinity(const Json& affinity, const std::string& path, FieldErrors& errors) {
  constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  if (const Json& required = affinity[kRequired]; required.is_object())
    check_node_selector(required, in(path, kRequired), errors);
  const Json& preferred = affinity[kPreferred];
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    const std::string where = at(in(path, kPreferred), i);
    check_weight(preferred[i]["weight"], in(where, "weight"), errors);
    check_node_term(preferred[i]["preference"], in(where, "preference"), errors);
  }
}

// Keys of the pod's own labels, which become part of the selector: a key cannot be in it twice.
void check_label_keys(const Json& owner, std::string_view field, const std::string& path, FieldErrors& errors) {
  const Json& keys = owner[field];
  const Json& selector = owner["labelSelector"];
  const std::string where = in(path, field);
  if (!keys.empty() && selector.is_null())
    return errors.forbidden(where, "must not be specified when labelSelector is not set");
  std::map<std::string_view, int> uses;  // keys of the selector
  for (const Json& one : selector["matchExpressions"].items()) ++uses[one["key"].as_string()];
  for (const Json::Member& one : selector["matchLabels"].members()) ++uses[one.name()];
  for (std::size_t i = 0; i < keys.size(); ++i) {
    errors.invalid(at(where, i), keys[i], check_qualified_name(keys[i].as_string()));
    // A pod's own expression of this key is what the server has added.
    const auto found = uses.find(keys[i].as_string());
    const bool taken = found != uses.end() && found->second > 1;
    if (taken) errors.invalid(at(where, i), keys[i], base::format("exists in both {} and labelSelector", field));
  }
}

void check_pod_term(const Json& term, const std::string& path, FieldErrors& errors) {
  check_label_selector(term["labelSelector"], in(path, "labelSelector"), errors);
  check_label_selector(term["namespaceSelector"], in(path, "namespaceSelector"), errors);
  const Json& spaces = term["namespaces"];
  for (std::size_t i = 0; i < spaces.size(); ++i)  // Kubernetes' own path
    errors.invalid(in(path, "namespace"), spaces[i], check_dns_label(spaces[i].as_string()));
  check_label_keys(term, "matchLabelKeys", path, errors);
  check_label_keys(term, "mismatchLabelKeys", path, errors);
  std::set<std::string_view> others;
  for (const Json& key : term["mismatchLabelKeys"].items()) others.insert(key.as_string());
  for (const Json& key : term["matchLabelKeys"].items())
    if (others.contains(key.as_string()))
      errors.invalid(in(path, "matchLabelKeys"), key, "exists in both matchLabelKeys and mismatchLabelKeys");
  const std::string key = term["topologyKey"].str();
  if (key.empty()) errors.required(in(path, "topologyKey"), "can not be empty");
  errors.invalid(in(path, "topologyKey"), key, check_qualified_name(key));
}

void check_pod_affinity(const Json& affinity, const std::string& path, FieldErrors& errors) {
  constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  const Json& required = affinity[kRequired];
  for (std::size_t i = 0; i < required.size(); ++i) check_pod_term(required[i], at(in(path, kRequired), i), errors);
  const Json& preferred = affinity[kPreferred];
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    const std::string where = at(in(path, kPreferred), i);
    check_weight(preferred[i]["weight"], in(where, "weight"), errors);
    check_pod_term(preferred[i]["podAffinityTerm"], in(where, "podAffinityTerm"), errors);
  }
}

void check_spread(const Json& constraints, const std::string& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kActions = {"DoNotSchedule", "ScheduleAnyway"};
  constexpr std::array<std::string_view, 2> kPolicies = {"Honor", "Ignore"};
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const std::string where = at(path, i);
    if (const Json& skew = constraints[i]["maxSkew"]; skew.as_int() <= 0)
      errors.invalid(in(where, "maxSkew"), skew.is_null() ? Json(0) : skew, "must be greater than zero");
    if (constraints[i]["topologyKey"].as_string().empty())
      errors.required(in(where, "topologyKey"), "can not be empty");
    errors.one_of(in(where, "whenUnsatisfiable"), constraints[i]["whenUnsatisfiable"].as_string(), kActions);
    const std::string_view action = constraints[i]["whenUnsatisfiable"].as_string();
    if (const Json& domains = constraints[i]["minDomains"]; domains.is_number()) {
      if (domains.as_int() <= 0) errors.invalid(in(where, "minDomains"), domains, "must be greater than zero");
      if (action != "DoNotSchedule")
        errors.invalid(in(where, "minDomains"), domains,
                       base::format("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}", action));
    }
    for (const char* field : {"nodeAffinityPolicy", "nodeTaintsPolicy"})
      if (const Json& policy = constraints[i][field]; policy.is_string())
        errors.one_of(in(where, field), policy.as_string(), kPolicies);
    check_label_keys(constraints[i], "matchLabelKeys", where, errors);
    if (const std::string_view key = constraints[i]["topologyKey"].as_string(); !seen.emplace(key, action).second)
      errors.duplicate(in(where, "{topologyKey, whenUnsatisfiable}"), base::format("{{{}, {}}}", key, action));
    check_label_selector(constraints[i]["labelSelector"], in(where, "labelSelector"), errors);
  }
}

}  // namespace

void check_tolerations(const Json& tolerations, const std::string& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 3> kEffects = {"NoExecute", "NoSchedule", "PreferNoSchedule"};
  for (std::size_t i = 0; i < tolerations.size(); ++i) {
    const Json& one = tolerations[i];
    const std::string where = at(path, i);
    const std::string key = one["key"].str();
    const std::string op = one["operator"].str();
    if (!key.empty()) errors.invalid(in(where, "key"), key, check_qualified_name(key));
    if (key.empty() && op != "Exists")
      errors.invalid(in(where, "operator"), op,
                     "operator must be Exists when `key` is empty, which means \"match all values and all keys\"");
    if (one["tolerationSeconds"].is_number() && one["effect"].as_string() != "NoExecute")
      errors.invalid(in(where, "effect"), one["effect"].as_string(),
                     "effect must be 'NoExecute' when `tolerationSeconds` is set");
    if (op.empty() || op == "Equal") {
      if (const auto problems = check_label_value(one["value"].as_string()); !problems.empty())
        errors.invalid(in(where, "operator"), one["value"], base::join(problems, ";"));
    } else if (op == "Exists") {
      if (!one["value"].as_string().empty())
        errors.invalid(in(where, "operator"), one["value"], "value must be empty when `operator` is 'Exists'");
    } else {
      errors.one_of(in(where, "operator"), op, std::array<std::string_view, 2>{"Equal", "Exists"});
    }
    if (const std::string effect = one["effect"].str(); !effect.empty())
      errors.one_of(in(where, "effect"), effect, kEffects);
  }
}

void check_placement(const Json& spec, const std::string& path, FieldErrors& errors) {
  check_labels(spec["nodeSelector"], in(path, "nodeSelector"), errors);
  const std::string affinity = in(path, "affinity");
  check_node_affinity(spec["affinity"]["nodeAffinity"], in(affinity, "nodeAffinity"), errors);
  check_pod_affinity(spec["affinity"]["podAffinity"], in(affinity, "podAffinity"), errors);
  check_pod_affinity(spec["affinity"]["podAntiAffinity"], in(affinity, "podAntiAffinity"), errors);
  check_spread(spec["topologySpreadConstraints"], in(path, "topologySpreadConstraints"), errors);
  check_tolerations(spec["tolerations"], in(path, "tolerations"), errors);
  const Json& aliases = spec["hostAliases"];
  for (std::size_t i = 0; i < aliases.size(); ++i) {
    const std::string where = at(in(path, "hostAliases"), i);
    if (const auto why = ip_problem(aliases[i]["ip"].as_string()); !why.empty())
      errors.invalid(in(where, "ip"), aliases[i]["ip"].str(), why);
    const Json& names = aliases[i]["hostnames"];
    for (std::size_t k = 0; k < names.size(); ++k)
      errors.invalid(in(at(in(path, "hostAliases"), i), "hostnames"), names[k],
                     check_dns_subdomain(names[k].as_string()));
  }
}

}  // namespace api

// Where pods of a template may run: node selector, affinity, tolerations, spread, host aliases, gates.
#include <array>

#include "api/ipv4.h"
#include "api/pods/names.h"
#include "api/pods/parts.h"
#include "base/split.h"

namespace api {

namespace {

constexpr std::array<std::string_view, 6> kNodeOperators = {"DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn"};
constexpr std::array<std::string_view, 4> kLabelOperators = {"DoesNotExist", "Exists", "In", "NotIn"};

void check_node_term(const Json& term, const std::string& path, FieldErrors& errors) {
  const Json& expressions = term["matchExpressions"];
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const std::string where = at(in(path, "matchExpressions"), i);
    const std::string op = expressions[i]["operator"].str();
    const std::size_t count = expressions[i]["values"].size();
    if ((op == "In" || op == "NotIn") && count == 0)
      errors.required(in(where, "values"), "must be specified when `operator` is 'In' or 'NotIn'");
    else if ((op == "Exists" || op == "DoesNotExist") && count > 0)
      errors.forbidden(in(where, "values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    else if ((op == "Gt" || op == "Lt") && count != 1)
      errors.required(in(where, "values"), "must be specified single value when `operator` is 'Lt' or 'Gt'");
    bool known = false;
    for (const std::string_view one : kNodeOperators) known = known || one == op;
    if (!known) errors.invalid(in(where, "operator"), op, "not a valid selector operator");
    const std::string key = expressions[i]["key"].str();
    errors.invalid(in(where, "key"), key, check_qualified_name(key));
  }
}

void check_weight(const Json& weight, const std::string& path, FieldErrors& errors) {
  if (weight.as_int() < 1 || weight.as_int() > 100)
    errors.invalid(path, weight.is_null() ? Json(0) : weight, "must be in the range 1-100");
}

void check_node_affinity(const Json& affinity, const std::string& path, FieldErrors& errors) {
  constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  if (const Json& required = affinity[kRequired]; required.is_object()) {
    const std::string where = in(in(path, kRequired), "nodeSelectorTerms");
    const Json& terms = required["nodeSelectorTerms"];
    if (terms.empty()) errors.required(where, "must have at least one node selector term");
    for (std::size_t i = 0; i < terms.size(); ++i) check_node_term(terms[i], at(where, i), errors);
  }
  const Json& preferred = affinity[kPreferred];
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    const std::string where = at(in(path, kPreferred), i);
    check_weight(preferred[i]["weight"], in(where, "weight"), errors);
    check_node_term(preferred[i]["preference"], in(where, "preference"), errors);
  }
}

void check_label_selector(const Json& selector, const std::string& path, FieldErrors& errors) {
  check_labels(selector["matchLabels"], in(path, "matchLabels"), errors);
  const Json& expressions = selector["matchExpressions"];
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const std::string where = at(in(path, "matchExpressions"), i);
    const std::string op = expressions[i]["operator"].str();
    const bool empty = expressions[i]["values"].empty();
    if ((op == "In" || op == "NotIn") && empty)
      errors.required(in(where, "values"), "must be specified when `operator` is 'In' or 'NotIn'");
    if ((op == "Exists" || op == "DoesNotExist") && !empty)
      errors.forbidden(in(where, "values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    bool known = false;
    for (const std::string_view one : kLabelOperators) known = known || one == op;
    if (!known) errors.invalid(in(where, "operator"), op, "not a valid selector operator");
    const std::string key = expressions[i]["key"].str();
    errors.invalid(in(where, "key"), key, check_qualified_name(key));
  }
}

void check_pod_term(const Json& term, const std::string& path, FieldErrors& errors) {
  check_label_selector(term["labelSelector"], in(path, "labelSelector"), errors);
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

void check_spread(const Json& constraints, const std::string& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kActions = {"DoNotSchedule", "ScheduleAnyway"};
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const std::string where = at(path, i);
    if (const Json& skew = constraints[i]["maxSkew"]; skew.as_int() <= 0)
      errors.invalid(in(where, "maxSkew"), skew.is_null() ? Json(0) : skew, "must be greater than zero");
    if (constraints[i]["topologyKey"].as_string().empty())
      errors.required(in(where, "topologyKey"), "can not be empty");
    errors.one_of(in(where, "whenUnsatisfiable"), constraints[i]["whenUnsatisfiable"].as_string(), kActions);
    check_label_selector(constraints[i]["labelSelector"], in(where, "labelSelector"), errors);
  }
}

}  // namespace

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
    if (!is_ip_address(aliases[i]["ip"].as_string()))
      errors.invalid(in(where, "ip"), aliases[i]["ip"].str(),
                     "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    const Json& names = aliases[i]["hostnames"];
    for (std::size_t k = 0; k < names.size(); ++k)
      errors.invalid(in(at(in(path, "hostAliases"), i), "hostnames"), names[k],
                     check_dns_subdomain(names[k].as_string()));
  }
}

}  // namespace api

// Admission policies of Kubernetes, read: ValidatingAdmissionPolicy, MutatingAdmissionPolicy and their bindings
// (admissionregistration.k8s.io/v1). A policy that was read is immutable and may be used by several threads at once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/admission.h"
#include "api/cel/expression.h"
#include "api/json/json.h"
#include "api/meta/resource.h"
#include "api/selector.h"
#include "base/result.h"

namespace api::policies {

inline const ResourceId kValidatingPolicies{"admissionregistration.k8s.io", "v1", "validatingadmissionpolicies"};
inline const ResourceId kValidatingBindings{"admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings"};
inline const ResourceId kMutatingPolicies{"admissionregistration.k8s.io", "v1", "mutatingadmissionpolicies"};
inline const ResourceId kMutatingBindings{"admissionregistration.k8s.io", "v1", "mutatingadmissionpolicybindings"};
// One of the four.
bool is_policy_kind(const ResourceId& resource);

// Texts of all expressions of one policy together, and how many there may be; each may have cel::kExpressionBytesMax.
inline constexpr std::size_t kPolicyBytesMax = std::size_t{256} << 10;
inline constexpr std::size_t kPolicyExpressionsMax = 1000;

struct Rule {
  std::vector<std::string> groups, versions, resources;  // "*" is any; resources may be "pods/status", "*/scale", "*/*"
  std::vector<std::string> names;                        // empty: any
  std::vector<std::string> operations;                   // "CREATE", ..., "*"
  std::string scope;                                     // "*", "Cluster", "Namespaced"
};

// Which requests. There is one version of each kind here, so Exact and Equivalent match the same.
struct Match {
  std::vector<Rule> rules;
  std::vector<Rule> excluded;
  LabelSelector namespaces;  // without requirements: all
  LabelSelector objects;
  std::size_t words = 1;  // how much there is to compare
};

struct Program {
  cel::Expression expression;
  std::vector<std::size_t> variables = {};  // which of the policy's it reads
};

struct Condition {
  std::string name;
  Program program;
};
struct Validation {
  Program program;
  std::string message;  // empty: none
  std::optional<Program> message_program;
  base::Code code = base::Code::kInvalid;
};
struct Mutation {
  bool applies = false;  // an ApplyConfiguration; else a JSONPatch
  Program program;
};

struct Policy {
  std::string name;
  bool mutating = false;
  bool ignores_failures = false;
  bool reinvoked = false;                     // again, when something changed the object after it
  std::string param_api_version, param_kind;  // empty: it has no parameters
  Match match;
  std::vector<Condition> conditions;
  std::vector<Condition> variables;
  std::vector<Validation> validations;
  std::vector<Condition> audit_annotations;  // audit annotations, by their keys
  std::vector<Mutation> mutations;
  std::string problem;  // why it cannot be used; empty: it can
};

struct Binding {
  std::string name;
  bool mutating = false;
  std::string policy;
  std::optional<Match> match;  // without rules: whatever the policy matches
  bool has_param = false;
  std::string param_name, param_ns;
  std::optional<LabelSelector> param_selector;
  bool refuses_without_param = false;
  bool deny = false, warn = false, audit = false;
  std::string problem;
};

// Reads an object; `causes` receives everything that is wrong, worded as Kubernetes words it.
std::shared_ptr<const Policy> read_policy(const Json& object, std::vector<base::Cause>& causes);
std::shared_ptr<const Binding> read_binding(const Json& object, std::vector<base::Cause>& causes);
// The faults of an object of one of the four kinds.
void check(const Json& object, std::vector<base::Cause>& causes);
// Fills what the author left out.
void apply_defaults(Json& object);

// A policy and what puts it in force, sorted by name.
struct Bound {
  std::shared_ptr<const Policy> policy;
  std::vector<std::shared_ptr<const Binding>> bindings;
};
// All that is in force, sorted by name.
struct Set {
  std::vector<Bound> validating, mutating;
  bool empty() const { return validating.empty() && mutating.empty(); }
};
Set bind(const std::vector<std::shared_ptr<const Policy>>& policies,
         const std::vector<std::shared_ptr<const Binding>>& bindings);

// Whether a request is one of those that rules and selectors name. `space`: labels of its namespace.
bool matches(const Match& match, const AdmissionRequest& request, const Json& space);
bool matches_selectors(const Match& match, const AdmissionRequest& request, const Json& space);
bool matches_rules(const std::vector<Rule>& rules, const AdmissionRequest& request);

}  // namespace api::policies

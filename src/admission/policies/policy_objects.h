// The same rules as ValidatingAdmissionPolicies and MutatingAdmissionPolicies (webhooks.md 14), for clusters that judge
// by them instead of by webhooks.
//
// COMPAT(policies): more than Volcano's own say.
//
// Rows say what an expression must hold of an object and what is said when it does not. Only webhooks refuse what
// expressions cannot say: other objects, quantities that are equal in other words, graphs of any depth.
#pragma once

#include <string>
#include <vector>

#include "api/json/json.h"
#include "api/meta/resource.h"

namespace admission {

struct PolicyVariable {
  std::string name;
  std::string expression;
};
struct PolicyRule {
  std::string expression;
  std::string message;
  std::string message_expression = {};  // where the message names something
};
struct ValidatingTable {
  std::string name;  // "job": job-validation-policy, job-validation-policy-binding
  api::ResourceId resource;
  std::vector<std::string> operations;
  std::vector<PolicyVariable> variables;
  std::vector<PolicyRule> rules;
  bool asks_queues = false;  // `params` is each queue in turn
};
struct MutatingTable {
  std::string name;  // "job": volcano-job-mutation-policy, volcano-job-mutation-binding
  api::ResourceId resource;
  std::vector<PolicyVariable> variables;
  std::vector<std::string> patches;  // expressions of JSON patches, each on what the one before left
};

// One per file: policy_rules_*.cc, policy_mutations.cc.
ValidatingTable job_policy();
ValidatingTable queue_policy();
ValidatingTable podgroup_policy();
ValidatingTable pod_policy();
ValidatingTable hypernode_policy();
ValidatingTable jobflow_policy();
ValidatingTable cronjob_policy();
std::vector<ValidatingTable> access_policies();
std::vector<MutatingTable> mutation_policies();

// Each policy with its binding behind it.
std::vector<api::Json> validating_policy_objects();
// `version` of admissionregistration.k8s.io: "v1" from Kubernetes 1.36 on, "v1beta1" before.
std::vector<api::Json> mutating_policy_objects(const std::string& version);

// "['a', 'b']".
std::string text_list(const std::vector<std::string>& words);

}  // namespace admission

// From tables of rules to objects of Kubernetes.
#include "admission/policies/policy_objects.h"

#include "base/format.h"

namespace admission {

using api::Json;

namespace {

Json text_array(const std::vector<std::string>& words) {
  Json out = Json::array();
  for (const std::string& word : words) out.push_back(word);
  return out;
}

Json constraints_for(const api::ResourceId& resource, const std::vector<std::string>& operations) {
  const Json rule = Json::object({{"apiGroups", text_array({resource.group})},
                                  {"apiVersions", text_array({resource.version})},
                                  {"operations", text_array(operations)},
                                  {"resources", text_array({resource.plural})},
                                  {"scope", "*"}});  // said, so that to apply it again changes nothing
  return Json::object({{"resourceRules", Json::array({rule})}});
}

Json variables_for(const std::vector<PolicyVariable>& variables) {
  Json out = Json::array();
  for (const PolicyVariable& one : variables)
    out.push_back(Json::object({{"expression", one.expression}, {"name", one.name}}));
  return out;
}

Json object_of(std::string_view version, std::string_view kind, const std::string& name, Json spec) {
  return Json::object({{"apiVersion", base::format("admissionregistration.k8s.io/{}", version)},
                       {"kind", kind},
                       {"metadata", Json::object({{"name", name}})},
                       {"spec", std::move(spec)}});
}

void add_validating(const ValidatingTable& table, std::vector<Json>& out) {
  Json spec = Json::object(
      {{"failurePolicy", "Fail"}, {"matchConstraints", constraints_for(table.resource, table.operations)}});
  Json validations = Json::array();
  for (const PolicyRule& rule : table.rules) {
    Json one = Json::object({{"expression", rule.expression}, {"message", rule.message}});
    if (!rule.message_expression.empty()) one.set("messageExpression", rule.message_expression);
    one.set("reason", "Invalid");
    validations.push_back(std::move(one));
  }
  spec.set("validations", std::move(validations));
  if (!table.variables.empty()) spec.set("variables", variables_for(table.variables));
  if (table.asks_queues)
    spec.set("paramKind", Json::object({{"apiVersion", api::resources::kQueues.api_version()}, {"kind", "Queue"}}));
  const std::string name = table.name + "-validation-policy";
  Json binding = Json::object({{"policyName", name}, {"validationActions", text_array({"Deny"})}});
  if (table.asks_queues)
    binding.set("paramRef", Json::object({{"parameterNotFoundAction", "Allow"}, {"selector", Json::object()}}));
  out.push_back(object_of("v1", "ValidatingAdmissionPolicy", name, std::move(spec)));
  out.push_back(object_of("v1", "ValidatingAdmissionPolicyBinding", name + "-binding", std::move(binding)));
}

void add_mutating(const MutatingTable& table, const std::string& version, std::vector<Json>& out) {
  Json mutations = Json::array();
  for (const std::string& patch : table.patches)
    mutations.push_back(
        Json::object({{"jsonPatch", Json::object({{"expression", patch}})}, {"patchType", "JSONPatch"}}));
  Json spec = Json::object({{"failurePolicy", "Fail"},
                            {"matchConstraints", constraints_for(table.resource, {"CREATE"})},
                            {"mutations", std::move(mutations)},
                            {"reinvocationPolicy", "Never"}});
  if (!table.variables.empty()) spec.set("variables", variables_for(table.variables));
  const std::string name = base::format("volcano-{}-mutation", table.name);
  out.push_back(object_of(version, "MutatingAdmissionPolicy", name + "-policy", std::move(spec)));
  out.push_back(object_of(version, "MutatingAdmissionPolicyBinding", name + "-binding",
                          Json::object({{"policyName", name + "-policy"}})));
}

}  // namespace

std::string text_list(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += base::format("{}'{}'", out.empty() ? "" : ", ", word);
  return "[" + out + "]";
}

std::vector<Json> validating_policy_objects() {
  std::vector<Json> out;
  for (const auto make :
       {job_policy, queue_policy, podgroup_policy, pod_policy, hypernode_policy, jobflow_policy, cronjob_policy})
    add_validating(make(), out);
  for (const ValidatingTable& table : access_policies()) add_validating(table, out);
  return out;
}

std::vector<Json> mutating_policy_objects(const std::string& version) {
  std::vector<Json> out;
  for (const MutatingTable& table : mutation_policies()) add_mutating(table, version, out);
  return out;
}

}  // namespace admission

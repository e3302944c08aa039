// Admission policies, their bindings, and configurations of webhooks.
#include <vector>

#include "api/policies/policy.h"
#include "api/policies/webhook.h"
#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/rows.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

void check_new_policy(const Json& object, api::FieldErrors& errors) {
  std::vector<base::Cause> causes;
  api::policies::check(object, causes);
  errors.add(std::move(causes));
}

void check_policy_update(const Json&, const Json& object, api::FieldErrors& errors) {
  check_new_policy(object, errors);
}

void check_webhooks_update(const Json& old_object, const Json& object, api::FieldErrors& errors) {
  std::vector<base::Cause> causes;
  api::policies::check_webhooks(object, old_object, causes);
  errors.add(std::move(causes));
}

void check_new_webhooks(const Json& object, api::FieldErrors& errors) { check_webhooks_update(Json(), object, errors); }

std::vector<Json> policy_cells(const Json& policy, base::Time now) {
  const Json& spec = policy["spec"];
  const Json& kind = spec["paramKind"];
  const std::size_t count = spec["validations"].size() + spec["mutations"].size();
  return {Json(static_cast<std::int64_t>(count)),
          kind.is_object() ? Json(base::format("{}/{}", kind["apiVersion"].as_string(), kind["kind"].as_string()))
                           : Json("<unset>"),
          age_of(policy, now)};
}

constexpr api::Column kColumnsOfValidatingPolicy[] = {{"Validations", "", "integer"}, {"ParamKind", ""}, {"Age", ""}};
constexpr api::Column kColumnsOfMutatingPolicy[] = {{"Mutations", "", "integer"}, {"ParamKind", ""}, {"Age", ""}};

std::vector<Json> policy_binding_cells(const Json& binding, base::Time now) {
  const Json& ref = binding["spec"]["paramRef"];
  std::string param = "<unset>";
  if (!ref["name"].as_string().empty())
    param = base::format("{}/{}", ref["namespace"].as_string().empty() ? "*" : ref["namespace"].as_string(),
                         ref["name"].as_string());
  else if (ref["selector"].is_object())
    param = ref["selector"].dump();
  return {binding["spec"]["policyName"], Json(param), age_of(binding, now)};
}
constexpr api::Column kColumnsOfPolicyBinding[] = {{"PolicyName", ""}, {"ParamRef", ""}, {"Age", ""}};

std::vector<Json> webhook_cells(const Json& configuration, base::Time now) {
  return {count_of(configuration["webhooks"]), age_of(configuration, now)};
}
constexpr api::Column kColumnsOfWebhooks[] = {{"Webhooks", "", "integer"}, {"Age", ""}};

constexpr KindRules policy_rules(std::string_view kind, const KindTable& table) {
  return {.kind = kind,
          .defaults = api::policies::apply_defaults,
          .check_create = check_new_policy,
          .check_update = check_policy_update,
          .table = table};
}

constexpr KindRules webhook_rules(std::string_view kind) {
  return {.kind = kind,
          .defaults = api::policies::apply_webhook_defaults,
          .check_create = check_new_webhooks,
          .check_update = check_webhooks_update,
          .table = {kColumnsOfWebhooks, webhook_cells}};
}

}  // namespace

const KindRules kValidatingAdmissionPolicy =
    policy_rules("ValidatingAdmissionPolicy", {kColumnsOfValidatingPolicy, policy_cells});
const KindRules kValidatingAdmissionPolicyBinding =
    policy_rules("ValidatingAdmissionPolicyBinding", {kColumnsOfPolicyBinding, policy_binding_cells});
const KindRules kMutatingAdmissionPolicy =
    policy_rules("MutatingAdmissionPolicy", {kColumnsOfMutatingPolicy, policy_cells});
const KindRules kMutatingAdmissionPolicyBinding =
    policy_rules("MutatingAdmissionPolicyBinding", {kColumnsOfPolicyBinding, policy_binding_cells});
const KindRules kValidatingWebhookConfiguration = webhook_rules("ValidatingWebhookConfiguration");
const KindRules kMutatingWebhookConfiguration = webhook_rules("MutatingWebhookConfiguration");

}  // namespace apiserver

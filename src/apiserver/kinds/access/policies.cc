// Admission policies, their bindings, and configurations of webhooks.
#include <vector>

#include "api/policies/policy.h"
#include "api/policies/webhook.h"
#include "apiserver/kinds/rows.h"

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

constexpr KindRules policy_rules(std::string_view kind) {
  return {.kind = kind,
          .defaults = api::policies::apply_defaults,
          .check_create = check_new_policy,
          .check_update = check_policy_update};
}

constexpr KindRules webhook_rules(std::string_view kind) {
  return {.kind = kind,
          .defaults = api::policies::apply_webhook_defaults,
          .check_create = check_new_webhooks,
          .check_update = check_webhooks_update};
}

}  // namespace

const KindRules kValidatingAdmissionPolicy = policy_rules("ValidatingAdmissionPolicy");
const KindRules kValidatingAdmissionPolicyBinding = policy_rules("ValidatingAdmissionPolicyBinding");
const KindRules kMutatingAdmissionPolicy = policy_rules("MutatingAdmissionPolicy");
const KindRules kMutatingAdmissionPolicyBinding = policy_rules("MutatingAdmissionPolicyBinding");
const KindRules kValidatingWebhookConfiguration = webhook_rules("ValidatingWebhookConfiguration");
const KindRules kMutatingWebhookConfiguration = webhook_rules("MutatingWebhookConfiguration");

}  // namespace apiserver

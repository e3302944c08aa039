// Which webhooks is a request for?
#include <algorithm>

#include "api/kinds.h"
#include "api/policies/evaluation.h"
#include "api/policies/webhook.h"
#include "base/format.h"

namespace api::policies {
namespace {

constexpr std::pair<std::string_view, Operation> kOperations[] = {{"CREATE", Operation::kCreate},
                                                                  {"UPDATE", Operation::kUpdate},
                                                                  {"DELETE", Operation::kDelete},
                                                                  {"CONNECT", Operation::kConnect}};

unsigned bit(Operation operation) { return 1U << static_cast<unsigned>(operation); }

unsigned bits(const std::vector<std::string>& operations) {
  unsigned out = 0;
  for (const std::string& one : operations)
    for (const auto& [word, operation] : kOperations)
      if (one == "*" || one == word) out |= bit(operation);
  return out;
}

// The parts of a request that rules look at: the request without its objects, as a request for another version would
// be.
AdmissionRequest outline(const AdmissionRequest& request, const std::string& version) {
  AdmissionRequest out;
  out.operation = request.operation;
  out.resource = {request.resource.group, version, request.resource.plural};
  out.kind = request.kind;
  out.subresource = request.subresource;
  out.ns = request.ns;
  out.name = request.name;
  return out;
}

}  // namespace

WebhookSet::WebhookSet(std::vector<WebhookPtr> all) : all_(std::move(all)) {
  for (const WebhookPtr& webhook : all_)
    for (const Rule& rule : webhook->match.rules)
      for (const std::string& pattern : rule.resources) {
        const std::size_t slash = pattern.find('/');
        const std::string sub = slash == std::string::npos ? std::string() : pattern.substr(slash + 1);
        std::vector<Hint>& hints = hints_[pattern.substr(0, slash)];
        const auto known = std::ranges::find(hints, sub, &Hint::subresource);
        Hint& hint = known != hints.end() ? *known : hints.emplace_back(Hint{sub, 0});
        hint.operations |= bits(rule.operations);
      }
}

bool WebhookSet::may_concern(Operation operation, std::string_view plural, std::string_view subresource) const {
  for (const std::string_view key : {plural, std::string_view("*")})
    if (const auto found = hints_.find(key); found != hints_.end())
      for (const Hint& hint : found->second)
        if ((hint.operations & bit(operation)) != 0 && (hint.subresource == "*" || hint.subresource == subresource))
          return true;
  return false;
}

std::vector<NamedWebhook> WebhookSet::named_by(bool mutating, const AdmissionRequest& request,
                                               const std::vector<std::string>& versions) const {
  std::vector<NamedWebhook> out;
  if (is_policy_kind(request.resource) || is_webhook_kind(request.resource)) return out;
  if (!may_concern(request.operation, request.resource.plural, request.subresource)) return out;
  std::vector<AdmissionRequest> forms;
  for (const WebhookPtr& webhook : all_) {
    if (webhook->mutating != mutating) continue;
    if (matches_rules(webhook->match.rules, request)) {
      out.push_back({webhook, request.resource.version});
      continue;
    }
    if (webhook->exact || versions.empty()) continue;
    if (forms.empty())
      for (const std::string& version : versions) forms.push_back(outline(request, version));
    const auto form = std::ranges::find_if(
        forms, [&](const AdmissionRequest& one) { return matches_rules(webhook->match.rules, one); });
    if (form != forms.end()) out.push_back({webhook, form->resource.version});
  }
  return out;
}

base::Result<bool> concerns(const Webhook& webhook, const AdmissionRequest& request, const ObjectReader& objects,
                            Budget& budget) {
  const bool selects = !webhook.match.namespaces.requirements.empty() || !webhook.match.objects.requirements.empty();
  if (!selects && webhook.guard.conditions.empty()) return true;
  const RequestValues scene(request, objects);
  if (!budget.take(cost_of(webhook.match)) || !matches_selectors(webhook.match, request, scene.space_labels()))
    return false;
  if (webhook.guard.conditions.empty()) return true;
  Evaluation evaluation(webhook.guard, scene, Json(), budget);
  auto holds = evaluation.conditions_hold();
  if (holds.ok()) return *holds;
  if (webhook.ignores_failures) return false;
  const KindInfo* kind = find_kind(request.resource);
  base::Error error = base::make_error(
      base::Code::kForbidden,
      base::format("{} \"{}\" is forbidden: {}", kind != nullptr ? qualified_plural(*kind) : request.resource.plural,
                   request.name, holds.error().message));
  error.group = request.resource.group;
  error.kind = request.resource.plural;
  error.name = request.name;
  return error;
}

}  // namespace api::policies

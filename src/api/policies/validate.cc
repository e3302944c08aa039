// Validating policies: what they refuse, warn of, and note.
#include "api/kinds.h"
#include "api/policies/evaluation.h"
#include "api/policies/judge.h"
#include "base/format.h"
#include "base/trim.h"

namespace api::policies {
namespace {

using base::Code;
using cel::Value;

constexpr std::size_t kMessageBytesMax = 5 * 1024;
constexpr std::size_t kContentBytesMax = 10 * 1024;

struct Finding {
  std::string message;
  Code code = Code::kInvalid;
  std::size_t index = 0;  // of the validation
};

class Judge {
 public:
  Judge(const RequestValues& scene, Budget& budget) : scene_(scene), budget_(budget) {}

  void run(const Bound& bound) {
    const Policy& policy = *bound.policy;
    if (!budget_.take(cost_of(policy.match)) || !matches(policy.match, scene_.request(), scene_.space_labels())) return;
    if (!policy.problem.empty()) return config_problem(policy, nullptr, policy.problem);
    for (const auto& binding : bound.bindings) {
      if (!budget_.take(cost_of(policy.match) + (binding->match ? binding->match->words : 0)) ||
          !is_bound(policy, *binding, scene_))
        continue;
      if (!binding->problem.empty()) {
        config_problem(policy, binding.get(), binding->problem);
        continue;
      }
      auto params = params_for(policy, *binding, scene_, budget_);
      if (!params.ok()) {
        config_problem(policy, binding.get(), params.error().message);
        continue;
      }
      for (const Json& param : *params) judge(policy, *binding, param);
    }
  }

  Judgement take() { return std::move(out_); }

 private:
  void config_problem(const Policy& policy, const Binding* binding, const std::string& why) {
    if (policy.ignores_failures) return;
    refuse(policy, binding, base::format("failed to configure {}: {}", binding == nullptr ? "policy" : "binding", why),
           Code::kInvalid);
  }

  // The first refusal is the answer.
  void refuse(const Policy& policy, const Binding* binding, const std::string& message, Code code) {
    if (out_.refusal) return;
    const AdmissionRequest& request = scene_.request();
    const std::string text =
        base::format("ValidatingAdmissionPolicy '{}'{} denied request: {}", policy.name,
                     binding == nullptr ? "" : base::format(" with binding '{}'", binding->name), message);
    const KindInfo* kind = find_kind(request.resource);
    base::Error error = base::make_error(
        code, base::format("{} \"{}\" is forbidden: {}",
                           kind != nullptr ? qualified_plural(*kind) : request.resource.plural, request.name, text));
    error.causes.push_back({"", text, ""});
    error.group = request.resource.group;
    error.kind = request.resource.plural;
    error.name = request.name;
    out_.refusal = std::move(error);
  }

  void judge(const Policy& policy, const Binding& binding, const Json& param) {
    Evaluation evaluation(policy, scene_, param, budget_);
    const auto concerned = evaluation.conditions_hold();
    if (!concerned.ok()) {
      if (!policy.ignores_failures) act(policy, binding, {concerned.error().message});
      return;
    }
    if (!*concerned) return;
    for (std::size_t i = 0; i < policy.validations.size() && !budget_.exhausted; ++i) {
      const Validation& validation = policy.validations[i];
      const Value value = evaluation.run(validation.program);
      const bool* holds = value.get<bool>();
      if (holds != nullptr && *holds) continue;
      if (holds != nullptr)
        act(policy, binding, {message_of(validation, evaluation), validation.code, i});
      else if (!policy.ignores_failures)
        act(policy, binding, {evaluation_error(validation.program, value), Code::kInvalid, i});
    }
    for (const Condition& audit_annotation : policy.audit_annotations)
      add_audit_annotation(policy, binding, audit_annotation, evaluation);
  }

  static std::string message_of(const Validation& validation, Evaluation& evaluation) {
    if (validation.message_program) {
      const Value value = evaluation.run(*validation.message_program);
      if (const std::string* text = value.get<std::string>()) {
        std::string out(base::trim(*text, base::kAllBlanks));
        if (!out.empty() && out.size() <= kMessageBytesMax && out.find('\n') == std::string::npos) return out;
      }
    }
    if (!validation.message.empty()) return validation.message;
    return base::format("failed expression: {}", base::trim(validation.program.expression.text(), base::kAllBlanks));
  }

  void act(const Policy& policy, const Binding& binding, const Finding& finding) {
    if (binding.deny) refuse(policy, &binding, finding.message, finding.code);
    if (binding.warn)
      out_.warnings.push_back(base::format("Validation failed for ValidatingAdmissionPolicy '{}' with binding '{}': {}",
                                           policy.name, binding.name, finding.message));
    if (!binding.audit) return;
    Json actions = Json::array();
    if (binding.deny) actions.push_back("Deny");
    if (binding.warn) actions.push_back("Warn");
    actions.push_back("Audit");
    const Json failure = Json::object({{"message", finding.message},
                                       {"policy", policy.name},
                                       {"binding", binding.name},
                                       {"expressionIndex", static_cast<std::int64_t>(finding.index)},
                                       {"validationActions", actions}});
    audit_annotation("validation.policy.admission.k8s.io/validation_failure", Json::array({failure}).dump());
  }

  void add_audit_annotation(const Policy& policy, const Binding& binding, const Condition& wanted,
                            Evaluation& evaluation) {
    const Value value = evaluation.run(wanted.program);
    if (value.is_null()) return;
    if (const std::string* text = value.get<std::string>()) {
      const std::string content(base::trim(*text, base::kAllBlanks));
      if (!content.empty()) audit_annotation(policy.name + "/" + wanted.name, content.substr(0, kContentBytesMax));
      return;
    }
    if (policy.ignores_failures) return;
    const std::string why = value.is_error()
                                ? evaluation_error(wanted.program, value)
                                : base::format(
                                      "valueExpression '{}' resulted in unsupported return type: {}. Return type must "
                                      "be either string or null.",
                                      wanted.program.expression.text(), value.type_name());
    refuse(policy, &binding, why, Code::kInvalid);
  }

  void audit_annotation(const std::string& key, const std::string& value) {
    constexpr std::size_t kAuditAnnotationsMax = 64;
    std::string line = key + "=" + value;
    for (const std::string& one : out_.audit_annotations)
      if (one == line) return;
    if (out_.audit_annotations.size() < kAuditAnnotationsMax) out_.audit_annotations.push_back(std::move(line));
  }

  const RequestValues& scene_;
  Budget& budget_;
  Judgement out_;
};

// To make values of an object that nothing asks about would be work for nothing.
bool concerns(const std::vector<Bound>& all, const AdmissionRequest& request, Budget& budget) {
  for (const Bound& bound : all)
    if (budget.take(bound.policy->match.words) && matches_rules(bound.policy->match.rules, request)) return true;
  return budget.exhausted;
}

}  // namespace

Judgement validate(const Set& set, const AdmissionRequest& request, const ObjectReader& objects, Budget& budget) {
  if (!concerns(set.validating, request, budget)) return {};
  const RequestValues scene(request, objects);
  Judge judge(scene, budget);
  for (const Bound& bound : set.validating) judge.run(bound);
  return judge.take();
}

}  // namespace api::policies

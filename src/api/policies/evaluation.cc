// Values, variables, conditions and parameters of one request.
#include "api/policies/evaluation.h"

#include <algorithm>

#include "api/kinds.h"
#include "base/format.h"

namespace api::policies {
namespace {

using cel::Value;

// The cost of looking at an object: about what it takes to turn it into values.
constexpr std::uint64_t kParamCost = 100;

Json words(std::initializer_list<std::pair<std::string_view, Json>> members) { return Json::object(members); }

std::string_view word(Operation operation) {
  switch (operation) {
    case Operation::kCreate: return "CREATE";
    case Operation::kUpdate: return "UPDATE";
    case Operation::kDelete: return "DELETE";
    case Operation::kConnect: return "CONNECT";
  }
  return "";
}

Json request_json(const AdmissionRequest& request) {
  const Json kind =
      words({{"group", request.resource.group}, {"version", request.resource.version}, {"kind", request.kind}});
  const Json resource = words({{"group", request.resource.group},
                               {"version", request.resource.version},
                               {"resource", request.resource.plural}});
  Json groups = Json::array();
  for (const std::string& group : request.groups) groups.push_back(group);
  return words({{"kind", kind},
                {"resource", resource},
                {"subResource", request.subresource},
                {"requestKind", kind},
                {"requestResource", resource},
                {"requestSubResource", request.subresource},
                {"name", request.name},
                {"namespace", request.ns},
                {"operation", word(request.operation)},
                {"userInfo", words({{"username", request.user}, {"uid", ""}, {"groups", groups}})},
                {"dryRun", request.dry_run},
                {"options", Json()}});
}

Json namespace_of_request(const AdmissionRequest& request, const ObjectReader& objects) {
  const KindInfo* kind = find_kind(request.resource);
  if (request.ns.empty() || (kind != nullptr && !kind->namespaced)) return {};
  Json space = objects.find(resources::kNamespaces, "", request.ns).value_or(Json());
  if (space.is_object() && space["metadata"].has("managedFields")) space.edit("metadata").erase("managedFields");
  return space;
}

std::uint64_t count_of(const Json& json, int depth) {
  constexpr int kDepthMax = 64;
  std::uint64_t out = 1;
  if (depth > kDepthMax) return out;
  for (const Json& item : json.items()) out += count_of(item, depth + 1);
  for (const Json::Member& member : json.members()) out += count_of(member.value, depth + 1);
  return out;
}

}  // namespace

Value value_of(const Json& json, Budget& budget) {
  if (!budget.take(count_of(json, 0))) return {};
  return Value::from_json(json);
}

RequestValues::RequestValues(const AdmissionRequest& request, const ObjectReader& objects)
    : request_(request), objects_(objects), space_(namespace_of_request(request, objects)) {}

const RequestValues::Values& RequestValues::values(Budget& budget) const {
  if (values_) return *values_;
  cel::AccessQuestion itself = {.group = request_.resource.group,
                                .resource = request_.resource.plural,
                                .subresource = request_.subresource,
                                .ns = request_.ns,
                                .name = request_.name};
  return values_.emplace(Values{value_of(request_.object, budget), value_of(request_.old_object, budget),
                                value_of(request_json(request_), budget), value_of(space_, budget),
                                cel::Authorizer{.judge = request_.access, .of_request = std::move(itself)}});
}

Evaluation::Evaluation(const Policy& policy, const RequestValues& scene, const Json& param, Budget& budget)
    : policy_(policy),
      scene_(scene),
      budget_(budget),
      params_(value_of(param, budget)),
      variables_(policy.variables.size()) {}

// A variable sees those before it, so this ends.
Value Evaluation::run(const Program& program) {
  for (const std::size_t at : program.variables)
    if (at < variables_.size() && !variables_[at]) variables_[at] = run(policy_.variables[at].program);
  const RequestValues::Values& values = scene_.values(budget_);
  if (budget_.exhausted) return cel::fail("operation cancelled: actual cost limit exceeded");
  cel::Map variables;
  for (const std::size_t at : program.variables)
    if (at < variables_.size()) variables.entries.emplace_back(policy_.variables[at].name, *variables_[at]);
  const cel::Expression::Bindings bindings = {{"object", values.object},
                                              {"oldObject", values.old_object},
                                              {"request", values.request},
                                              {"namespaceObject", values.space},
                                              {"params", params_},
                                              {"authorizer", values.authorizer},
                                              {"variables", std::move(variables)}};
  const std::uint64_t most = std::min(budget_.left, cel::kCostMax);
  std::uint64_t spent = 0;
  Value out = program.expression.evaluate(bindings, most, &spent);
  // More than one expression may cost is the policy's fault; more than there is left is nobody's.
  budget_.take(spent > most && most == cel::kCostMax ? std::min(spent, budget_.left) : spent);
  return out;
}

base::Result<bool> Evaluation::conditions_hold() {
  std::string problems;
  for (const Condition& condition : policy_.conditions) {
    const Value value = run(condition.program);
    const bool* holds = value.get<bool>();
    if (holds != nullptr && !*holds) return false;
    if (holds != nullptr) continue;
    problems += (problems.empty() ? "" : ", ") + evaluation_error(condition.program, value);
  }
  if (problems.empty()) return true;
  return base::make_error(base::Code::kInvalid, std::move(problems));
}

std::string evaluation_error(const Program& program, const Value& value) {
  const std::string why =
      value.is_error() ? value.error()->message : base::format("no such overload: {}", value.type_name());
  return base::format("expression '{}' resulted in error: {}", program.expression.text(), why);
}

bool is_bound(const Policy& policy, const Binding& binding, const RequestValues& scene) {
  return matches(policy.match, scene.request(), scene.space_labels()) &&
         (!binding.match || matches(*binding.match, scene.request(), scene.space_labels()));
}

base::Result<std::vector<Json>> params_for(const Policy& policy, const Binding& binding, const RequestValues& scene,
                                           Budget& budget) {
  const auto wrong = [](std::string why) { return base::make_error(base::Code::kInvalid, std::move(why)); };
  if (policy.param_kind.empty() || !binding.has_param) return std::vector<Json>{Json()};
  const KindInfo* kind = find_kind_named(policy.param_api_version, policy.param_kind);
  if (kind == nullptr)
    return wrong(base::format("failed to find resource referenced by paramKind: '{}, Kind={}'",
                              policy.param_api_version, policy.param_kind));
  std::string ns;
  if (kind->namespaced) {
    ns = binding.param_ns.empty() ? scene.request().ns : binding.param_ns;
    if (ns.empty())
      return wrong("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources");
  } else if (!binding.param_ns.empty()) {
    return wrong("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  }
  std::vector<Json> found;
  if (!binding.param_name.empty()) {
    if (auto one = scene.objects().find(kind->resource, ns, binding.param_name)) found.push_back(*std::move(one));
  } else if (binding.param_selector) {
    const TextField field =
        kind->namespaced ? TextField{kind->resource, {"metadata", "namespace"}} : TextField{kind->resource, {"kind"}};
    for (Json& one : scene.objects().list_by(field, kind->namespaced ? ns : kind->kind)) {
      if (!budget.take(kParamCost)) break;
      if (binding.param_selector->matches(one["metadata"]["labels"])) found.push_back(std::move(one));
    }
  }
  if (found.empty() && binding.refuses_without_param)
    return wrong("no params found for policy binding with `Deny` parameterNotFoundAction");
  return found;
}

}  // namespace api::policies

// Mutating policies: JSON patches and applied configurations that expressions make.
#include <algorithm>

#include "api/kinds.h"
#include "api/policies/evaluation.h"
#include "api/policies/judge.h"
#include "api/schema/field_set.h"
#include "api/schema/managed_fields.h"
#include "api/schema/patch.h"
#include "base/format.h"

namespace api::policies {
namespace {

using base::Code;
using base::make_error;
using base::Result;
using cel::Value;

// The limit of an expression's changes to an object.
constexpr std::size_t kChangeBytesMax = std::size_t{1} << 20;

// Paths of what one manager owns whole: to lay something over a part of it would take the rest away.
void find_atomic(const Schema& schema, const Json& given, const std::string& path, int depth,
                 std::vector<std::string>& out) {
  constexpr int kDepthMax = 64;
  if (depth > kDepthMax || out.size() > 10) return;
  if (given.is_array()) {
    if (schema.kind == Schema::Kind::kAny) return;
    if (schema.list_type == Schema::ListType::kAtomic) return out.push_back(path);
    if (schema.element == nullptr) return;
    for (const Json& item : given.items()) find_atomic(*schema.element, item, path, depth + 1, out);
  } else if (given.is_object()) {
    if (schema.atomic) return out.push_back(path);
    if (schema.kind != Schema::Kind::kObject && schema.kind != Schema::Kind::kMap) return;
    for (const Json::Member& member : given.members())
      find_atomic(child_schema(schema, member.name()), member.value, base::format("{}.{}", path, member.name()),
                  depth + 1, out);
  }
}

Result<Json> apply_value(const KindInfo& kind, const Json& object, const Value& value) {
  const auto config = cel::to_json(value, kChangeBytesMax);
  if (!config || !config->is_object())
    return make_error(Code::kInvalid, base::format("unsupported return type from ApplyConfiguration expression: {}",
                                                   value.type_name()));
  std::vector<std::string> atomic;
  find_atomic(*kind.schema, *config, "", 0, atomic);
  if (!atomic.empty()) {
    std::string all;
    for (const std::string& path : atomic) all += (all.empty() ? "" : ", ") + path;
    return make_error(Code::kInvalid, base::format("error applying patch: invalid ApplyConfiguration: may not mutate "
                                                   "atomic arrays, maps or structs: {}",
                                                   all));
  }
  if (const auto cause = find_wrong_type(*kind.schema, *config))
    return make_error(Code::kInvalid, base::format("error applying patch: {}: {}", cause->field, cause->message));
  return lay_over(*kind.schema, object, *config);
}

Result<Json> patch_by_value(const Json& object, const Value& value) {
  const cel::List* list = value.get<cel::List>();
  const auto patch = list == nullptr ? std::nullopt : cel::to_json(value, kChangeBytesMax);
  if (!patch)
    return make_error(Code::kInvalid, "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch");
  auto patched = apply_json_patch(object, *patch);
  if (!patched.ok()) return make_error(Code::kInvalid, "JSON Patch: " + patched.error().message);
  return patched;
}

// The identity of an object is not the policy's.
base::Status check_identity(const Json& before, const Json& after) {
  if (!after.is_object() || !after["metadata"].is_object())
    return make_error(Code::kInvalid, "the patched object has no metadata");
  for (const char* key : {"apiVersion", "kind"})
    if (!(before[key] == after[key])) return make_error(Code::kInvalid, base::format("{} may not be changed", key));
  for (const char* key : {"name", "namespace", "uid", "resourceVersion", "generateName"})
    if (!(before["metadata"][key] == after["metadata"][key]))
      return make_error(Code::kInvalid, base::format("metadata.{} may not be changed", key));
  return {};
}

// One policy with one parameter: all its mutations, each on what the one before left.
base::Status mutate(const Policy& policy, const KindInfo& kind, AdmissionRequest& request, const ObjectReader& objects,
                    const Json& param, Budget& budget) {
  const WalkOptions walk{.custom_resource = kind.custom};
  for (const Mutation& mutation : policy.mutations) {
    const RequestValues scene(request, objects);
    Evaluation evaluation(policy, scene, param, budget);
    const Value value = evaluation.run(mutation.program);
    if (value.is_error()) return make_error(Code::kInvalid, evaluation_error(mutation.program, value));
    TRY(Json after,
        mutation.applies ? apply_value(kind, request.object, value) : patch_by_value(request.object, value));
    TRY_VOID(check_identity(request.object, after));
    prune(*kind.schema, after, walk, nullptr);
    api::apply_defaults(*kind.schema, after, walk);
    request.object = std::move(after);
  }
  return {};
}

base::Error refusal(const AdmissionRequest& request, const Policy& policy, const Binding* binding,
                    const std::string& why) {
  base::Error error = make_error(Code::kForbidden,
                                 binding == nullptr ? base::format("policy \"{}\" denied request: {}", policy.name, why)
                                                    : base::format("policy '{}' with binding '{}' denied request: {}",
                                                                   policy.name, binding->name, why));
  error.causes.push_back({"", error.message, ""});
  error.group = request.resource.group;
  error.kind = request.resource.plural;
  error.name = request.name;
  return error;
}

}  // namespace

// One binding of one policy; true if it changed the object of the request.
Result<bool> Mutator::invoke(const Policy& policy, const Binding& binding, AdmissionRequest& request, bool again) {
  const KindInfo& kind = *find_kind(request.resource);
  const auto fails = [&](const std::string& why) -> Result<bool> {
    if (policy.ignores_failures) return false;
    return refusal(request, policy, &binding, why);
  };
  std::optional<RequestValues> scene;
  scene.emplace(request, objects_);
  if (!is_bound(policy, binding, *scene)) return false;
  if (!policy.problem.empty()) return fails("failed to configure policy: " + policy.problem);
  if (!binding.problem.empty()) return fails("failed to configure binding: " + binding.problem);
  const auto params = params_for(policy, binding, *scene, budget_);
  if (!params.ok()) return fails("failed to configure binding: " + params.error().message);
  bool changed = false;
  for (const Json& param : *params) {
    const std::string key = base::format("{}/{}/{}", policy.name, binding.name, key_of(param));
    const auto before =
        std::find_if(left_behind_.begin(), left_behind_.end(), [&](const auto& one) { return one.first == key; });
    if (again && (before == left_behind_.end() || before->second == request.object)) continue;
    const auto concerned = Evaluation(policy, *scene, param, budget_).conditions_hold();
    if (!concerned.ok()) TRY_VOID(fails(concerned.error().message));
    if (!concerned.ok() || !*concerned) continue;
    AdmissionRequest next = request;
    if (base::Status done = mutate(policy, kind, next, objects_, param, budget_); !done.ok()) {
      TRY_VOID(fails(done.error().message));
      continue;
    }
    changed = true;
    request.object = next.object;
    scene.emplace(request, objects_);
    if (policy.reinvoked && !again) left_behind_.emplace_back(key, request.object);
  }
  return changed;
}

base::Status Mutator::pass(Json& object, bool again) {
  if (find_kind(request_.resource) == nullptr) return {};
  AdmissionRequest request = request_;
  request.object = object;
  for (const Bound& bound : set_.mutating) {
    const Policy& policy = *bound.policy;
    if (!budget_.take(policy.match.words)) return {};
    if (!matches_rules(policy.match.rules, request) || (again && !policy.reinvoked)) continue;
    for (const auto& binding : bound.bindings) {
      if (!budget_.take(cost_of(policy.match) + (binding->match ? binding->match->words : 0))) return {};
      TRY(const bool changed, invoke(policy, *binding, request, again));
      if (changed) object = request.object;
    }
  }
  return {};
}

}  // namespace api::policies

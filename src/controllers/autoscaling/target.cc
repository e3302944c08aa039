// Reading scales, and writing them.
#include "controllers/autoscaling/target.h"

#include "api/json/member_path.h"
#include "controllers/workloads/pods.h"

namespace controllers::autoscaling {

using api::Json;

namespace {

// "apps" of "apps/v1"
std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

std::optional<api::LabelSelector> selector_from(std::string_view text) {
  if (text.empty()) return std::nullopt;
  auto parsed = api::parse_label_selector(text);
  if (!parsed.ok()) return std::nullopt;
  return *std::move(parsed);
}

Json head_of(const Json& api_version, const Json& kind, const Json& metadata) {
  Json kept = Json::object({{"name", metadata["name"]}, {"namespace", metadata["namespace"]}});
  return Json::object({{"apiVersion", api_version}, {"kind", kind}, {"metadata", std::move(kept)}});
}

}  // namespace

std::vector<const api::KindInfo*> scaled_kinds() {
  std::vector<const api::KindInfo*> kinds;
  for (const api::KindInfo& kind : api::all_kinds())
    if (!kind.scale.replicas.empty()) kinds.push_back(&kind);
  return kinds;
}

const api::KindInfo* scaled_kind(const Json& reference) {
  const std::string_view group = group_of(reference["apiVersion"].as_string());
  for (const api::KindInfo* kind : scaled_kinds())
    if (kind->kind == reference["kind"].as_string() && kind->resource.group == group) return kind;
  return nullptr;
}

Target target_of(const api::KindInfo& kind, const Json& object) {
  Target target{.head = head_of(object["apiVersion"], kind.kind, object["metadata"]),
                .resource = kind.resource,
                .replicas = api::at_members(object, kind.scale.replicas).as_int(1),
                .shown = api::at_members(object, kind.scale.status_replicas).as_int(),
                .selector = {}};
  target.selector = selector_from(api::at_members(object, kind.scale.selector).as_string());
  if (!target.selector && kind.scale.selector == ".spec.selector") target.selector = workloads::selector_of(object);
  return target;
}

Target target_of_scale(const api::ResourceId& resource, const Json& reference, const Json& scale) {
  return {.head = head_of(resource.api_version(), reference["kind"], scale["metadata"]),
          .resource = resource,
          .replicas = scale["spec"]["replicas"].as_int(),
          .shown = scale["status"]["replicas"].as_int(),
          .selector = selector_from(scale["status"]["selector"].as_string())};
}

Action& set_replicas(const Target& target, std::int64_t replicas, Plan& plan) {
  Json patch = Json::object({{"spec", Json::object({{"replicas", replicas}})}});
  Action& action = plan.patch(target.resource, target.head, client::PatchType::kMerge, std::move(patch));
  action.subresource = "scale";
  return action;
}

void StrangersKinds::comes(const api::KindInfo& kind) { kinds_[{kind.resource.group, kind.kind}] = kind.resource; }

void StrangersKinds::goes(const api::ResourceId& resource) {
  std::erase_if(kinds_, [&](const auto& one) { return one.second == resource; });
}

std::optional<api::ResourceId> StrangersKinds::find(const Json& reference) const {
  const std::string_view version = reference["apiVersion"].as_string(), group = group_of(version);
  const auto found = kinds_.find({std::string(group), reference["kind"].str()});
  if (group.empty() || found == kinds_.end()) return std::nullopt;
  return api::ResourceId{found->second.group, std::string(version.substr(group.size() + 1)), found->second.plural};
}

}  // namespace controllers::autoscaling

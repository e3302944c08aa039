// Scales by the paths of the kind's row.
#include "apiserver/kinds/workloads/scale.h"

#include <cstdint>

#include "api/json/member_path.h"
#include "api/selector_text.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

Json scale_of(const api::KindInfo& kind, const Json& object) {
  Json metadata = Json::object();
  for (const char* name : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"})
    if (const Json* value = object["metadata"].find(name)) metadata.set(name, *value);
  Json spec = Json::object();
  if (const std::int64_t replicas = api::at_members(object, kind.scale.replicas).as_int(); replicas != 0)
    spec.set("replicas", replicas);
  Json status = Json::object({{"replicas", api::at_members(object, kind.scale.status_replicas).as_int()}});
  static const Json kNone;
  const Json& selector = kind.scale.selector.empty() ? kNone : api::at_members(object, kind.scale.selector);
  if (selector.is_string())
    status.set("selector", selector);
  else if (selector.is_object())
    status.set("selector", api::selector_text(selector));
  return Json::object({{"apiVersion", "autoscaling/v1"},
                       {"kind", "Scale"},
                       {"metadata", std::move(metadata)},
                       {"spec", std::move(spec)},
                       {"status", std::move(status)}});
}

base::Result<Json> with_scale(const api::KindInfo& kind, const Json& object, const Json& scale) {
  const Json& spec = scale["spec"];
  const Json& replicas = spec["replicas"];  // absent: 0, as an empty Scale has it
  const bool has_form = (spec.is_null() || spec.is_object()) && (replicas.is_null() || replicas.is_int());
  if (!has_form || replicas.as_int() < 0 || replicas.as_int() > INT32_MAX)
    return base::make_error(
        base::Code::kInvalid,
        base::format("Scale.autoscaling \"{}\" is invalid: spec.replicas: Invalid value: {}: must "
                     "be a number from 0 to {}",
                     object["metadata"]["name"].as_string(), (spec.is_object() ? replicas : spec).dump(), INT32_MAX));
  Json changed = object;
  Json* at = &changed;
  std::string_view path = kind.scale.replicas;
  while (!path.empty()) {
    const std::string_view name = api::next_member(path);
    if (path.empty()) {
      at->set(name, replicas.as_int());
      break;
    }
    if (!(*at)[name].is_object())
      return base::make_error(base::Code::kInvalid,
                              base::format("{} \"{}\" cannot be scaled: it has nothing at {}", kind.kind,
                                           object["metadata"]["name"].as_string(), kind.scale.replicas));
    at = &at->edit(name);
  }
  if (const Json* version = scale["metadata"].find("resourceVersion"); version && version->is_string())
    changed.edit("metadata").set("resourceVersion", *version);
  return changed;
}

}  // namespace apiserver

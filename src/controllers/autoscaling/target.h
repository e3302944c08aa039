// The target of an autoscaler. Anything with the subresource scale, also of kinds that strangers define.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/kinds.h"
#include "api/selector.h"
#include "controllers/framework/controller.h"
#include "controllers/framework/plan.h"

namespace controllers::autoscaling {

struct Target {
  api::Json head;  // apiVersion, kind and metadata of the object, as far as writes need them
  api::ResourceId resource;
  std::int64_t replicas = 0;                   // that it is to have
  std::int64_t shown = 0;                      // that it has
  std::optional<api::LabelSelector> selector;  // of its pods
};

// The kinds of this program that have a scale.
std::vector<const api::KindInfo*> scaled_kinds();
// The one that a scaleTargetRef means, by group and kind, whatever the version; null: it is none of them.
const api::KindInfo* scaled_kind(const api::Json& reference);

Target target_of(const api::KindInfo& kind, const api::Json& object);
// By what a GET of its scale answered.
Target target_of_scale(const api::ResourceId& resource, const api::Json& reference, const api::Json& scale);
// Writes the number through the scale. Returns the action for what is said of it.
Action& set_replicas(const Target& target, std::int64_t replicas, Plan& plan);

// The kinds of strangers, while they are defined, by group and kind.
class StrangersKinds {
 public:
  void comes(const api::KindInfo& kind);
  void goes(const api::ResourceId& resource);
  // In the version that the reference names; nothing: nobody defines that kind.
  std::optional<api::ResourceId> find(const api::Json& reference) const;

 private:
  std::map<std::pair<std::string, std::string>, api::ResourceId> kinds_;
};

}  // namespace controllers::autoscaling

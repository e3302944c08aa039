// How much may a queue use of each group of nodes?
#include "scheduler/plugins/nodegroup/nodegroup_limits.h"

#include <algorithm>

namespace scheduler {

std::optional<NodeGroupLimits> NodeGroupLimits::of(Model& model, QueueId queue) {
  const api::Json* text = model.queue(queue).annotations.find("volcano.sh/nodegroup-resource-limits");
  if (text == nullptr || text->as_string().empty()) return std::nullopt;
  NodeGroupLimits out;
  const auto parsed = api::parse_json(text->as_string());
  out.valid_ = parsed.ok() && parsed->is_object();
  if (!out.valid_) return out;
  for (const auto& group : parsed->members()) {
    out.valid_ = out.valid_ && group.value.is_object();
    for (const auto& amount : group.value.members())
      out.valid_ = out.valid_ && api::Quantity::from_json(amount.value).has_value();
    Amounts& limits = out.limits_[std::string(group.name())];
    const api::ResourceList amounts = api::resource_list_from(group.value);
    model.dimensions.know(amounts);
    for (const auto& [name, quantity] : amounts) {
      const std::optional<Dim> dim = model.dimensions.dim_of(name);
      if (dim) limits[*dim] = static_cast<double>(Dimensions::amount_of(*dim, quantity));
    }
  }
  return out;
}

bool NodeGroupLimits::exceeds(const Amounts& limit, const Sums& used, const Request& more) {
  return std::any_of(limit.begin(), limit.end(), [&](const auto& one) {
    const double sum = static_cast<double>(used.get(one.first)) + static_cast<double>(more.get(one.first));
    return sum - one.second >= kResourceEpsilon;
  });
}

}  // namespace scheduler

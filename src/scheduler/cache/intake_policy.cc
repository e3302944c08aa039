// API objects in, the model kept current: disruption budgets and quotas.
#include <algorithm>

#include "scheduler/cache/intake_objects.h"

namespace scheduler {
namespace {

DisruptionBudget budget_from(const api::Json& object, Symbols& symbols) {
  DisruptionBudget out;
  out.ns = symbols.intern(api::namespace_of(object));
  out.selector = label_selector_from(object["spec"]["selector"], symbols);
  out.allowed = std::clamp<std::int64_t>(object["status"]["disruptionsAllowed"].as_int(), 0, 1 << 30);
  for (const auto& member : object["status"]["disruptedPods"].members()) out.disrupted.emplace(member.name());
  return out;
}

}  // namespace

bool set_policy(Model& model, const api::ResourceId& id, const api::Json& object, bool exists) {
  const std::string key = api::key_of(object);
  if (id == api::resources::kPodDisruptionBudgets) {
    if (!model.gates.on("PodDisruptionBudgetsSupport")) return false;
    if (!exists) return model.budgets.erase(key) > 0;
    DisruptionBudget fresh = budget_from(object, model.symbols);
    const auto [slot, added] = model.budgets.try_emplace(key);
    if (!added && slot->second == fresh) return false;
    slot->second = std::move(fresh);
    return true;
  }
  if (id == api::resources::kResourceQuotas) {
    auto& quotas = model.quotas[std::string(api::namespace_of(object))];
    if (!exists) return quotas.erase(std::string(api::name_of(object))) > 0;
    Quota fresh{api::resource_list_from(object["status"]["hard"]), api::resource_list_from(object["status"]["used"])};
    const auto [slot, added] = quotas.try_emplace(std::string(api::name_of(object)));
    if (!added && slot->second == fresh) return false;
    slot->second = std::move(fresh);
    return true;
  }
  return false;
}

}  // namespace scheduler

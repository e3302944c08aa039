// From ordinary amounts to idle ones.
#include "cli/submit_offline.h"

#include <string>

#include "api/schema/quantity.h"

namespace cli {

using api::Json;

void ask_for_idle_amounts(Json& resources) {
  for (const char* side : {"requests", "limits"}) {
    const Json amounts = resources[side];
    if (!amounts.is_object()) continue;
    Json idle = Json::object();
    for (const Json::Member& member : amounts.members()) {
      const auto amount = api::Quantity::from_json(member.value);
      if (member.name() == "cpu" && amount)
        idle.set("kubernetes.io/batch-cpu", std::to_string(amount->milli_value()));
      else if (member.name() == "memory" && amount)
        idle.set("kubernetes.io/batch-memory", std::to_string(amount->value()));
      else
        idle.set(member.name(), member.value);
    }
    resources.set(side, std::move(idle));
  }
}

}  // namespace cli

// FlowSchemas and PriorityLevelConfigurations.
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/rows.h"

namespace apiserver {

using api::Json;

namespace {

void default_priority_level(Json& level) {
  if (!level["spec"]["limited"].is_object()) return;
  Json& limited = level.edit("spec").edit("limited");
  set_if_absent(limited, "nominalConcurrencyShares", 30);
  set_if_absent(limited, "lendablePercent", 0);
}

void default_flow_schema(Json& object) {
  if (object["spec"].is_object()) set_if_absent(object.edit("spec"), "matchingPrecedence", 1000);
}

}  // namespace

const KindRules kFlowSchema = {.kind = "FlowSchema", .defaults = default_flow_schema};

const KindRules kPriorityLevelConfiguration = {.kind = "PriorityLevelConfiguration",
                                               .defaults = default_priority_level};

}  // namespace apiserver

// Services: their addresses and ports are given when they are made, or change.
#include "apiserver/kinds/rows.h"
#include "apiserver/kinds/services/service_addresses.h"
#include "apiserver/kinds/services/service_rules.h"

namespace apiserver {

using api::Json;

namespace {

base::Status prepare_service(const Context& context, Json& object, api::FieldErrors& errors) {
  object.set("status", Json::object({{"loadBalancer", Json::object()}}));
  allocate_for_service(context, Json(), object, errors);
  return {};
}

void settle_service(const Context& context, std::string_view subresource, const Json& old_object, Json& object,
                    api::FieldErrors& errors) {
  if (!subresource.empty()) return;
  settle_service_update(old_object, object);
  allocate_for_service(context, old_object, object, errors);
}

}  // namespace

const KindRules kService = {.kind = "Service",
                            .naming = Naming::kLabel,
                            .defaults = default_service,
                            .prepare = prepare_service,
                            .prepare_update = settle_service,
                            .check_create = check_service,
                            .check_update = check_service_update};

}  // namespace apiserver

// The rules of a Service. Pure.
#pragma once

#include <vector>

#include "api/json/json.h"
#include "api/schema/field_errors.h"
#include "base/result.h"

namespace apiserver {

bool needs_cluster_ip(const api::Json& service);
bool needs_node_ports(const api::Json& service);

void default_service(api::Json& object);
void check_service(const api::Json& object, api::FieldErrors& errors);
void check_service_update(const api::Json& old_object, const api::Json& object, api::FieldErrors& errors);
// The meaning of a change that its author does not say: allocations that are kept, and those of another type that go.
void settle_service_update(const api::Json& old_object, api::Json& object);

}  // namespace apiserver

// The differences from kind to kind: defaults and checks of Kubernetes' own kinds, status subresources, generations.
#pragma once

#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/kinds.h"
#include "apiserver/kinds/context.h"

namespace apiserver {

// The walk over the rows of kinds (kind_rules.h). Defaults that no table can say: a limit becomes a request, ...
void apply_core_defaults(const api::KindInfo& kind, api::Json& object);
// Stored objects have no nulls but in values of any shape; those of Kubernetes' kinds have canonical quantities.
void canonicalize(const api::KindInfo& kind, api::Json& object);
// Before a create: status is reset, a pod gets its priority, phase and QoS class. `causes` receives what is wrong.
base::Status prepare_core_create(const Context& context, const api::KindInfo& kind, api::Json& object,
                                 std::vector<base::Cause>& causes);
// Before an update is checked: what the server keeps, takes back or adds. `object` has its new defaults.
void prepare_core_update(const Context& context, const api::KindInfo& kind, std::string_view subresource,
                         const api::Json& old_object, api::Json& object, std::vector<base::Cause>& causes);
void check_core_create(const api::KindInfo& kind, const api::Json& object, std::vector<base::Cause>& causes);
void check_core_update(const api::KindInfo& kind, std::string_view subresource, const api::Json& old_object,
                       const api::Json& object, std::vector<base::Cause>& causes);
// Names, labels, annotations, owner references.
void check_metadata(const api::KindInfo& kind, const api::Json& object, std::vector<base::Cause>& causes);
// A write to the main resource keeps the old status, a write to /status keeps everything else.
void separate_status(const api::KindInfo& kind, std::string_view subresource, const api::Json& old_object,
                     api::Json& object);
// Whether a change counts up metadata.generation.
bool generation_parts_differ(const api::KindInfo& kind, const api::Json& old_object, const api::Json& object);

}  // namespace apiserver

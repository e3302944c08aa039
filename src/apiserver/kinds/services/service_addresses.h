// Which cluster addresses and node ports Services have. The addresses in use are those of stored Services: there are no
// other books, so that nothing needs to be healed.
#pragma once

#include <vector>

#include "api/json/json.h"
#include "api/schema/field_errors.h"
#include "apiserver/kinds/context.h"
#include "base/result.h"

namespace apiserver {

// Gives a Service that is created or changed what its type needs and it does not state; `errors` receives stated ones
// that are taken or out of range. `old_object` is null on create. A Service that breaks a rule is left as it is.
void allocate_for_service(const Context& context, const api::Json& old_object, api::Json& object,
                          api::FieldErrors& errors);

}  // namespace apiserver

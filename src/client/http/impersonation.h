// As whom the user of a kubeconfig wants to act: `as`, `as-uid`, `as-groups` and `as-user-extra`.
#pragma once

#include "api/json/json.h"
#include "base/result.h"
#include "rt/http/http.h"

namespace client {

// The headers that say so, of a user whose fields have their types (check_kubeconfig); none where nobody is named. An
// error names the field: who is not named has no groups either, and no header may grow out of another's value.
base::Result<rt::Headers> impersonation_of(const api::Json& user);

}  // namespace client

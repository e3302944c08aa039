// Which object does a request mean?
#pragma once

#include "base/result.h"
#include "client/client.h"

namespace client {

// kBadRequest for a request about one object whose name can be that of none: it would be about the collection (and a
// deletion would take all of it), or about another resource. The same for its namespace, if it has one.
base::Status check_names(const Request& request);

}  // namespace client

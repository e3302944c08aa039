// The objects that every cluster has from its start: namespaces, classes of priority, roles and bindings.
#pragma once

#include <functional>

#include "apiserver/pipeline/request/request.h"
#include "store/store.h"

namespace apiserver {

// Present objects stay, but for roles and bindings, which are mended (default_roles.h). `done` has the first error. The
// API server's loop only.
void write_bootstrap_objects(const store::Store& store, std::function<void(Request, OnAnswer)> write,
                             std::function<void(base::Status)> done);

}  // namespace apiserver

// From a request of the client interface to one of the pipeline, for transports inside a process.
#pragma once

#include "apiserver/custom/served_kinds.h"
#include "apiserver/pipeline/request/request.h"
#include "client/client.h"

namespace apiserver {

// Everything but who asks. kNotFound for a resource that the server does not have.
base::Result<Request> request_from(client::Request from, const ServedKinds& kinds);
base::Result<Request> request_from(client::WatchRequest from, const ServedKinds& kinds);

}  // namespace apiserver

// The client of components in the API server's process: the same pipeline, without HTTP and authentication.
#pragma once

#include <memory>
#include <string>

#include "apiserver/pipeline/api.h"
#include "client/client.h"
#include "rt/env.h"

namespace apiserver {

// `api` lives on its own loop, the client belongs to the loop of `env`. Both must outlive it.
std::unique_ptr<client::Client> make_local_client(Api& api, rt::Env& env, std::string name);

}  // namespace apiserver

// The client interface over HTTP(S): requests to an API server elsewhere.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "client/client.h"
#include "client/http/kubeconfig.h"
#include "rt/env.h"

namespace client {

inline constexpr int kDefaultBurst = 10;
// How many requests of one program wait for their answers at a time, where it has no limit by time: the server shares
// itself out, and says by Retry-After when it has had enough.
inline constexpr int kFairInFlight = 64;

struct HttpClientOptions {
  ServerAccess access;
  std::string user_agent = "volcano";
  std::string field_manager = "volcano";
  double requests_per_second = 0;              // 0: no limit; watches do not count
  int burst = kDefaultBurst;                   // 0 and below: the default, as in Kubernetes' client library
  int in_flight_max = 0;                       // requests that are sent and not answered; 0: no limit
  base::Duration timeout = base::seconds(60);  // of one request; watches have none
  // Whether what is written may go out, asked last when it does, on any thread; unset: always.
  std::function<bool()> may_write = {};
  // How many writes have been given to the connections and not answered, kept up to date on the loop; null: not
  // counted.
  std::shared_ptr<int> writes_under_way = {};
};

// The loop and the environment must outlive the client.
base::Result<std::unique_ptr<Client>> make_http_client(HttpClientOptions options, rt::Env& env);

}  // namespace client

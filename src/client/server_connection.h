// One API server over HTTP(S): the connection to it, and what every request to it carries.
#pragma once

#include <memory>
#include <string>

#include "client/kubeconfig.h"
#include "rt/env.h"
#include "rt/http_client.h"

namespace client {

// All on the loop of `env`, which must outlive it.
class ServerConnection {
 public:
  static base::Result<std::unique_ptr<ServerConnection>> open(ServerAccess access, std::string user_agent,
                                                              rt::Env& env);

  // Adds the path before /api, who we are, and the token as it is now.
  void complete(rt::HttpRequest& request);
  rt::HttpClient& http() { return *http_; }

 private:
  ServerConnection(ServerAccess access, std::string user_agent, rt::Env& env)
      : access_(std::move(access)), user_agent_(std::move(user_agent)), env_(env) {}
  std::string current_token();

  ServerAccess access_;
  std::string user_agent_;
  std::string prefix_;  // without a slash at the end
  std::unique_ptr<rt::HttpClient> http_;
  rt::Env& env_;
  base::Duration token_read_at_{};
};

}  // namespace client

// One API server over HTTP(S): the connection to it, and what every request to it carries.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/http/kubeconfig.h"
#include "rt/env.h"
#include "rt/http/client/http_client.h"

namespace client {

// How often the files that the access came from are looked at.
inline constexpr base::Duration kAccessLook = base::seconds(10);

// All on the loop of `env`, which must outlive it. New content of the files (another CA, a renewed certificate) is used
// for requests from then on; what is on its way ends on the old connections. Files that cannot be read or make no sense
// are told in the log, and what was known stays in use.
class ServerConnection {
 public:
  // `timeout`: of one request; streams have none.
  static base::Result<std::unique_ptr<ServerConnection>> open(ServerAccess access, std::string user_agent, rt::Env& env,
                                                              base::Duration timeout = base::seconds(60));

  // Adds the path before /api, who we are, and the token as it is now.
  void complete(rt::HttpRequest& request);
  rt::HttpClient& http() { return *http_; }
  // The server has answered 401.
  void refused() { refused_ = true; }

 private:
  ServerConnection(ServerAccess access, std::string user_agent, rt::Env& env)
      : access_(std::move(access)), user_agent_(std::move(user_agent)), env_(env) {}
  std::string current_token();
  base::Status connect();
  void look_later();
  void look();
  void take(base::Result<ServerAccess> found);

  ServerAccess access_;
  std::string user_agent_;
  std::string prefix_;  // without a slash at the end
  std::unique_ptr<rt::HttpClient> http_;
  struct Retired {
    std::unique_ptr<rt::HttpClient> http;
    base::Duration since;
  };
  std::vector<Retired> retired_;  // those that still may have requests and watches on their way
  rt::Env& env_;
  base::Duration timeout_{};
  base::Duration token_read_at_{};
  bool refused_ = false;
  std::string reported_;        // what is wrong with the files, as last logged
  std::string token_reported_;  // the same of the token's
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace client

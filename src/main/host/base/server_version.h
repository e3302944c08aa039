// Is the API server of a version that we support?
#pragma once

#include <memory>
#include <string>

#include "api/json/json.h"
#include "client/http/server_connection.h"
#include "rt/env.h"

namespace volcano_main {

// The fault in the answer of /version, and what to do; empty: nothing.
std::string version_trouble(const api::Json& version);

// Asks a server for its version, and tells in the log if it is too old; then asks again every ten seconds, until it was
// upgraded. A program goes on meanwhile: much works with older servers. All on the loop of `env`, which must outlive
// it.
class ServerVersion {
 public:
  ServerVersion(rt::Env& env, std::string component) : env_(env), component_(std::move(component)) {}
  void start(const client::ServerAccess& access);

 private:
  void ask();
  void ask_later();
  void take(const base::Result<rt::HttpResponse>& response);

  rt::Env& env_;
  std::string component_;
  std::unique_ptr<client::ServerConnection> server_;
  std::string reported_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace volcano_main

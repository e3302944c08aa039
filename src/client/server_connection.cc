// Who answers, and what we show it.
#include "client/server_connection.h"

#include "rt/files.h"
#include "rt/url.h"

namespace client {

base::Result<std::unique_ptr<ServerConnection>> ServerConnection::open(ServerAccess access, std::string user_agent,
                                                                       rt::Env& env) {
  std::unique_ptr<ServerConnection> made(new ServerConnection(std::move(access), std::move(user_agent), env));
  const ServerAccess& to = made->access_;
  // Without a scheme it is the address of a cluster's API server.
  const bool has_scheme = to.server.find("://") != std::string::npos;
  TRY(rt::ServerUrl url, rt::parse_server_url(has_scheme ? to.server : "https://" + to.server));
  while (url.path.ends_with('/')) url.path.pop_back();
  made->prefix_ = std::move(url.path);
  rt::ClientOptions http{.host = url.host, .port = url.port, .tls = url.tls};
  http.ca_pem = to.ca_pem;
  http.certificate_pem = to.certificate_pem;
  http.key_pem = to.key_pem;
  http.server_name = to.tls_server_name;
  http.insecure_skip_verify = to.insecure_skip_tls_verify;
  TRY(made->http_, env.http_client(std::move(http)));
  return made;
}

void ServerConnection::complete(rt::HttpRequest& request) {
  request.target = prefix_ + request.target;
  request.headers.emplace_back("User-Agent", user_agent_);
  if (const std::string token = current_token(); !token.empty())
    request.headers.emplace_back("Authorization", "Bearer " + token);
}

std::string ServerConnection::current_token() {
  if (access_.token_file.empty()) return access_.token;
  const base::Duration now = env_.uptime();
  if (!access_.token.empty() && now - token_read_at_ < base::minutes(1)) return access_.token;
  token_read_at_ = now;
  if (auto content = rt::read_file(access_.token_file); content.ok()) {
    access_.token = *content;
    while (!access_.token.empty() && (access_.token.back() == '\n' || access_.token.back() == ' '))
      access_.token.pop_back();
  }
  return access_.token;
}

}  // namespace client

// The server that answers, and the credentials that it is shown.
#include "client/http/server_connection.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/log.h"
#include "client/http/kubeconfig_check.h"
#include "rt/files/bounded_files.h"
#include "rt/http/url.h"

namespace client {
namespace {

constexpr base::Duration kRetirement = base::minutes(12);  // longer than any watch or request lasts
constexpr std::size_t kTokenBytesMax = std::size_t{1} << 20;
constexpr std::size_t kRetiredMax = 4;  // files that change again meanwhile wait

}  // namespace

base::Result<std::unique_ptr<ServerConnection>> ServerConnection::open(ServerAccess access, std::string user_agent,
                                                                       rt::Env& env, base::Duration timeout) {
  std::unique_ptr<ServerConnection> made(new ServerConnection(std::move(access), std::move(user_agent), env));
  made->timeout_ = timeout;
  TRY_VOID(made->connect());
  if (made->access_.again) made->look_later();
  return made;
}

base::Status ServerConnection::connect() {
  const ServerAccess& to = access_;
  // Without a scheme it is the address of a cluster's API server.
  const bool has_scheme = to.server.find("://") != std::string::npos;
  TRY(rt::ServerUrl url, rt::parse_server_url(has_scheme ? to.server : "https://" + to.server));
  while (url.path.ends_with('/')) url.path.pop_back();
  rt::ClientOptions http{.host = url.host, .port = url.port, .tls = url.tls};
  http.ca_pem = to.ca_pem;
  http.certificate_pem = to.certificate_pem;
  http.key_pem = to.key_pem;
  http.server_name = to.tls_server_name;
  http.insecure_skip_verify = to.insecure_skip_tls_verify;
  http.proxy = to.proxy;
  http.timeout = timeout_;
  TRY(auto made, env_.http_client(std::move(http)));
  if (http_) retired_.push_back({std::move(http_), env_.uptime()});
  http_ = std::move(made);
  prefix_ = std::move(url.path);
  return {};
}

void ServerConnection::look_later() {
  env_.loop().after(kAccessLook, [this, weak = std::weak_ptr<int>(alive_)] {
    if (!weak.expired()) look();
  });
}

void ServerConnection::look() {
  std::erase_if(retired_, [this](const Retired& one) { return env_.uptime() - one.since >= kRetirement; });
  if (retired_.size() >= kRetiredMax) return look_later();
  auto found = std::make_shared<base::Result<ServerAccess>>(access_);
  env_.offload([found, again = access_.again, refused = std::exchange(refused_, false)] { *found = again(refused); },
               [this, found, weak = std::weak_ptr<int>(alive_)] {
                 if (!weak.expired()) take(std::move(*found));
               });
}

void ServerConnection::take(base::Result<ServerAccess> found) {
  base::Status taken = found.ok() ? base::Status() : base::Status(found.error());
  if (taken.ok()) {
    found->again = access_.again;
    if (!found->token_file.empty() && found->token_file == access_.token_file) found->token = access_.token;
    ServerAccess before = std::exchange(access_, *std::move(found));
    if (!access_.has_connection_of(before)) {
      taken = connect();
      if (taken.ok())
        base::log_info("client", base::format("{}: new connections use what is said now", access_.server));
    }
    if (!taken.ok()) access_ = std::move(before);
  }
  const std::string trouble = taken.ok() ? "" : taken.error().message;
  if (std::exchange(reported_, trouble) != trouble && !trouble.empty())
    base::log_warning("client", base::format("how to reach {} cannot be read again, and stays as it was: {}",
                                             access_.server, trouble));
  look_later();
}

void ServerConnection::complete(rt::HttpRequest& request) {
  request.target = prefix_ + request.target;
  request.headers.emplace_back("User-Agent", user_agent_);
  if (const std::string token = current_token(); !token.empty())
    request.headers.emplace_back("Authorization", "Bearer " + token);
  request.headers.insert(request.headers.end(), access_.acts_as.begin(), access_.acts_as.end());
}

std::string ServerConnection::current_token() {
  if (access_.token_file.empty()) return access_.token;
  const base::Duration now = env_.uptime();
  if (!access_.token.empty() && now - token_read_at_ < base::minutes(1)) return access_.token;
  token_read_at_ = now;
  // On the loop: a file that became a pipe must not hold it up, and one that became rubbish leaves what was known.
  auto token = rt::read_bounded_file(access_.token_file, kTokenBytesMax, {});
  if (token.ok()) token = token_from(*token);
  if (token.ok()) access_.token = *token;
  const std::string trouble = token.ok() ? "" : token.error().message;
  if (std::exchange(token_reported_, trouble) != trouble && !trouble.empty())
    base::log_warning("client", base::format("the token in {} cannot be read again, and stays as it was: {}",
                                             access_.token_file, trouble));
  return access_.token;
}

}  // namespace client

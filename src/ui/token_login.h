// The way into the page of a cluster: a token that the cluster accepts becomes a session, by a form, or from the header
// that an authenticating proxy sends. The server itself has no rights.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "rt/http/http.h"
#include "ui/page_server.h"

namespace ui {

// A token that a cookie can hold; those of ServiceAccounts have about a thousand bytes.
inline constexpr std::size_t kTokenMax = 2600;

struct TokenLoginOptions {
  // Asks the cluster whose token it is; `done` comes once, on any thread. Any thread.
  std::function<void(std::string token, std::function<void(base::Result<Visitor>)> done)> identify;
  // A proxy stands before the server and sends `Authorization: Bearer TOKEN` with every request.
  bool by_proxy = false;
};

class TokenLogin : public std::enable_shared_from_this<TokenLogin> {
 public:
  TokenLogin(TokenLoginOptions options, std::shared_ptr<PageServer> page)
      : options_(std::move(options)), page_(std::move(page)) {}

  // Whether it takes the request: the form, what the form sends, and visits of the page without a session. Any thread.
  bool serve(const rt::HttpRequest& http, const std::shared_ptr<rt::HttpExchange>& exchange);
  // The token for a request of this session: the proxy's newest, or the one that began it.
  std::string token_of(const rt::HttpRequest& http, const Session& session) const;

 private:
  void take(const rt::HttpRequest& http, std::string token, std::shared_ptr<rt::HttpExchange> exchange);

  const TokenLoginOptions options_;
  const std::shared_ptr<PageServer> page_;
};

}  // namespace ui

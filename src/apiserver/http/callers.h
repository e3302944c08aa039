// The users of requests: by credentials or by a browser's session, on whose behalf they ask, and whether they may.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/http/access.h"
#include "apiserver/pipeline/api.h"

namespace apiserver {

struct ServerOptions;

struct Caller {
  UserInfo user;
  std::optional<TokenClaims> claims = {};  // by a token of these
  std::optional<UserInfo> own = {};        // of the one who acts as `user`
  // The kinds that the rights were judged by: one that comes later is not served to this request.
  std::shared_ptr<const ServedKinds> kinds = {};

  const UserInfo& itself() const { return own ? *own : user; }
};

// Users who wait behind nobody: administrators, and the nodes. The components of this process do not come this way.
bool is_exempt(const UserInfo& user);

// Any thread. `api` and `options` outlive it.
class Callers {
 public:
  Callers(Api& api, const ServerOptions& options) : api_(api), options_(options) {}

  // The user, if they may: by the headers and the path alone. Whether the account of `Caller::claims` is still there
  // the loop knows.
  base::Result<Caller> let_in(const rt::HttpRequest& http, const rt::Target& target) const;
  // The user of a service beside the API, which judges by itself.
  base::Result<Caller> of_beside(const Beside& service, const rt::HttpRequest& http) const;
  // The user whose own credentials open the page. A token of a service account holds only as long as the account, which
  // the loop knows: it opens no page.
  std::optional<UserInfo> of_page(const rt::HttpRequest& http) const;
  // Whether this caller may make the request, by the kinds that are served now.
  base::Result<Caller> judge(Caller caller, const rt::HttpRequest& http, const rt::Target& target) const;
  // The answer to a user who is not let in; the log of requests has it.
  rt::HttpResponse refusal(const rt::HttpRequest& http, const rt::Target& target, const base::Error& error) const;
  // The share of the connections that this request's peer takes: empty for one without bound, nothing for a peer
  // without credentials. An account that is gone is noticed when it asks.
  std::optional<std::string> share_of(const rt::HttpRequest& http) const;

 private:
  base::Result<Caller> acting(Caller caller, const rt::HttpRequest& http) const;
  base::Result<Caller> of(const rt::HttpRequest& http, std::string_view audience = {}) const;
  base::Result<Caller> by_credentials(const rt::HttpRequest& http, std::string_view audience = {}) const;

  Api& api_;
  const ServerOptions& options_;
};

}  // namespace apiserver

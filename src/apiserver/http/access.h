// The user of a request, on whose behalf it is, and whether they may: administrators (the group system:masters) may do
// everything, and others what roles give them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "apiserver/custom/served_kinds.h"
#include "apiserver/pipeline/request/request.h"
#include "apiserver/pipeline/rights/roles.h"
#include "rt/http/http.h"

namespace apiserver {

// By client certificate, or by bearer token in the Authorization header or, for browsers, among the subprotocols of a
// WebSocket. kUnauthorized otherwise.
base::Result<UserInfo> authenticate(const rt::HttpRequest& http, std::string_view token);

// The user that the Impersonate-* headers name in place of `user`; `user` without such headers. Each name, group, uid
// and extra that is taken needs the verb `impersonate` on it (kForbidden otherwise).
base::Result<UserInfo> act_as(UserInfo user, const rt::HttpRequest& http, const RoleSet& roles = {});

// The attributes of the request, for roles and the audit log.
Attributes attributes_of(const rt::HttpRequest& http, const rt::Target& target);

// kForbidden, in Kubernetes' words, for whom neither the group of administrators nor a role lets.
base::Status authorize(const UserInfo& user, const rt::HttpRequest& http, const rt::Target& target,
                       const RoleSet& roles = {}, const ServedKinds& kinds = {});

// Whether the user may make what a PUT or an applied configuration finds missing.
bool may_create(const UserInfo& user, const Request& request, const RoleSet& roles);

// The subprotocol that a WebSocket is answered with: the first that carries no token. Empty: none was offered.
std::string chosen_subprotocol(const rt::HttpRequest& http);

// The subprotocols that the request offers, in order, without the one that carries a token.
std::vector<std::string_view> offered_subprotocols(const rt::HttpRequest& http);

// The token of the request; empty: none.
std::string bearer_token(const rt::HttpRequest& http);

// A web page beside the API: its paths, and the users of its sessions. Any thread.
class BrowserAccess {
 public:
  virtual ~BrowserAccess() = default;
  // True for the page's own paths, which need no right of the API.
  virtual bool has(std::string_view path) const = 0;
  // Answers such a path. `caller`: the user that the request's own credentials name, or whom it acts as.
  virtual void serve(const rt::HttpRequest& http, const std::optional<UserInfo>& caller,
                     std::shared_ptr<rt::HttpExchange> exchange) const = 0;
  // The user of the session that the request carries; nothing: it carries none. An error: the session is over
  // (kUnauthorized), or another site made the request (kForbidden).
  virtual std::optional<base::Result<UserInfo>> user_of(const rt::HttpRequest& http) const = 0;
};

// The user who asks, and the way by which requests to the API are made with their rights. Any thread.
struct BesideCaller {
  UserInfo user;
  std::function<void(rt::HttpRequest, std::shared_ptr<rt::HttpExchange>)> send;
};

// A service beside the API, under paths of its own: it acts for the users who ask it, over the API and with their
// rights. Any thread.
class Beside {
 public:
  virtual ~Beside() = default;
  virtual bool has(std::string_view path) const = 0;
  // True for a path that a request without credentials may read. It takes no body.
  virtual bool is_open(std::string_view path) const = 0;
  // The audience of tokens of service accounts that are meant for this service, beside those for the API.
  virtual std::string_view audience() const = 0;
  // The user as whom the caller wants to act, where the request names one in a way of the service's own; empty: none.
  // The caller needs the right to impersonate that user.
  virtual std::string acting_as(const rt::HttpRequest&) const { return {}; }
  // `caller`: unset for an open path only.
  virtual void serve(rt::HttpRequest http, std::optional<BesideCaller> caller,
                     std::shared_ptr<rt::HttpExchange> exchange) const = 0;
  // The answer to a user who is not let in.
  virtual rt::HttpResponse refusal(const base::Error& error) const = 0;
};

// The service that has the path; null: the API itself.
const Beside* service_for(std::string_view path, const std::vector<std::shared_ptr<const Beside>>& services);

}  // namespace apiserver

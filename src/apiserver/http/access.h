// Who asks, on whose behalf, and whether they may: there are administrators (the group system:masters), and others, who
// may do nothing.
#pragma once

#include "apiserver/pipeline/request.h"
#include "rt/http.h"

namespace apiserver {

// By client certificate, or by bearer token in the Authorization header or, for browsers, among the subprotocols of a
// WebSocket. kUnauthorized otherwise.
base::Result<UserInfo> authenticate(const rt::HttpRequest& http, std::string_view token);

// The user that the Impersonate-* headers name in place of `user`, who must be an administrator for that; `user`
// without such headers.
base::Result<UserInfo> act_as(UserInfo user, const rt::HttpRequest& http);

// kForbidden, in Kubernetes' words, for everybody but administrators.
base::Status authorize(const UserInfo& user, const rt::HttpRequest& http, const rt::Target& target);

// The subprotocol that a WebSocket is answered with: the first that carries no token. Empty: none was offered.
std::string chosen_subprotocol(const rt::HttpRequest& http);

// Those that the request offers, in order, without the one that carries a token.
std::vector<std::string_view> offered_subprotocols(const rt::HttpRequest& http);

}  // namespace apiserver

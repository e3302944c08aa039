// The user of a request, on whose behalf it is, and whether they may: administrators (the group system:masters) may do
// everything, and others what roles give them.
#pragma once

#include "apiserver/custom/served_kinds.h"
#include "apiserver/pipeline/request.h"
#include "apiserver/pipeline/roles.h"
#include "rt/http.h"

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

}  // namespace apiserver

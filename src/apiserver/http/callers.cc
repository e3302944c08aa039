// The users of requests: by credentials or by a browser's session, on whose behalf they ask, and whether they may.
#include "apiserver/http/callers.h"

#include <algorithm>

#include "apiserver/http/answers.h"
#include "apiserver/http/query_options.h"
#include "apiserver/http/server.h"

namespace apiserver {

using base::Result;
using rt::HttpRequest;

bool is_exempt(const UserInfo& user) {
  return is_administrator(user) || std::ranges::find(user.groups, "system:nodes") != user.groups.end();
}

Result<Caller> Callers::let_in(const HttpRequest& http, const rt::Target& target) const {
  TRY(Caller caller, of(http));
  TRY(caller, acting(std::move(caller), http));
  return judge(std::move(caller), http, target);
}

Result<Caller> Callers::of_beside(const Beside& service, const HttpRequest& http) const {
  TRY(Caller caller, of(http, service.audience()));
  const std::string other = service.acting_as(http);
  if (other.empty() || other == caller.user.name) return acting(std::move(caller), http);
  return acting(std::move(caller), {.headers = {{"Impersonate-User", other}}});
}

std::optional<UserInfo> Callers::of_page(const HttpRequest& http) const {
  const auto caller = by_credentials(http);
  if (!caller.ok() || caller->claims) return std::nullopt;
  auto user = act_as(caller->user, http, *api_.roles());
  return user.ok() ? std::optional(*std::move(user)) : std::nullopt;
}

Result<Caller> Callers::judge(Caller caller, const HttpRequest& http, const rt::Target& target) const {
  TRY_VOID(check_text(target));
  caller.kinds = api_.kinds();
  TRY_VOID(authorize(caller.user, http, target, *api_.roles(), *caller.kinds));
  return caller;
}

rt::HttpResponse Callers::refusal(const HttpRequest& http, const rt::Target& target, const base::Error& error) const {
  rt::HttpResponse response = error_response(error, accepted_encoding(http));
  if (!options_.auditing) return response;
  const auto known = of(http);
  options_.auditing->refused(http, target, {known.ok() ? known->user : UserInfo()}, response);
  return response;
}

std::optional<std::string> Callers::share_of(const HttpRequest& http) const {
  const auto caller = of(http);
  if (!caller.ok()) return std::nullopt;
  return is_exempt(caller->user) ? std::string() : owner_of_share(caller->user);
}

Result<Caller> Callers::acting(Caller caller, const HttpRequest& http) const {
  UserInfo own = caller.user;
  TRY(caller.user, act_as(std::move(caller.user), http, *api_.roles()));
  if (caller.user.name != own.name || caller.user.groups != own.groups) caller.own = std::move(own);
  return caller;
}

// By the request's own credentials, or else by the session of a browser. `audience`: the service beside the API that
// tokens of service accounts may be meant for.
Result<Caller> Callers::of(const HttpRequest& http, std::string_view audience) const {
  if (options_.browser && http.peer_common_name.empty() && bearer_token(http).empty())
    if (auto user = options_.browser->user_of(http)) {
      if (!user->ok()) return user->take_error();
      return Caller{*std::move(*user)};
    }
  return by_credentials(http, audience);
}

Result<Caller> Callers::by_credentials(const HttpRequest& http, std::string_view audience) const {
  auto known = authenticate(http, options_.token);
  if (known.ok()) return Caller{*std::move(known)};
  const std::string token = bearer_token(http);
  if (token.empty() || api_.account_tokens() == nullptr) return known.take_error();
  auto claims = api_.account_tokens()->read(token, api_.env().now());
  if (!claims.ok() || !(is_for_us(*claims) || is_for(*claims, audience)) || !api_.knows_account(claims->account_uid))
    return known.take_error();
  UserInfo user = claims->user();
  return Caller{std::move(user), *std::move(claims)};
}

}  // namespace apiserver

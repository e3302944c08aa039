// Certificates, tokens, impersonation.
#include "apiserver/http/access.h"

#include <algorithm>

#include "apiserver/http/pods/node_proxy.h"
#include "apiserver/http/requested_resource.h"
#include "apiserver/http/route.h"
#include "base/base64.h"
#include "base/format.h"
#include "base/letters.h"
#include "base/trim.h"
#include "base/utf8.h"
#include "rt/tls/sealing.h"

namespace apiserver {

using base::Code;
using base::make_error;
using base::Result;

namespace {

constexpr std::string_view kMasters = "system:masters";
constexpr std::string_view kAuthenticated = "system:authenticated";
constexpr std::string_view kServiceAccount = "system:serviceaccount:";
constexpr std::string_view kTokenProtocol = "base64url.bearer.authorization.k8s.io.";

std::vector<std::string_view> subprotocols(const rt::HttpRequest& http) {
  return rt::header_list(http.headers, "Sec-WebSocket-Protocol");
}

std::string_view verb_name(Verb verb) {
  switch (verb) {
    case Verb::kGet: return "get";
    case Verb::kList: return "list";
    case Verb::kWatch: return "watch";
    case Verb::kCreate: return "create";
    case Verb::kUpdate: return "update";
    case Verb::kPatch: return "patch";
    case Verb::kDelete: return "delete";
    case Verb::kDeleteCollection: return "deletecollection";
  }
  return "";
}

Attributes request_attributes(const rt::HttpRequest& http, const rt::Target& target,
                              const Result<std::optional<Request>>& routed) {
  Attributes attributes;
  if (!routed.ok() || !*routed) {
    if (auto by_path = requested_resource(http, target)) return std::move(by_path->of);
    attributes.verb = base::lower(http.method);
    attributes.path = target.path;
    return attributes;
  }
  const Request& request = **routed;
  const std::string& sub = request.subresource;
  // To reach into a pod is to make something, whatever the method of the request.
  const bool connects = sub == "exec" || sub == "attach" || sub == "portforward";
  attributes.verb = connects ? "create" : verb_name(request.verb);
  attributes.group = request.kind->resource.group;
  attributes.resource = request.kind->resource.plural;
  attributes.subresource = sub;
  attributes.ns = request.ns;
  attributes.name = request.name;
  // As Kubernetes reads paths: a Namespace lies in itself, so that a RoleBinding there may give rights to it.
  if (request.kind->resource == api::resources::kNamespaces) attributes.ns = request.name;
  if (request.verb == Verb::kList || request.verb == Verb::kWatch)
    attributes.name = selected_name(request.field_selector);
  return attributes;
}

// Groups that come with a name.
void add_implied_groups(UserInfo& user) {
  const auto add = [&user](std::string group) {
    if (std::ranges::find(user.groups, group) == user.groups.end()) user.groups.push_back(std::move(group));
  };
  if (user.groups.empty() && user.name.starts_with(kServiceAccount)) {
    const std::string rest = user.name.substr(kServiceAccount.size());
    add("system:serviceaccounts");
    add("system:serviceaccounts:" + rest.substr(0, rest.find(':')));
  }
  add(std::string(user.name == "system:anonymous" ? "system:unauthenticated" : kAuthenticated));
}

// Whom the headers name; nothing: nobody.
Result<std::optional<UserInfo>> impersonated(const rt::HttpRequest& http) {
  constexpr std::string_view kPrefix = "impersonate-", kExtra = "impersonate-extra-";
  UserInfo other;
  std::string_view first;
  for (const auto& [name, value] : http.headers) {
    const std::string_view header = name;
    if (!rt::same_header(header.substr(0, kPrefix.size()), kPrefix)) continue;
    if (first.empty()) first = header;
    if (rt::same_header(header, "Impersonate-Group")) {
      other.groups.push_back(value);
    } else if (rt::same_header(header, "Impersonate-User") || rt::same_header(header, "Impersonate-Uid")) {
      std::string& taken = rt::same_header(header, "Impersonate-User") ? other.name : other.uid;
      if (!taken.empty()) return bad_request(base::format("{}: a request acts as one user", header));
      taken = value;
    } else if (header.size() > kExtra.size() && rt::same_header(header.substr(0, kExtra.size()), kExtra)) {
      // Keys have characters that names of headers may not have. The decoded key is text again.
      const std::string key = base::lower(rt::parse_target(header.substr(kExtra.size())).path);
      other.extra.emplace_back(base::to_utf8(key), value);
    } else {
      return bad_request(base::format("{}: a user, groups, a uid and extras can be impersonated", header));
    }
  }
  if (first.empty()) return std::optional<UserInfo>();
  if (other.name.empty())
    return bad_request(base::format("{}: requested without impersonating a user (Impersonate-User)", first));
  return std::optional(std::move(other));
}

// The rights that somebody must have for that.
std::vector<Attributes> impersonations(const UserInfo& other) {
  constexpr const char* kReviews = "authentication.k8s.io";
  std::vector<Attributes> all;
  const std::string rest =
      other.name.starts_with(kServiceAccount) ? other.name.substr(kServiceAccount.size()) : std::string();
  const std::size_t colon = rest.find(':');
  const bool two_parts = colon != std::string::npos && rest.find(':', colon + 1) == std::string::npos;
  if (two_parts && colon > 0 && colon + 1 < rest.size())
    all.push_back({"impersonate", "", "serviceaccounts", "", rest.substr(0, colon), rest.substr(colon + 1), ""});
  else
    all.push_back({"impersonate", "", "users", "", "", other.name, ""});
  for (const std::string& group : other.groups) all.push_back({"impersonate", "", "groups", "", "", group, ""});
  if (!other.uid.empty()) all.push_back({"impersonate", kReviews, "uids", "", "", other.uid, ""});
  for (const auto& [key, value] : other.extra)
    all.push_back({"impersonate", kReviews, "userextras", key, "", value, ""});
  return all;
}

base::Error cannot_impersonate(const UserInfo& user, const Attributes& attributes) {
  const std::string where =
      attributes.ns.empty() ? "at the cluster scope" : base::format("in the namespace \"{}\"", attributes.ns);
  base::Error error = make_error(
      Code::kForbidden,
      base::format("{}{} \"{}\" is forbidden: User \"{}\" cannot impersonate resource \"{}{}\" in API group \"{}\" {}",
                   attributes.resource, attributes.group.empty() ? "" : "." + attributes.group, attributes.name,
                   user.name, attributes.resource, attributes.subresource.empty() ? "" : "/" + attributes.subresource,
                   attributes.group, where));
  error.group = attributes.group;
  error.kind = attributes.resource;
  error.name = attributes.name;
  return error;
}

}  // namespace

std::string bearer_token(const rt::HttpRequest& http) {
  const std::string_view authorization = base::trim(rt::header(http.headers, "Authorization"), " \t");
  const std::size_t space = authorization.find(' ');
  if (space != std::string_view::npos && rt::same_header(authorization.substr(0, space), "bearer"))
    return std::string(base::trim(authorization.substr(space + 1), " \t"));
  if (!http.web_socket) return {};
  // As for Kubernetes, there must be another protocol, which can be answered.
  const auto offered = subprotocols(http);
  const auto is_token = [](std::string_view one) { return one.starts_with(kTokenProtocol); };
  const auto found = std::ranges::find_if(offered, is_token);
  if (found == offered.end() || std::ranges::count_if(offered, is_token) > 1 || offered.size() < 2) return {};
  auto token = base::base64url_decode(found->substr(kTokenProtocol.size()));
  return token.ok() ? *std::move(token) : std::string();
}

Result<UserInfo> authenticate(const rt::HttpRequest& http, std::string_view token) {
  UserInfo user;
  if (!http.peer_common_name.empty()) {
    user.name = http.peer_common_name;
    user.groups = http.peer_organizations;
  } else if (!token.empty() && rt::equal_secret(bearer_token(http), token)) {
    user.name = "volcano-admin";
    user.groups = {std::string(kMasters)};
  } else {
    return make_error(Code::kUnauthorized, "Unauthorized");
  }
  user.groups.emplace_back(kAuthenticated);
  return user;
}

Result<UserInfo> act_as(UserInfo user, const rt::HttpRequest& http, const RoleSet& roles) {
  TRY(std::optional<UserInfo> other, impersonated(http));
  if (!other) return user;
  for (const Attributes& attributes : impersonations(*other))
    if (!roles.allows(user, attributes)) return cannot_impersonate(user, attributes);
  add_implied_groups(*other);
  return *std::move(other);
}

Attributes attributes_of(const rt::HttpRequest& http, const rt::Target& target) {
  return request_attributes(http, target, route(http, target));
}

base::Status authorize(const UserInfo& user, const rt::HttpRequest& http, const rt::Target& target,
                       const RoleSet& roles, const ServedKinds& kinds) {
  if (is_administrator(user)) return {};
  const auto routed = route(http, target, kinds);
  Attributes attributes = request_attributes(http, target, routed);
  if (roles.allows(user, attributes)) return {};
  if (routed.ok() && *routed && is_node_proxy(**routed)) {
    attributes.subresource = right_for_page(proxied_path(target.path));
    if (!attributes.subresource.empty() && roles.allows(user, attributes)) return {};
  }
  attributes = request_attributes(http, target, routed);
  if (attributes.resource.empty()) {
    return make_error(Code::kForbidden, base::format("forbidden: User \"{}\" cannot {} path \"{}\"", user.name,
                                                     base::lower(http.method), target.path));
  }
  const std::string what = attributes.resource + (attributes.subresource.empty() ? "" : "/" + attributes.subresource);
  const std::string where =
      attributes.ns.empty() ? "at the cluster scope" : base::format("in the namespace \"{}\"", attributes.ns);
  base::Error error =
      make_error(Code::kForbidden,
                 base::format("{}{}{} is forbidden: User \"{}\" cannot {} resource \"{}\" in API group \"{}\" {}",
                              attributes.resource, attributes.group.empty() ? "" : "." + attributes.group,
                              attributes.name.empty() ? "" : " \"" + attributes.name + "\"", user.name, attributes.verb,
                              what, attributes.group, where));
  error.group = attributes.group;
  error.kind = attributes.resource;
  error.name = attributes.name;
  return error;
}

bool may_create(const UserInfo& user, const Request& request, const RoleSet& roles) {
  const api::ResourceId& resource = request.kind->resource;
  return is_administrator(user) ||
         roles.allows(user, {"create", resource.group, resource.plural, "", request.ns, request.name, ""});
}

std::vector<std::string_view> offered_subprotocols(const rt::HttpRequest& http) {
  auto all = subprotocols(http);
  std::erase_if(all, [](std::string_view one) { return one.starts_with(kTokenProtocol); });
  return all;
}

std::string chosen_subprotocol(const rt::HttpRequest& http) {
  for (const std::string_view one : subprotocols(http))
    if (!one.starts_with(kTokenProtocol)) return std::string(one);
  return {};
}

const Beside* service_for(std::string_view path, const std::vector<std::shared_ptr<const Beside>>& services) {
  const auto found = std::ranges::find_if(services, [path](const auto& service) { return service->has(path); });
  return found == services.end() ? nullptr : found->get();
}

}  // namespace apiserver

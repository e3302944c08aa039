// Paths "/api/v1/namespaces/ns/pods/name/status" and "/apis/group/version/...".
#include "apiserver/http/route.h"

#include <algorithm>
#include <array>

#include "api/json/cbor.h"
#include "api/json/yaml.h"
#include "api/protobuf/protobuf.h"
#include "apiserver/http/query_options.h"
#include "base/format.h"

namespace apiserver {
namespace {

using base::Code;
using base::make_error;
using base::Result;

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    if (path[0] == '/') {
      path.remove_prefix(1);
      continue;
    }
    const std::size_t slash = path.find('/');
    parts.emplace_back(path.substr(0, slash));
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash);
  }
  return parts;
}

base::Error no_resource() { return make_error(Code::kNotFound, "the server could not find the requested resource"); }

// group and version, then the rest of the path.
struct Place {
  std::string group, version;
  std::vector<std::string> rest;
};

std::optional<Place> place_for(const std::vector<std::string>& parts) {
  Place place;
  std::size_t at = 0;
  if (parts.size() >= 3 && parts[0] == "api") {
    place.version = parts[1];
    at = 2;
  } else if (parts.size() >= 4 && parts[0] == "apis") {
    place.group = parts[1];
    place.version = parts[2];
    at = 3;
  } else {
    return {};
  }
  place.rest.assign(parts.begin() + static_cast<std::ptrdiff_t>(at), parts.end());
  return place;
}

// "application/json" of "application/json; charset=utf-8".
std::string_view bare_type(std::string_view content_type) { return content_type.substr(0, content_type.find(';')); }

Result<PatchType> patch_type_for(std::string_view content_type) {
  const std::string_view type = bare_type(content_type);
  if (type == "application/json-patch+json") return PatchType::kJson;
  if (type == "application/merge-patch+json") return PatchType::kMerge;
  if (type == "application/strategic-merge-patch+json") return PatchType::kStrategic;
  if (type == "application/apply-patch+yaml" || type == "application/apply-patch+cbor") return PatchType::kApply;
  return make_error(
      Code::kUnsupportedMediaType,
      base::format(
          "the body of the request was in an unknown format - accepted media types include: "
          "application/json-patch+json, "
          "application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml, "
          "application/apply-patch+cbor (got {})",
          type));
}

Result<Verb> verb_for(const rt::HttpRequest& http, const rt::Target& target, const Request& request) {
  const bool named = !request.name.empty();
  if (http.method == "GET" || http.method == "HEAD") {
    if (asks_for(target, "watch") && request.subresource.empty()) return Verb::kWatch;
    return named ? Verb::kGet : Verb::kList;
  }
  const bool homeless = request.kind->namespaced && request.ns.empty();
  if (http.method == "POST" && (named ? !request.subresource.empty() : !homeless)) return Verb::kCreate;
  if (http.method == "PUT" && named) return Verb::kUpdate;
  if (http.method == "PATCH" && named) return Verb::kPatch;
  // Namespaces go one by one, and so do the objects of more than one.
  const bool collection = request.kind->namespaced ? !request.ns.empty() : request.kind->kind != "Namespace";
  if (http.method == "DELETE" && (named || collection)) return named ? Verb::kDelete : Verb::kDeleteCollection;
  return make_error(Code::kMethodNotAllowed, "the server does not allow this method on the requested resource");
}

// The query and the body of such a request are not for this server.
Result<std::optional<Request>> as_proxied(const rt::HttpRequest& http, Request request) {
  static constexpr std::array<std::pair<std::string_view, Verb>, 6> kVerbs = {{{"GET", Verb::kGet},
                                                                               {"HEAD", Verb::kGet},
                                                                               {"POST", Verb::kCreate},
                                                                               {"PUT", Verb::kUpdate},
                                                                               {"PATCH", Verb::kPatch},
                                                                               {"DELETE", Verb::kDelete}}};
  const auto found = std::ranges::find(kVerbs, http.method, [](const auto& row) { return row.first; });
  if (found == kVerbs.end())
    return make_error(Code::kMethodNotAllowed, "the server does not allow this method on the requested resource");
  request.verb = found->second;
  return std::optional<Request>(std::move(request));
}

}  // namespace

Result<std::optional<Request>> route(const rt::HttpRequest& http, const rt::Target& target, const ServedKinds& kinds) {
  const std::vector<std::string> parts = split_path(target.path);
  auto place = place_for(parts);
  if (!place) return std::optional<Request>();
  Request request;
  auto& rest = place->rest;
  bool watch_prefix = false;
  if (!rest.empty() && rest[0] == "watch") {  // the old form of a watch
    watch_prefix = true;
    rest.erase(rest.begin());
  }
  // "namespaces/x/pods" is inside a namespace; "namespaces/x" and "namespaces/x/status" are the Namespace itself.
  if (rest.size() >= 3 && rest[0] == "namespaces" &&
      !(place->group.empty() && (rest[2] == "status" || rest[2] == "finalize"))) {
    request.ns = rest[1];
    rest.erase(rest.begin(), rest.begin() + 2);
  }
  // The path after "proxy" is for the node, the pod or the service.
  const bool proxied = rest.size() > 2 && place->group.empty() && rest[2] == "proxy";
  if (rest.empty() || (rest.size() > 3 && !proxied)) return no_resource();
  const ServedKind served = kinds.find(place->group, place->version, rest[0]);
  if (!served) return no_resource();
  request.kind = served.kind;
  request.resource = served.resource;
  request.holds_kind = served.custom;
  if (!request.kind->namespaced && !request.ns.empty()) return no_resource();
  if (rest.size() > 1) request.name = rest[1];
  if (rest.size() > 2) request.subresource = rest[2];
  if (!request.subresource.empty() && !has_subresource(*request.kind, request.subresource)) return no_resource();
  if (!request.name.empty() && request.kind->namespaced && request.ns.empty()) return no_resource();
  if (watch_prefix && !request.subresource.empty()) return no_resource();
  if (proxied) return as_proxied(http, std::move(request));
  TRY(request.verb, verb_for(http, target, request));
  TRY_VOID(read_query(target, request));
  if (watch_prefix) request.verb = Verb::kWatch;
  TRY_VOID(check_query(target, request));
  if (request.verb == Verb::kWatch && !request.name.empty()) {
    request.field_selector = "metadata.name=" + request.name;
    request.name.clear();
  }
  if (request.verb == Verb::kPatch) {
    TRY(request.patch_type, patch_type_for(rt::header(http.headers, "Content-Type")));
  }
  return std::optional<Request>(std::move(request));
}

Result<api::Json> parse_body(std::string_view content_type, std::string_view bytes,
                             std::vector<std::string>* duplicates) {
  const std::string_view type = bare_type(content_type);
  if (type == "application/vnd.kubernetes.protobuf") return api::parse_protobuf(bytes);
  if (type == "application/cbor" || type == "application/apply-patch+cbor") return api::parse_cbor(bytes);
  if (type == "application/yaml" || type == "application/apply-patch+yaml") return api::parse_yaml(bytes, {duplicates});
  return api::parse_json(bytes, {duplicates});
}

base::Status decode_body(const rt::HttpRequest& http, Request& request) {
  static constexpr std::array kTypes = {"", "application/json", "application/yaml", "application/cbor",
                                        "application/vnd.kubernetes.protobuf"};
  if (http.body.empty()) return {};
  const std::string_view type = rt::header(http.headers, "Content-Type");
  if (request.verb != Verb::kPatch && std::ranges::find(kTypes, bare_type(type)) == kTypes.end())
    return make_error(Code::kUnsupportedMediaType,
                      "the body of the request was in an unknown format - accepted media types include: "
                      "application/json, application/yaml, application/vnd.kubernetes.protobuf, application/cbor");
  TRY(request.body, parse_body(type, http.body, &request.duplicate_keys));
  return {};
}

}  // namespace apiserver

// Paths "/api/v1/namespaces/ns/pods/name/status" and "/apis/group/version/...", and their query parameters.
#include "apiserver/http/route.h"

#include "api/json/yaml.h"
#include "api/protobuf.h"
#include "apiserver/pipeline/manager_name.h"
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

bool truthy(std::string_view text) { return text == "true" || text == "1" || text == "True" || text == "t"; }

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

Result<PatchType> patch_type_for(std::string_view content_type) {
  const std::string_view type = content_type.substr(0, content_type.find(';'));
  if (type == "application/json-patch+json") return PatchType::kJson;
  if (type == "application/merge-patch+json") return PatchType::kMerge;
  if (type == "application/strategic-merge-patch+json") return PatchType::kStrategic;
  if (type == "application/apply-patch+yaml") return PatchType::kApply;
  return make_error(
      Code::kUnsupportedMediaType,
      base::format(
          "the body of the request was in an unknown format - accepted media types include: "
          "application/json-patch+json, "
          "application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml (got {})",
          type));
}

base::Status read_number(const rt::Target& target, std::string_view name, std::int64_t& number) {
  const std::string_view text = target.get(name);
  if (text.empty()) return {};
  TRY(number, parse_number(name, text));
  return {};
}

// The options of a DELETE without a body; a body takes their place.
base::Status read_delete_options(const rt::Target& target, Request& request) {
  api::Json options = api::Json::object();
  if (!target.get("gracePeriodSeconds").empty()) {
    std::int64_t seconds = 0;
    TRY_VOID(read_number(target, "gracePeriodSeconds", seconds));
    options.set("gracePeriodSeconds", seconds);
  }
  if (const std::string_view policy = target.get("propagationPolicy"); !policy.empty())
    options.set("propagationPolicy", policy);
  if (const std::string_view orphan = target.get("orphanDependents"); !orphan.empty())
    options.set("orphanDependents", truthy(orphan));
  if (!options.empty()) request.body = std::move(options);
  return {};
}

base::Status read_query(const rt::Target& target, Request& request) {
  request.label_selector = target.get("labelSelector");
  request.field_selector = target.get("fieldSelector");
  request.continue_token = target.get("continue");
  request.resource_version = target.get("resourceVersion");
  request.resource_version_match = target.get("resourceVersionMatch");
  request.bookmarks = truthy(target.get("allowWatchBookmarks"));
  request.send_initial_events = truthy(target.get("sendInitialEvents"));
  request.force = truthy(target.get("force"));
  request.field_manager = target.get("fieldManager");
  TRY_VOID(read_number(target, "limit", request.limit));
  TRY_VOID(read_number(target, "timeoutSeconds", request.timeout_seconds));
  const std::string_view validation = target.get("fieldValidation");
  if (validation == "Strict")
    request.field_validation = FieldValidation::kStrict;
  else if (validation == "Ignore")
    request.field_validation = FieldValidation::kIgnore;
  else if (!validation.empty() && validation != "Warn")
    return bad_request(base::format(
        "fieldValidation: Unsupported value: \"{}\": supported values: \"Ignore\", \"Strict\", \"Warn\"", validation));
  for (const auto& [key, value] : target.query) {
    if (key != "dryRun") continue;
    if (value != "All")
      return bad_request(base::format("dryRun: Unsupported value: \"{}\": supported values: \"All\"", value));
    request.dry_run = true;
  }
  return {};
}

Result<Verb> verb_for(const rt::HttpRequest& http, const rt::Target& target, const Request& request) {
  const bool named = !request.name.empty();
  if (http.method == "GET" || http.method == "HEAD") {
    if (truthy(target.get("watch"))) return Verb::kWatch;
    return named ? Verb::kGet : Verb::kList;
  }
  if (http.method == "POST" && (!named || !request.subresource.empty())) return Verb::kCreate;
  if (http.method == "PUT" && named) return Verb::kUpdate;
  if (http.method == "PATCH" && named) return Verb::kPatch;
  // Namespaces go one by one, and so do the objects of more than one.
  const bool collection = request.kind->namespaced ? !request.ns.empty() : request.kind->kind != "Namespace";
  if (http.method == "DELETE" && (named || collection)) return named ? Verb::kDelete : Verb::kDeleteCollection;
  return make_error(Code::kMethodNotAllowed, "the server does not allow this method on the requested resource");
}

// The rules of Kubernetes for who manages fields.
base::Status check_field_manager(Verb verb, std::string_view manager) {
  const auto wrong = [verb](const char* reason, std::string why) {
    base::Error error = make_error(Code::kInvalid, {});
    error.group = "meta.k8s.io";
    error.kind = verb == Verb::kCreate ? "CreateOptions" : verb == Verb::kUpdate ? "UpdateOptions" : "PatchOptions";
    error.message = base::format("{}.meta.k8s.io \"\" is invalid: fieldManager: {}", error.kind, why);
    error.causes = {{reason, std::move(why), "fieldManager"}};
    return base::Status(std::move(error));
  };
  if (manager.size() > kManagerBytesMax)
    return wrong("FieldValueTooLong", base::format("Too long: may not be more than {} bytes", kManagerBytesMax));
  if (!is_printable(manager))
    return wrong("FieldValueInvalid",
                 base::format("Invalid value: {:?}: should only contain printable characters", manager));
  return {};
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
  // What follows "proxy" is the node's own.
  const bool proxied = rest.size() > 3 && place->group.empty() && rest[0] == "nodes" && rest[2] == "proxy";
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
  TRY_VOID(read_query(target, request));
  TRY(request.verb, verb_for(http, target, request));
  if (request.verb == Verb::kCreate || request.verb == Verb::kUpdate || request.verb == Verb::kPatch)
    TRY_VOID(check_field_manager(request.verb, request.field_manager));
  if (request.verb == Verb::kDelete || request.verb == Verb::kDeleteCollection)
    TRY_VOID(read_delete_options(target, request));
  if (watch_prefix) request.verb = Verb::kWatch;
  if (request.verb == Verb::kWatch && !request.name.empty()) {
    request.field_selector = "metadata.name=" + request.name;
    request.name.clear();
  }
  if (request.verb == Verb::kPatch) {
    TRY(request.patch_type, patch_type_for(rt::header(http.headers, "Content-Type")));
  }
  return std::optional<Request>(std::move(request));
}

base::Status decode_body(const rt::HttpRequest& http, Request& request) {
  if (http.body.empty()) return {};
  const std::string_view full = rt::header(http.headers, "Content-Type");
  const std::string_view type = full.substr(0, full.find(';'));
  if (type == "application/vnd.kubernetes.protobuf") {
    TRY(request.body, api::parse_protobuf(http.body));
    return {};
  }
  if (type == "application/yaml" || type == "application/apply-patch+yaml") {
    TRY(request.body, api::parse_yaml(http.body, {&request.duplicate_keys}));
  } else {
    TRY(request.body, api::parse_json(http.body, {&request.duplicate_keys}));
  }
  return {};
}

}  // namespace apiserver

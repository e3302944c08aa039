// The translation between requests and HTTP messages.
#include "client/wire.h"

#include <charconv>

#include "base/format.h"

namespace client {

using api::Json;
using base::Code;

namespace {

constexpr std::string_view kPatchTypes[] = {"application/json-patch+json", "application/merge-patch+json",
                                            "application/strategic-merge-patch+json", "application/apply-patch+yaml"};

class Query {
 public:
  void add(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    text_ += text_.empty() ? '?' : '&';
    text_.append(key).append("=").append(rt::percent_encode(value));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string_view method_of(Verb verb) {
  switch (verb) {
    case Verb::kGet:
    case Verb::kList: return "GET";
    case Verb::kCreate: return "POST";
    case Verb::kUpdate: return "PUT";
    case Verb::kPatch: return "PATCH";
    case Verb::kDelete:
    case Verb::kDeleteCollection: return "DELETE";
  }
  return "GET";
}

}  // namespace

std::uint8_t rank_of(const Request& request) {
  if (request.resource == api::resources::kLeases) return 0;
  return static_cast<std::uint8_t>(1 + static_cast<int>(request.urgency));
}

rt::HttpRequest encode_request(const Request& request, std::string_view field_manager) {
  const bool writes = request.verb == Verb::kCreate || request.verb == Verb::kUpdate || request.verb == Verb::kPatch;
  const bool collection = request.verb == Verb::kList || request.verb == Verb::kDeleteCollection;
  Query query;
  if (collection) {
    query.add("labelSelector", request.label_selector);
    query.add("fieldSelector", request.field_selector);
    if (request.limit > 0) query.add("limit", std::to_string(request.limit));
    query.add("continue", request.continue_token);
    query.add("resourceVersion", request.resource_version);
  }
  if (writes) query.add("fieldManager", request.field_manager.empty() ? field_manager : request.field_manager);
  if (request.verb == Verb::kPatch && request.patch_type == PatchType::kApply && request.force)
    query.add("force", "true");
  if (request.dry_run) query.add("dryRun", "All");
  rt::HttpRequest out;
  out.method = method_of(request.verb);
  out.urgency = rank_of(request);
  // A create names its object only for subresources such as pods/binding and pods/eviction.
  const bool named = !collection && (request.verb != Verb::kCreate || !request.subresource.empty());
  out.target =
      api::resource_path(request.resource, request.ns, named ? request.name : "", request.subresource) + query.text();
  out.headers.emplace_back("Accept", "application/json");
  if (!request.body.is_null()) {
    out.body = request.body.dump();
    const bool patch = request.verb == Verb::kPatch;
    out.headers.emplace_back("Content-Type", patch ? kPatchTypes[static_cast<int>(request.patch_type)]
                                                   : std::string_view("application/json"));
  }
  return out;
}

rt::HttpRequest encode_watch(const WatchRequest& request, int timeout_seconds) {
  Query query;
  query.add("watch", "true");
  if (request.bookmarks) query.add("allowWatchBookmarks", "true");
  query.add("labelSelector", request.label_selector);
  query.add("fieldSelector", request.field_selector);
  query.add("resourceVersion", request.resource_version);
  query.add("timeoutSeconds", std::to_string(timeout_seconds));
  rt::HttpRequest out;
  out.method = "GET";
  out.target = api::resource_path(request.resource, request.ns, {}, {}) + query.text();
  out.headers.emplace_back("Accept", "application/json");
  return out;
}

base::Error error_from_status(const Json& status, int http_status) {
  const int code = static_cast<int>(status["code"].as_int(http_status));
  base::Error error = base::make_error(base::code_for(status["reason"].as_string(), code), status["message"].str());
  const Json& details = status["details"];
  for (const Json& cause : details["causes"].items())
    error.causes.push_back({cause["reason"].str(), cause["message"].str(), cause["field"].str()});
  error.group = details["group"].str();
  error.kind = details["kind"].str();
  error.name = details["name"].str();
  error.retry_after_seconds = static_cast<int>(details["retryAfterSeconds"].as_int());
  if (error.message.empty()) error.message = base::format("the server answered {}", code);
  return error;
}

base::Result<Json> decode_response(const rt::HttpResponse& response, const api::Projection* only, bool is_list) {
  const bool is_fine = response.status >= 200 && response.status < 300;
  auto body = only == nullptr || !is_fine ? api::parse_json(response.body)
              : is_list                   ? api::parse_json(response.body, api::Projection::around("items", *only))
                                          : api::parse_json(response.body, *only);
  if (is_fine) {
    if (!body.ok()) return base::within(body.take_error(), "the server's answer");
    return body;
  }
  if (body.ok() && (*body)["kind"].as_string() == "Status") {
    base::Error error = error_from_status(*body, response.status);
    const std::string_view header = rt::header(response.headers, "Retry-After");
    if (error.retry_after_seconds == 0 && !header.empty())
      std::from_chars(header.data(), header.data() + header.size(), error.retry_after_seconds);
    return error;
  }
  const std::string_view text = std::string_view(response.body).substr(0, 200);
  return base::make_error(base::code_for({}, response.status),
                          base::format("the server answered {}: {}", response.status, text));
}

WatchDecoder::WatchDecoder(const api::Projection* only) {
  if (only != nullptr) event_ = api::Projection::around("object", *only);
}

base::Status WatchDecoder::feed(std::string_view bytes, std::vector<WatchEvent>& events) {
  rest_.append(bytes);
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = rest_.find('\n', begin);
    if (end == std::string::npos) break;
    const std::string_view line = std::string_view(rest_).substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto event = event_ ? api::parse_json(line, *event_) : api::parse_json(line);
    // An error is a Status, of which everything counts.
    if (event_ && event.ok() && (*event)["type"].as_string() == "ERROR") event = api::parse_json(line);
    if (!event.ok()) return base::within(event.take_error(), "watch event");
    const std::string_view type = (*event)["type"].as_string();
    Json object = (*event)["object"];
    if (type == "ADDED")
      events.push_back({EventType::kAdded, std::move(object)});
    else if (type == "MODIFIED")
      events.push_back({EventType::kModified, std::move(object)});
    else if (type == "DELETED")
      events.push_back({EventType::kDeleted, std::move(object)});
    else if (type == "BOOKMARK")
      events.push_back({EventType::kBookmark, std::move(object)});
    else if (type == "ERROR")
      return error_from_status(object, 500);
    else
      return base::make_error(Code::kInternal, base::format("watch event of unknown type {:?}", type));
  }
  rest_.erase(0, begin);
  return {};
}

}  // namespace client

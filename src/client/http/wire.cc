// The translation between requests and HTTP messages.
#include "client/http/wire.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "api/kinds.h"
#include "api/protobuf/protobuf.h"
#include "base/format.h"
#include "base/utf8.h"

namespace client {

using api::Json;
using base::Code;

namespace {

constexpr std::string_view kPatchTypes[] = {"application/json-patch+json", "application/merge-patch+json",
                                            "application/strategic-merge-patch+json", "application/apply-patch+yaml"};

constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";
constexpr std::size_t kEventBytesMax = std::size_t{64} << 20;

// Protobuf costs a stock server half of what JSON costs it, and us less. A reader of whole objects wants fields that we
// do not know, too, which JSON has alone.
std::string_view accepted(const api::ResourceId& resource, std::string_view subresource, const api::Projection* only) {
  const bool is_of_kind = subresource.empty() || subresource == "status";
  const bool parts = only && !only->names_all() && is_of_kind;
  const api::KindInfo* kind = parts ? api::find_kind(resource) : nullptr;
  const bool has_both = kind && !kind->custom && api::has_protobuf(resource.api_version(), kind->kind);
  return has_both ? "application/vnd.volcano.stored+json,application/vnd.kubernetes.protobuf,application/json"
                  : "application/json";
}

base::Error too_long(std::size_t bytes) {
  return base::make_error(Code::kInternal,
                          base::format("watch event of {} bytes, where {} may be", bytes, kEventBytesMax));
}

bool is_protobuf(std::string_view body) { return body.starts_with(api::kProtobufMagic); }

base::Result<Json> parse_body(std::string_view body, const api::Projection* only, bool is_list) {
  if (is_protobuf(body)) return api::parse_protobuf_answer(body, only);
  if (only == nullptr) return api::parse_json(body);
  return is_list ? api::parse_json(body, api::Projection::around("items", *only)) : api::parse_json(body, *only);
}

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

int whole_seconds(std::int64_t seconds) {
  return static_cast<int>(std::clamp<std::int64_t>(seconds, 0, std::numeric_limits<int>::max()));
}

// Seconds, which is what API servers say. A date tells nothing to whoever has another clock.
int retry_after(const rt::HttpResponse& response) {
  if (response.status != 429 && response.status < 500) return 0;
  const std::string_view text = rt::header(response.headers, "Retry-After");
  std::int64_t seconds = 0;
  const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (end != text.data() + text.size()) return 0;
  if (trouble == std::errc::result_out_of_range && !text.starts_with('-')) return std::numeric_limits<int>::max();
  return whole_seconds(seconds);
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
  out.headers.emplace_back("Accept", accepted(request.resource, request.subresource, request.only));
  if (!request.account.empty())
    out.headers.emplace_back("Impersonate-User", "system:serviceaccount:" + request.account);
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
  if (request.resource_version.empty()) {
    query.add("sendInitialEvents", "true");
    query.add("resourceVersionMatch", "NotOlderThan");
  }
  query.add("timeoutSeconds", std::to_string(timeout_seconds));
  rt::HttpRequest out;
  out.method = "GET";
  out.target = api::resource_path(request.resource, request.ns, {}, {}) + query.text();
  out.headers.emplace_back("Accept", accepted(request.resource, {}, request.only));
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
  error.retry_after_seconds = whole_seconds(details["retryAfterSeconds"].as_int());
  if (error.message.empty()) error.message = base::format("the server answered {}", code);
  return error;
}

base::Result<Json> decode_response(const rt::HttpResponse& response, const api::Projection* only, bool is_list) {
  const bool is_fine = response.status >= 200 && response.status < 300;
  auto body = parse_body(response.body, is_fine ? only : nullptr, is_list);
  if (is_fine) {
    if (!body.ok()) return base::within(body.take_error(), "the server's answer");
    return body;
  }
  // A server that is too busy says so before it looks at the request, and in plain text.
  const int pause = retry_after(response);
  if (body.ok() && (*body)["kind"].as_string() == "Status") {
    base::Error error = error_from_status(*body, response.status);
    if (pause > 0) error.retry_after_seconds = pause;
    return error;
  }
  const std::string text = is_protobuf(response.body) ? base::format("{} bytes of protobuf", response.body.size())
                                                      : base::to_utf8(std::string_view(response.body).substr(0, 200));
  base::Error error = base::make_error(base::code_for({}, response.status),
                                       base::format("the server answered {}: {}", response.status, text));
  error.retry_after_seconds = pause;
  return error;
}

WatchDecoder::WatchDecoder(const api::Projection* only) : only_(only) {
  if (only != nullptr) event_ = api::Projection::around("object", *only);
}

void WatchDecoder::begin(std::string_view content_type) { framed_ = content_type.starts_with(kProtobuf); }

base::Status WatchDecoder::feed(std::string_view bytes, std::vector<WatchEvent>& events) {
  rest_.append(bytes);
  std::size_t begin = 0;
  base::Status status;
  for (bool more = true; more && status.ok();) {
    TRY(const std::optional<std::string_view> next, framed_ ? next_frame(begin) : next_line(begin));
    more = next.has_value();
    if (more) status = take(*next, events);
  }
  rest_.erase(0, begin);
  looked_through_ = rest_.size();
  return status;
}

// A blank line is not an event.
base::Result<std::optional<std::string_view>> WatchDecoder::next_line(std::size_t& begin) const {
  for (;;) {
    const std::size_t end = rest_.find('\n', std::max(begin, looked_through_));
    if (end == std::string::npos && rest_.size() - begin > kEventBytesMax) return too_long(rest_.size() - begin);
    if (end == std::string::npos) return std::optional<std::string_view>();
    const std::string_view line = std::string_view(rest_).substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) return std::optional(line);
  }
}

// Its length comes before it, in four bytes, the largest first.
base::Result<std::optional<std::string_view>> WatchDecoder::next_frame(std::size_t& begin) const {
  constexpr std::size_t kLength = 4;
  if (rest_.size() < begin + kLength) return std::optional<std::string_view>();
  std::size_t size = 0;
  for (std::size_t i = 0; i < kLength; ++i) size = size << 8 | static_cast<unsigned char>(rest_[begin + i]);
  if (size > kEventBytesMax) return too_long(size);
  if (rest_.size() < begin + kLength + size) return std::optional<std::string_view>();
  const std::string_view frame = std::string_view(rest_).substr(begin + kLength, size);
  begin += kLength + size;
  return std::optional(frame);
}

base::Status WatchDecoder::take(std::string_view bytes, std::vector<WatchEvent>& events) const {
  std::string type;
  Json object;
  if (framed_) {
    auto event = api::parse_protobuf_event(bytes, only_);
    if (!event.ok()) return base::within(event.take_error(), "watch event");
    type = std::move(event->type);
    object = std::move(event->object);
  } else {
    auto event = event_ ? api::parse_json(bytes, *event_) : api::parse_json(bytes);
    // All of a Status counts, and of a bookmark an annotation that nobody reads elsewhere.
    const bool whole =
        event.ok() && ((*event)["type"].as_string() == "ERROR" || (*event)["type"].as_string() == "BOOKMARK");
    if (event_ && whole) event = api::parse_json(bytes);
    if (!event.ok()) return base::within(event.take_error(), "watch event");
    type = (*event)["type"].str();
    object = (*event)["object"];
  }
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
  return {};
}

}  // namespace client

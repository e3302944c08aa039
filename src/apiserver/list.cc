// GET: one object, or a list with selectors, limits and continuation.
#include <charconv>

#include "api/selector.h"
#include "apiserver/api.h"
#include "apiserver/selection.h"
#include "base/format.h"
#include "rt/tls.h"

namespace apiserver {

using api::Json;
using base::Code;
using base::Result;

namespace {

// {"rv":..., "start":"ns/name"} in base64, opaque to clients.
struct Continuation {
  std::int64_t revision = 0;
  std::string after;
};

std::string encode(const Continuation& token) {
  return rt::base64_encode(Json::object({{"rv", token.revision}, {"start", token.after}}).dump());
}

Result<Continuation> decode_continuation(const std::string& text) {
  auto bytes = rt::base64_decode(text);
  if (bytes.ok()) {
    auto json = api::parse_json(*bytes);
    if (json.ok() && (*json)["rv"].is_int() && (*json)["start"].is_string())
      return Continuation{(*json)["rv"].as_int(), (*json)["start"].str()};
  }
  return bad_request("continue key is not valid");
}

base::Status check_version(const store::Store& store, const Request& request) {
  if (request.resource_version.empty() || request.resource_version == "0") return {};
  std::int64_t wanted = 0;
  const std::string& text = request.resource_version;
  if (std::from_chars(text.data(), text.data() + text.size(), wanted).ptr != text.data() + text.size())
    return bad_request(base::format("resourceVersion: Invalid value: \"{}\": must be a number", text));
  if (request.resource_version_match == "Exact" && wanted != store.revision())
    return base::make_error(Code::kExpired,
                            base::format("The provided resource version {} is not available any more", wanted));
  if (wanted > store.revision()) {
    base::Error error = base::make_error(
        Code::kTimeout, base::format("Too large resource version: {}, current: {}", wanted, store.revision()));
    error.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
    error.retry_after_seconds = 1;
    return error;
  }
  return {};
}

}  // namespace

Result<Answer> get_object(const store::Store& store, const Request& request) {
  const store::ObjectPtr object = store.find(request.resource, request.ns, request.name, store::View::kDurable);
  if (!object) return not_found(*request.kind, request.name);
  Answer answer;
  answer.pieces.emplace_back(object, &object->bytes);
  return answer;
}

Result<Answer> list_objects(const store::Store& store, const Request& request) {
  TRY(const Selection selection, Selection::parse(*request.kind, request.label_selector, request.field_selector));
  TRY_VOID(check_version(store, request));
  Continuation from;
  if (!request.continue_token.empty()) {
    TRY(from, decode_continuation(request.continue_token));
  }
  // Nothing is copied here: the answer is the stored bytes.
  std::vector<store::ObjectPtr> taken;
  std::int64_t left = 0;
  store.for_each(request.resource, request.ns, from.after, store::View::kDurable, [&](const store::ObjectPtr& object) {
    if (!selection.everything() && !selection.matches(*object)) return true;
    if (request.limit > 0 && static_cast<std::int64_t>(taken.size()) >= request.limit) {
      ++left;
      return selection.everything();  // the remainder is counted only where that is cheap
    }
    taken.push_back(object);
    return true;
  });
  Json metadata = Json::object();
  const std::int64_t revision = from.revision > 0 ? from.revision : store.revision();
  metadata.set("resourceVersion", std::to_string(revision));
  if (left > 0) {
    metadata.set("continue", encode({revision, taken.back()->ns + "/" + taken.back()->name}));
    if (selection.everything()) metadata.set("remainingItemCount", left);
  }
  static const auto kComma = std::make_shared<const std::string>(",");
  static const auto kEnd = std::make_shared<const std::string>("]}\n");
  Answer answer;
  answer.pieces.reserve(2 * taken.size() + 2);
  answer.pieces.push_back(std::make_shared<const std::string>(
      base::format("{{\"kind\":\"{}\",\"apiVersion\":\"{}\",\"metadata\":{},\"items\":[", request.kind->list_kind(),
                   request.kind->resource.api_version(), metadata.dump())));
  for (const store::ObjectPtr& object : taken) {
    if (answer.pieces.size() > 1) answer.pieces.push_back(kComma);
    answer.pieces.emplace_back(object, &object->bytes);
  }
  answer.pieces.push_back(kEnd);
  return answer;
}

}  // namespace apiserver

// GET: one object, or a list with selectors, limits and continuation.
#include "apiserver/pipeline/read/list.h"

#include <charconv>
#include <optional>

#include "api/selector.h"
#include "apiserver/custom/custom_kind.h"
#include "apiserver/pipeline/read/historical_revisions.h"
#include "apiserver/pipeline/read/selection.h"
#include "base/base64.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Code;
using base::Result;

namespace {

// {"rv":..., "start":"ns/name"} in base64, opaque to clients.
struct Continuation {
  std::int64_t revision = 0;  // of the first page; -1: the newest, whatever the first page showed
  std::string after;
};

std::string encode(const Continuation& token) {
  return base::base64_encode(Json::object({{"rv", token.revision}, {"start", token.after}}).dump());
}

Result<Continuation> decode_continuation(const std::string& text) {
  auto bytes = base::base64_decode(text);
  if (bytes.ok()) {
    auto json = api::parse_json(*bytes);
    if (json.ok() && (*json)["rv"].is_int() && (*json)["start"].is_string())
      return Continuation{(*json)["rv"].as_int(), (*json)["start"].str()};
  }
  return bad_request("continue key is not valid");
}

// The revision that a list has to be of; nothing: the newest will do. A limit alone asks for it, too, as on a stock
// server.
std::optional<std::int64_t> exact_version(const Request& request) {
  const std::string& text = request.resource_version;
  const bool exact =
      request.resource_version_match == "Exact" || (request.limit > 0 && request.resource_version_match.empty());
  if (!exact || text.empty() || text == "0") return {};
  std::int64_t wanted = 0;
  std::from_chars(text.data(), text.data() + text.size(), wanted);  // check_version has read it
  return wanted;
}

base::Status check_version(const store::Store& store, const Request& request) {
  if (request.resource_version.empty() || request.resource_version == "0") return {};
  TRY(const std::int64_t wanted, parse_number("resourceVersion", request.resource_version));
  if (wanted < 0)
    return bad_request(base::format("resourceVersion: invalid value \"{}\": must not be negative", wanted));
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
  TRY_VOID(check_version(store, request));
  const store::ObjectPtr object =
      read_as(*request.kind, store.find(request.resource, request.ns, request.name, store::View::kDurable));
  if (!object) return not_found(*request.kind, request.name);
  Answer answer;
  answer.pieces.emplace_back(object, &object->bytes);
  return answer;
}

namespace {

// The objects that a list may hold, in order, with what is asked of them.
struct Candidates {
  Selection selection;
  const api::KindInfo* kind = nullptr;
  std::shared_ptr<const void> holds_kind = {};
  bool differ = false;  // as they are stored, from how they are read
  std::vector<store::ObjectPtr> objects;
  std::size_t bytes = 0;
  std::int64_t revision = 0;
  std::int64_t limit = 0;
};

// Looks no further than a page where every object is wanted; the others are only counted.
Result<std::shared_ptr<Candidates>> candidates_for(const store::Store& store, const Request& request,
                                                   std::int64_t& remaining) {
  auto found = std::make_shared<Candidates>();
  found->kind = request.kind;
  found->holds_kind = request.holds_kind;
  const CustomKind* custom = custom_kind(*request.kind);
  TRY(found->selection, Selection::parse(*request.kind, request.label_selector, request.field_selector));
  TRY_VOID(check_version(store, request));
  Continuation from;
  if (!request.continue_token.empty()) {
    TRY(from, decode_continuation(request.continue_token));
  }
  found->revision = from.revision > 0 ? from.revision : exact_version(request).value_or(store.revision());
  found->limit = request.limit;
  const bool all = found->selection.everything();
  const auto visit = [&](const store::ObjectPtr& object) {
    if (all && request.limit > 0 && static_cast<std::int64_t>(found->objects.size()) >= request.limit) {
      ++remaining;
      return true;
    }
    found->objects.push_back(object);
    found->differ = found->differ || (custom != nullptr && custom->may_differ(*object));
    found->bytes += object->bytes.size();
    return true;
  };
  TRY_VOID(for_each_at(store, request.resource, request.ns, from.after, found->revision, visit));
  return found;
}

// Any thread.
Page page_of(Candidates& candidates, std::int64_t remaining) {
  Page page;
  const bool all = candidates.selection.everything();
  bool more = remaining > 0;
  for (store::ObjectPtr& object : candidates.objects) {
    if (candidates.differ) object = read_as(*candidates.kind, object);
    if (!all && !candidates.selection.matches(*object)) continue;
    if (candidates.limit > 0 && static_cast<std::int64_t>(page.objects.size()) >= candidates.limit) {
      more = true;  // how many more is told only where that is cheap
      break;
    }
    page.objects.push_back(std::move(object));
  }
  page.metadata = Json::object({{"resourceVersion", std::to_string(candidates.revision)}});
  if (more) {
    const store::Object& last = *page.objects.back();
    page.metadata.set("continue", encode({candidates.revision, last.ns + "/" + last.name}));
    if (all) page.metadata.set("remainingItemCount", remaining);
  }
  return page;
}

}  // namespace

void select_objects(SideWork& side_work, const store::Store& store, Request request,
                    std::function<void(Result<Page>)> done) {
  constexpr std::size_t kCostMax = std::size_t{256} << 10;  // bytes of objects and selectors gone through on the loop
  const std::size_t selector_bytes = request.label_selector.size() + request.field_selector.size();
  std::int64_t remaining = 0;
  auto candidates = candidates_for(store, request, remaining);
  if (!candidates.ok()) return done(candidates.take_error());
  const Selection& selection = (*candidates)->selection;
  const bool differ = (*candidates)->differ;
  const std::size_t parsed = selection.by_names() && !differ ? 0 : (*candidates)->bytes;
  const std::size_t compared = (*candidates)->objects.size() * selector_bytes;
  if ((selection.everything() && !differ) || parsed + compared <= kCostMax)
    return done(page_of(**candidates, remaining));
  auto page = std::make_shared<Page>();
  side_work.run([found = *candidates, page, remaining] { *page = page_of(*found, remaining); },
                [page, done = std::move(done)] { done(std::move(*page)); });
}

Answer answer_for(const api::KindInfo& kind, const Page& page) {
  static const auto kComma = std::make_shared<const std::string>(",");
  static const auto kEnd = std::make_shared<const std::string>("]}\n");
  Answer answer;
  answer.pieces.reserve(2 * page.objects.size() + 2);
  answer.pieces.push_back(std::make_shared<const std::string>(
      base::format("{{\"kind\":\"{}\",\"apiVersion\":\"{}\",\"metadata\":{},\"items\":[", list_kind_of(kind),
                   kind.resource.api_version(), page.metadata.dump())));
  for (const store::ObjectPtr& object : page.objects) {
    if (answer.pieces.size() > 1) answer.pieces.push_back(kComma);
    answer.pieces.emplace_back(object, &object->bytes);
  }
  answer.pieces.push_back(kEnd);
  return answer;
}

namespace {

// A client that was too slow may go on with what there is now.
Answer too_old(const std::string& token) {
  Answer answer;
  answer.status = base::http_status(Code::kExpired);
  answer.object = status_object(base::make_error(
      Code::kExpired,
      "The provided continue parameter is too old to display a consistent list result. You can start a new list "
      "without the continue parameter, or use the continue token in this response to retrieve the remainder of the "
      "results. Continuing with the provided token results in an inconsistent list - objects that were created, "
      "modified, or deleted between the time the first chunk was returned and now may show up in the list."));
  const auto from = decode_continuation(token);
  if (!from.ok()) return answer;
  if (!answer.object["metadata"].is_object()) answer.object.set("metadata", Json::object());
  answer.object.edit("metadata").set("continue", encode({-1, from->after}));
  return answer;
}

}  // namespace

void list_objects(SideWork& side_work, const store::Store& store, Request request, OnAnswer on_answer) {
  const api::KindInfo& kind = *request.kind;
  auto done = [&kind, holds = request.holds_kind, token = request.continue_token,
               on_answer = std::move(on_answer)](Result<Page> page) {
    if (!page.ok() && page.error().code == Code::kExpired && !token.empty()) return on_answer(too_old(token));
    if (!page.ok()) return on_answer(page.take_error());
    on_answer(answer_for(kind, *page));
  };
  select_objects(side_work, store, std::move(request), std::move(done));
}

}  // namespace apiserver

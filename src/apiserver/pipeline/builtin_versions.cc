// Bodies in, answers out.
#include "apiserver/pipeline/builtin_versions.h"

#include <utility>

#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Result;

base::Status ask_for_stored(const api::OtherVersion& other, Request& request) {
  request.field_selector = other.stored_selector(request.field_selector);
  const bool by_patch = request.verb == Verb::kPatch && request.patch_type != PatchType::kApply;
  if (by_patch) return {};
  const bool has_body = request.verb == Verb::kCreate || request.verb == Verb::kUpdate || request.verb == Verb::kPatch;
  if (has_body) {
    const Json& version = request.body["apiVersion"];
    const Json& kind = request.body["kind"];
    const bool same = (version.is_null() || version.as_string() == other.kind.resource.api_version()) &&
                      (kind.is_null() || kind.as_string() == other.kind.kind);
    if (!same)
      return bad_request(base::format(
          "the API version in the data ({}, kind {}) does not match the expected API version ({}, kind {})",
          version.as_string(), kind.as_string(), other.kind.resource.api_version(), other.kind.kind));
    request.body = other.to_stored(std::move(request.body));
  }
  request.kind = other.stored;
  return {};
}

namespace {

// Any thread. An answer that is not of the kind (a Status) stays as it is.
Answer converted(const api::OtherVersion& other, Answer answer) {
  Answer out;
  out.status = answer.status;
  out.warnings = std::move(answer.warnings);
  Json whole = object_of(std::move(answer));
  if (whole["items"].is_array()) {
    std::vector<Json> items;
    items.reserve(whole["items"].size());
    for (const Json& item : whole["items"].items()) items.push_back(other.from_stored(item));
    whole.set("apiVersion", other.kind.resource.api_version());
    whole.set("items", Json::array(std::move(items)));
  } else if (whole["kind"].as_string() == other.kind.kind) {
    whole = other.from_stored(std::move(whole));
  }
  out.object = std::move(whole);
  return out;
}

}  // namespace

OnAnswer answer_in(const api::OtherVersion& other, SideWork& side_work, OnAnswer on_answer) {
  return [&other, &side_work, on_answer = std::move(on_answer)](Result<Answer> answer) {
    if (!answer.ok() || answer->status >= 400) return on_answer(std::move(answer));
    constexpr std::size_t kPiecesMax = 16;  // of what is converted on the loop
    if (answer->pieces.size() <= kPiecesMax) return on_answer(converted(other, *std::move(answer)));
    auto moved = std::make_shared<Answer>(*std::move(answer));
    side_work.run([&other, moved] { *moved = converted(other, std::move(*moved)); },
                  [moved, on_answer] { on_answer(std::move(*moved)); });
  };
}

WatchSink watch_in(const api::OtherVersion& other, WatchSink sink) {
  WatchSink of_stored = sink;
  of_stored.on_events = [&other, on_events = std::move(sink.on_events)](const WatchSlicePtr& slice) {
    auto made = std::make_shared<WatchSlice>();
    made->until = slice->until;
    for (store::Event event : slice->events) {
      auto object = std::make_shared<store::Object>(*event.object);
      object->bytes = other.from_stored(event.object->json()).dump();
      event.object = std::move(object);
      made->events.push_back(std::move(event));
    }
    return on_events(made);
  };
  return of_stored;
}

}  // namespace apiserver

// The annotation of the bookmark, and the fields that servers name when they refuse to send one.
#include "client/watch/initial_events.h"

#include <algorithm>

namespace client {

using api::Json;

Json make_bookmark(std::string_view kind, std::string_view api_version, std::int64_t revision, bool ends_initial) {
  Json metadata = Json::object({{"resourceVersion", std::to_string(revision)}});
  if (ends_initial) metadata.set("annotations", Json::object({{kInitialEventsEnd, "true"}}));
  return Json::object({{"kind", kind}, {"apiVersion", api_version}, {"metadata", std::move(metadata)}});
}

bool ends_initial_events(const WatchEvent& event) {
  return event.type == EventType::kBookmark &&
         event.object["metadata"]["annotations"][kInitialEventsEnd].as_string() == "true";
}

bool refuses_initial_events(const base::Error& error) {
  if (error.code != base::Code::kInvalid) return false;
  return std::ranges::any_of(error.causes, [](const base::Cause& cause) {
    return cause.field == "sendInitialEvents" || cause.field == "resourceVersionMatch";
  });
}

}  // namespace client

// A watch without a version begins with what there is, as additions: where do these end?
#pragma once

#include <string_view>

#include "client/client.h"

namespace client {

inline constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

// A bookmark. With `ends_initial` everything that was there when the watch began has been told.
api::Json make_bookmark(std::string_view kind, std::string_view api_version, std::int64_t revision, bool ends_initial);

// Whether the event is the bookmark behind what was there.
bool ends_initial_events(const WatchEvent& event);

// Whether the server refuses such a watch because it knows none: from 1.19 on the match of versions was refused in
// watches, from 1.27 on this way to begin where its feature is off.
bool refuses_initial_events(const base::Error& error);

}  // namespace client

// Is what a server says such as its readers rely on? They edit copies of objects in place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/kinds.h"
#include "client/client.h"

namespace client {

// The fault of one object, by field; unset: nothing. Objects of our kinds are held against their schema: other
// installations' definitions of them leave parts unchecked, such as the templates of pods. Every server checks those of
// Kubernetes. `kind` may be null.
std::optional<std::string> find_fault(const api::Json& object, const api::KindInfo* kind);

// An answer of success, as far as it can be used: items of a list that cannot are left out and named in `left_out`. An
// error if it is of no use.
base::Result<api::Json> usable_answer(api::Json answer, Verb verb, const api::KindInfo* kind,
                                      std::vector<std::string>& left_out);

// An event whose object cannot be used becomes a bookmark, so that a watch goes on behind it; what is wrong with it.
std::optional<std::string> mend_event(WatchEvent& event, const api::KindInfo* kind);

}  // namespace client

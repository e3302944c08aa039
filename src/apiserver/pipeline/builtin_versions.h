// Requests for a kind's other form (api/other_versions.h): as requests for the stored kind, and their answers and
// watches back again.
#pragma once

#include "api/other_versions.h"
#include "apiserver/pipeline/api.h"

namespace apiserver {

// Makes the request one for the stored kind. A patch but apply stays one for the other form: it is decided by what that
// form of the object is (prepare_patch). An error: the body names another kind.
base::Status ask_for_stored(const api::OtherVersion& other, Request& request);
// The answer's objects of the stored kind, one or a list, in the other form.
OnAnswer answer_in(const api::OtherVersion& other, SideWork& side_work, OnAnswer on_answer);
// The sink for a watch of the stored kind.
WatchSink watch_in(const api::OtherVersion& other, WatchSink sink);

}  // namespace apiserver

// Which headers go between a browser and a notebook, whose page is somebody's code: what is ours stays here, and what
// would speak for the whole host does not pass.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "rt/http/http.h"
#include "ui/notebooks/notebook_place.h"

namespace ui {

// Cookies of the page and of notebooks' sessions, of this installation or another one on the same host.
bool is_own_cookie(std::string_view name);
// The browser's headers as the notebook gets them: no credentials, no cookies of ours, and no Origin, which was
// checked.
rt::Headers headers_for_notebook(const rt::Headers& headers);
// The notebook's headers as the browser gets them: its cookies hold below its own prefix, and none has a name of ours;
// a Location through the API's proxy is the browser's way again.
rt::Headers headers_for_browser(const rt::Headers& headers, const NotebookPlace& place, const NotebookRoute& route);
// A top-level visit of a person: an address typed, a link followed. Old browsers do not say.
bool is_visit(const rt::HttpRequest& http);
// Whether the request comes from a page of `own` ("https://box:6500") itself, or is a visit.
base::Status check_notebook_request(const rt::HttpRequest& http, std::string_view own);

}  // namespace ui

// A look at a notebook with the rights of a visitor: its objects in the API, one after the other.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/json/json.h"
#include "api/pods/notebook_state.h"
#include "base/result.h"
#include "rt/http/http.h"
#include "ui/notebooks/notebook_place.h"
#include "ui/sessions.h"

namespace ui {

// Sends a request to the API as that visitor. `as_read`: the right that it needs is that of a GET, whatever its method.
using SendAs = std::function<void(const Visitor& visitor, rt::HttpRequest http, bool as_read,
                                  std::shared_ptr<rt::HttpExchange> exchange)>;
// Why a PodGroup waits, in the words of `vcctl explain`; `queue` is null where there is none.
using ExplainGroup = std::function<std::string(const api::Json& group, const api::Json& queue)>;

struct NotebookLook {
  api::NotebookState state;
  std::string refused = {};  // why the visitor may not look
};

// `done` comes once, on any thread.
void look_at_notebook(const SendAs& send, const ExplainGroup& explain, const Visitor& visitor,
                      const NotebookPlace& place, std::function<void(NotebookLook)> done);

// How requests reach its server, by its object as the visitor sees it. `done` comes once, on any thread.
void look_at_route(const SendAs& send, const Visitor& visitor, const NotebookPlace& place,
                   std::function<void(NotebookRoute)> done);
// Whether the visitor may open it, and its namespace is there. `done` comes once, on any thread.
void check_access(const SendAs& send, const Visitor& visitor, const NotebookPlace& place,
                  std::function<void(base::Status)> done);

}  // namespace ui

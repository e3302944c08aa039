// Documents without scripts that the gate answers with: how a notebook stands, and why something was refused.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "rt/http/http.h"
#include "ui/notebooks/notebook_look.h"
#include "ui/notebooks/notebook_place.h"

namespace ui {

// `to`: where a ready notebook leads. `start`: the target of the form that starts a stopped one.
rt::HttpResponse state_page(const NotebookPlace& place, const NotebookLook& look, std::string_view to,
                            std::string_view start);
// A visit without a session: the same address once more from this origin (for `again`), or what to do.
rt::HttpResponse no_session_page(std::string_view target, bool again);
rt::HttpResponse text_answer(int status, std::string_view text);
rt::HttpResponse refusal_text(const base::Error& error);
rt::HttpResponse redirection(int status, std::string place);

}  // namespace ui

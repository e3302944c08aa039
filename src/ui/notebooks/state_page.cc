// HTML of one column, which says how a notebook is.
#include "ui/notebooks/state_page.h"

#include "base/format.h"
#include "ui/html.h"

namespace ui {
namespace {

using Phase = api::NotebookState::Phase;

// `refresh`: "2", or "1; url=/..."; empty: it stays.
rt::HttpResponse document(int status, std::string_view title, std::string_view refresh, std::string_view content) {
  const std::string again =
      refresh.empty() ? "" : base::format("<meta http-equiv=\"refresh\" content=\"{}\">\n", escaped_html(refresh));
  return guarded_answer(
      status, "text/html; charset=utf-8",
      base::format("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{0}</title>\n"
                   "<meta name=\"viewport\" content=\"width=device-width\">\n{1}"
                   "<link rel=\"icon\" href=\"/ui/icon.svg\">\n"
                   "<link rel=\"stylesheet\" href=\"/ui/page.css\">\n</head>\n<body>\n"
                   "<main>\n<h1>{0}</h1>\n{2}"
                   "<p><a href=\"/ui/#/notebooks\">All notebooks</a></p>\n</main>\n</body>\n</html>\n",
                   escaped_html(title), again, content));
}

std::string paragraph(std::string_view text) { return base::format("<p role=\"status\">{}</p>\n", escaped_html(text)); }

}  // namespace

rt::HttpResponse state_page(const NotebookPlace& place, const NotebookLook& look, std::string_view to,
                            std::string_view start) {
  const std::string& reason = look.state.reason;
  const std::string title = place.text();
  if (!look.refused.empty()) return document(403, title, "", paragraph(look.refused));
  switch (look.state.phase) {
    case Phase::kAbsent: return document(404, title, "", paragraph("There is no " + title + "."));
    case Phase::kStopped:
      return document(200, title, "",
                      paragraph("It is stopped. Its files are kept.") +
                          base::format("<form method=\"post\" action=\"{}\"><button class=\"primary\">Start</button>"
                                       "</form>\n",
                                       escaped_html(start)));
    case Phase::kStopping: return document(200, title, "2", paragraph("It is stopping: " + reason));
    case Phase::kWaiting: return document(200, title, "2", paragraph("It waits: " + reason));
    case Phase::kFailed: return document(200, title, "2", paragraph("It has failed, and is tried again: " + reason));
    case Phase::kReady: break;
  }
  return document(200, title, base::format("1; url={}", to),
                  base::format("<p role=\"status\">It is ready: <a href=\"{}\">open it</a>.</p>\n", escaped_html(to)));
}

rt::HttpResponse no_session_page(std::string_view target, bool again) {
  if (again) return document(200, "Notebook", base::format("0; url={}", target), paragraph("One moment."));
  return document(401, "Notebook", "",
                  paragraph("This browser has no session here. The command `volcano ui link` prints a link that makes "
                            "one; `volcano notebook open NAME` prints one that leads to a notebook."));
}

rt::HttpResponse text_answer(int status, std::string_view text) {
  return guarded_answer(status, "text/plain; charset=utf-8", std::string(text) + "\n");
}

rt::HttpResponse refusal_text(const base::Error& error) {
  return text_answer(base::http_status(error.code), error.message);
}

rt::HttpResponse redirection(int status, std::string place) {
  rt::HttpResponse out = guarded_answer(status, "text/plain; charset=utf-8", "");
  out.headers.emplace_back("Location", std::move(place));
  return out;
}

}  // namespace ui

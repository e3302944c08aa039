// The page over HTTP: its files, the way from a one-time link to a session, and the checks that keep other sites out.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "rt/http/http.h"
#include "rt/loop/loop.h"
#include "ui/sessions.h"

namespace ui {

struct PageOptions {
  std::string secret;                   // of the sessions; a server that starts with the same one keeps them
  bool tls = true;                      // the page is reached by https
  std::vector<std::string> hosts = {};  // names under which browsers may reach it, beside addresses and localhost
  std::function<base::Time()> now;      // any thread
  rt::Loop* loop = nullptr;             // on which codes are redeemed; outlives the server
};

class PageServer : public std::enable_shared_from_this<PageServer> {
 public:
  explicit PageServer(PageOptions options);

  // True for paths that serve() answers: /ui and all below it.
  static bool has(std::string_view path);
  // Answers such a path. `caller`: the user that the request's own credentials name, not a session's. Any thread.
  void serve(const rt::HttpRequest& http, const std::optional<Visitor>& caller,
             std::shared_ptr<rt::HttpExchange> exchange);
  // The session of a request to the API; nothing: it carries none. kUnauthorized: it is over. kForbidden: another site
  // made the request. Any thread.
  std::optional<base::Result<Session>> session_of(const rt::HttpRequest& http) const;
  // The session of a person who opens an address of this origin by hand, by a link or from a notebook: what is done
  // then changes nothing. As session_of() otherwise. Any thread.
  std::optional<base::Result<Session>> session_of_visit(const rt::HttpRequest& http) const;
  // The session of a form that this origin made, with the proof that the form has. Any thread.
  base::Result<Session> session_of_form(const rt::HttpRequest& http, std::string_view proof) const;
  // The answer that begins a session, which ends with its token at `until`, and leads to `to`. Any thread.
  rt::HttpResponse begin_session(const Visitor& visitor, base::Time until, std::string_view to) const;
  // Whether a form of this origin made the request, which needs no session. Any thread.
  base::Status check_form(const rt::HttpRequest& http) const;
  // "/ui/login?code=...", good once and for kCodeLife. Any thread.
  std::string new_link(const Visitor& visitor) const;

 private:
  base::Status check_origin(const rt::HttpRequest& http, const Session* session) const;
  std::string cookie_line(std::string_view name, std::string_view value, base::Duration life) const;
  rt::HttpResponse with_session(std::string_view cookie, std::string_view to) const;
  void log_out(const rt::HttpRequest& http, rt::HttpExchange& exchange) const;
  void log_in(const rt::Target& target, std::shared_ptr<rt::HttpExchange> exchange);

  const PageOptions options_;
  const std::string cookie_;  // its name: one a server, as browsers share cookies between ports
  Sessions sessions_;
};

}  // namespace ui

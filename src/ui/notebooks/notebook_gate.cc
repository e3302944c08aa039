// Hand-over by a code, checks at each origin, and the relay to the API's proxy.
#include "ui/notebooks/notebook_gate.h"

#include <algorithm>
#include <utility>

#include "api/json/json.h"
#include "base/format.h"
#include "rt/tls/tls.h"
#include "ui/hosts.h"
#include "ui/notebooks/notebook_headers.h"
#include "ui/notebooks/passing_exchange.h"
#include "ui/notebooks/state_page.h"

namespace ui {
namespace {

using base::Code;
using base::make_error;

constexpr base::Duration kPassLife = base::minutes(1);  // of the code between two origins
constexpr base::Duration kRouteLife = base::seconds(10);
constexpr std::size_t kRoutesMax = 4096;
constexpr std::string_view kState = "/ui/notebook", kEnter = "/enter";

std::string purpose_of(const std::string& ns) { return "volcano notebooks of " + ns; }

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f' && c != '\\'; });
}

std::string state_target(std::string_view to) { return base::format("{}?to={}", kState, rt::percent_encode(to)); }

// A page's own path ends with a slash, so that relative links lead below it; empty: the target has one.
std::string with_slash(const NotebookPlace& place, std::string_view target) {
  const std::string prefix = place.prefix();
  const std::string_view rest = target.substr(prefix.size());
  return rest.starts_with('/') ? std::string() : base::format("{}/{}", prefix, rest);
}

// The sentence of an error of the API.
std::string message_of(const rt::HttpResponse& response) {
  std::string body = response.body;
  for (const auto& piece : response.pieces) body += *piece;
  const auto parsed = api::parse_json(body);
  std::string text = parsed.ok() ? (*parsed)["message"].str() : body;
  return text.empty() ? base::format("the API server answers {}", response.status) : text;
}

}  // namespace

NotebookGate::NotebookGate(GateOptions options, std::shared_ptr<PageServer> page)
    : options_(std::move(options)), page_(std::move(page)) {}

bool NotebookGate::has(std::string_view path) { return is_notebook_path(path) || path == kState; }

Sessions& NotebookGate::sessions_of(const std::string& ns) {
  return sessions_.try_emplace(ns, options_.secret, purpose_of(ns), kPassLife).first->second;
}

std::string NotebookGate::cookie_name(const std::string& ns) const {
  const std::string hash = rt::sha256_hex(base::format("notebooks\n{}\n{}", ns, options_.secret)).substr(0, 12);
  return guarded_cookie_name(std::string(kNotebookCookie) + hash, options_.tls);
}

base::Result<Session> NotebookGate::session_at(const std::string& ns, const rt::HttpRequest& http) const {
  const auto cookie = cookie_of(http, cookie_name(ns));
  if (!cookie) return make_error(Code::kUnauthorized, "no session of this notebook: open it by its link");
  return Sessions(options_.secret, purpose_of(ns)).read(*cookie, options_.now());
}

std::string NotebookGate::url(const rt::HttpRequest& http, std::uint16_t port) const {
  return base::format("{}://{}:{}", options_.tls ? "https" : "http", host_for_url(rt::header(http.headers, "Host")),
                      port);
}

// On the page's own origin.

void NotebookGate::begin(const rt::HttpRequest& http, const std::optional<Visitor>& caller, Exchange exchange) {
  const rt::Target target = rt::parse_target(http.target);
  const bool asks_state = target.path == kState;
  const std::string to = asks_state ? std::string(target.get("to")) : http.target;
  const auto place = notebook_place(to);
  if (!is_own_host(rt::header(http.headers, "Host"), options_.hosts))
    return exchange->respond(text_answer(403, "Host: the page has another name; use the address of its link"));
  if (!place || !is_printable(to)) return exchange->respond(text_answer(404, "the address names no notebook"));
  if (http.method == "POST" && asks_state && place->kind == NotebookPlace::Kind::kNotebook) {
    const auto session = page_->session_of_form(http, target.get("proof"));
    if (!session.ok()) return exchange->respond(refusal_text(session.error()));
    return start(*place, to, *session, std::move(exchange));
  }
  if (http.method != "GET") return exchange->respond(text_answer(405, "a notebook's link is read"));
  const bool has_fetch_data = !rt::header(http.headers, "Sec-Fetch-Mode").empty();
  if (has_fetch_data && !is_visit(http))
    return exchange->respond(text_answer(403, "a notebook's link is opened by a person, not by a page"));
  const auto session = page_->session_of_visit(http);
  if (session && !session->ok()) return exchange->respond(refusal_text(session->error()));
  if (!session && !caller) {
    // Browsers keep the cookie from a visit that begins at another site; one that begins here has it.
    const bool from_elsewhere = rt::header(http.headers, "Sec-Fetch-Site") == "cross-site";
    return exchange->respond(no_session_page(http.target, from_elsewhere));
  }
  if (asks_state && session) return show_state(http, *place, **session, std::move(exchange));
  hand_over(http, *place, session ? (*session)->visitor : *caller, exchange);
}

void NotebookGate::hand_over(const rt::HttpRequest& http, const NotebookPlace& place, const Visitor& visitor,
                             const Exchange& exchange) {
  auto go = [self = shared_from_this(), http, place, visitor, exchange] {
    const auto port = self->options_.port_of(place.ns);
    if (!port.ok()) return exchange->respond(refusal_text(port.error()));
    const std::string code = self->sessions_of(place.ns).make_code(visitor, self->options_.now());
    exchange->respond(redirection(303, base::format("{}{}?code={}&to={}", self->url(http, *port), kEnter, code,
                                                    rt::percent_encode(http.target))));
  };
  // A port is given to a namespace once and for all, so that it must be one.
  check_access(options_.send, visitor, place,
               [self = shared_from_this(), go = std::move(go), exchange](const base::Status& checked) mutable {
                 if (!checked.ok()) return exchange->respond(refusal_text(checked.error()));
                 self->options_.loop->post(std::move(go));
               });
}

void NotebookGate::show_state(const rt::HttpRequest& http, const NotebookPlace& place, const Session& session,
                              Exchange exchange) {
  const std::string to(rt::parse_target(http.target).get("to"));
  const std::string start = base::format("{}&proof={}", state_target(to), session.proof);
  look_at_notebook(options_.send, options_.explain, session.visitor, place,
                   [place, to, start, exchange = std::move(exchange)](const NotebookLook& look) {
                     exchange->respond(state_page(place, look, to, start));
                   });
}

void NotebookGate::start(const NotebookPlace& place, const std::string& to, const Session& session, Exchange exchange) {
  rt::HttpRequest patch{
      .method = "PATCH",
      .target = place.object_path(),
      .headers = {{"Content-Type", "application/merge-patch+json"}, {"Accept", "application/json"}},
      .body = base::format(R"({{"metadata":{{"annotations":{{"{}":null}}}}}})", api::kStoppedAnnotation)};
  options_.send(session.visitor, std::move(patch), false,
                kept_answer([to, exchange = std::move(exchange)](int status, std::string body) {
                  if (status == 200) return exchange->respond(redirection(303, state_target(to)));
                  exchange->respond(text_answer(status, message_of({status, {}, std::move(body)})));
                }));
}

// On the origin of a namespace.

base::Status NotebookGate::check(const std::string& ns, const rt::HttpRequest& http) const {
  const std::string_view host = rt::header(http.headers, "Host");
  if (!is_own_host(host, options_.hosts))
    return make_error(Code::kForbidden, base::format("Host: {:?} is not a name of this server", host));
  const rt::Target target = rt::parse_target(http.target);
  if (target.path == kEnter || notebook_place(http.target).value_or(NotebookPlace()).ns == ns)
    return check_notebook_request(http, base::format("{}://{}", options_.tls ? "https" : "http", host));
  return make_error(Code::kNotFound, base::format("this port has the notebooks of namespace {}, and nothing else", ns));
}

std::optional<std::string> NotebookGate::user_of(const std::string& ns, const rt::HttpRequest& http) const {
  const auto session = session_at(ns, http);
  if (!session.ok()) return std::nullopt;
  return session->visitor.name;
}

std::optional<rt::HttpResponse> NotebookGate::refusal(const std::string& ns, const rt::HttpRequest& http) const {
  if (const base::Status checked = check(ns, http); !checked.ok()) return refusal_text(checked.error());
  const auto session = session_at(ns, http);
  if (!session.ok()) return refusal_text(session.error());
  return std::nullopt;
}

void NotebookGate::serve(const std::string& ns, rt::HttpRequest http, Exchange exchange) {
  if (const base::Status checked = check(ns, http); !checked.ok())
    return exchange->respond(refusal_text(checked.error()));
  const rt::Target target = rt::parse_target(http.target);
  if (target.path == kEnter) return enter(ns, http, target, std::move(exchange));
  const auto session = session_at(ns, http);
  if (!session.ok())
    return exchange->respond(is_visit(http) ? redirection(303, url(http, options_.page_port()) + http.target)
                                            : refusal_text(session.error()));
  const NotebookPlace place = *notebook_place(http.target);
  if (std::string moved = with_slash(place, http.target); !moved.empty() && http.method == "GET")
    return exchange->respond(redirection(301, std::move(moved)));
  options_.loop->post([self = shared_from_this(), visitor = session->visitor, place, http = std::move(http),
                       exchange = std::move(exchange)]() mutable {
    self->find_route(visitor, place, std::move(http), std::move(exchange));
  });
}

// A route is asked for again now and then: an annotation that changes counts soon.
void NotebookGate::find_route(const Visitor& visitor, const NotebookPlace& place, rt::HttpRequest http,
                              Exchange exchange) {
  const base::Time now = options_.now();
  const std::string key = base::format("{}\n{}", place.prefix(), visitor.name);
  if (const auto known = routes_.find(key); known != routes_.end() && now < known->second.until)
    return relay(visitor, place, known->second.route, std::move(http), std::move(exchange));
  if (routes_.size() >= kRoutesMax) routes_.clear();
  look_at_route(options_.send, visitor, place,
                [self = shared_from_this(), visitor, place, key, until = now + kRouteLife, http = std::move(http),
                 exchange = std::move(exchange)](const NotebookRoute& route) {
                  self->options_.loop->post([self, visitor, place, key, until, http, exchange, route] {
                    self->routes_[key] = {route, until};
                    self->relay(visitor, place, route, http, exchange);
                  });
                });
}

void NotebookGate::relay(const Visitor& visitor, const NotebookPlace& place, const NotebookRoute& route,
                         rt::HttpRequest http, Exchange exchange) const {
  Passing passing;
  passing.headers = [place, route](const rt::Headers& headers) { return headers_for_browser(headers, place, route); };
  const std::string page = url(http, options_.page_port());
  const std::string state = is_visit(http) ? page + state_target(http.target) : std::string();
  // A notebook's own answers come as streams, or without a body: one that is whole is an error of the API.
  passing.instead = [state](const rt::HttpResponse& response) -> std::optional<rt::HttpResponse> {
    if (response.status < 400 || (response.body.empty() && response.pieces.empty())) return std::nullopt;
    if (!state.empty() && (response.status == 404 || response.status == 503)) return redirection(303, state);
    return text_answer(response.status, message_of(response));
  };
  http.headers = headers_for_notebook(http.headers);
  for (const auto& header : route.headers) http.headers.push_back(header);
  http.target = place.proxy_target(http.target, route);
  options_.send(visitor, std::move(http), true, passing_exchange(std::move(exchange), std::move(passing)));
}

void NotebookGate::enter(const std::string& ns, const rt::HttpRequest& http, const rt::Target& target,
                         Exchange exchange) {
  const std::string code(target.get("code")), to(target.get("to"));
  const auto place = notebook_place(to);
  if (http.method != "GET" || !place || place->ns != ns || !is_printable(to))
    return exchange->respond(text_answer(404, "the address names no notebook of namespace " + ns));
  options_.loop->post([self = shared_from_this(), ns, code, to, exchange = std::move(exchange)] {
    const auto cookie = self->sessions_of(ns).redeem(code, self->options_.now());
    if (!cookie.ok())
      return exchange->respond(text_answer(403, cookie.error().message + "; open the notebook by its link"));
    rt::HttpResponse out = redirection(303, to);
    out.headers.emplace_back(
        "Set-Cookie",
        base::format("{}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{}", self->cookie_name(ns), *cookie,
                     static_cast<std::int64_t>(kSessionLife.seconds()), self->options_.tls ? "; Secure" : ""));
    exchange->respond(std::move(out));
  });
}

}  // namespace ui

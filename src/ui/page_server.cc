// Files, links, sessions; Host, Origin and proof are checked on what a browser's cookie pays for.
#include "ui/page_server.h"

#include <algorithm>

#include "api/json/json.h"
#include "base/format.h"
#include "base/log.h"
#include "base/split.h"
#include "rt/tls/sealing.h"
#include "rt/tls/tls.h"
#include "ui/bundle.h"
#include "ui/hosts.h"

namespace ui {
namespace {

using base::Code;
using base::make_error;

// The browser asks for the page's own files and the API that serves it, and for nothing else. Frames hold artifacts of
// pipelines, which have a policy of their own.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; "
    "base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

rt::HttpResponse answer(int status, std::string type, std::string body) {
  return {status,
          {{"Content-Type", std::move(type)},
           {"Content-Security-Policy", kPolicy},
           {"X-Content-Type-Options", "nosniff"},
           {"Referrer-Policy", "no-referrer"},
           {"Cross-Origin-Opener-Policy", "same-origin"},
           {"Cross-Origin-Resource-Policy", "same-origin"},
           {"Cache-Control", "no-store"}},
          std::move(body)};
}

rt::HttpResponse refusal(const base::Error& error) {
  return answer(base::http_status(error.code), "text/plain; charset=utf-8", error.message + "\n");
}

rt::HttpResponse file_answer(const BundleFile& file, std::string_view accepted) {
  if (accepted.find("gzip") == std::string_view::npos)
    return answer(406, "text/plain; charset=utf-8", "this page is served to browsers that take gzip\n");
  rt::HttpResponse out = answer(200, std::string(file.type), std::string(file.gzip));
  out.headers.emplace_back("Content-Encoding", "gzip");
  return out;
}

// The answer of a pod, a service or a node through the server must not become a document of the page's own origin.
bool is_proxied(const rt::HttpRequest& http) {
  const std::string path = rt::parse_target(http.target).path;
  const std::vector<std::string_view> parts = base::split(path, '/');
  const auto part = [&parts](std::size_t at) { return at < parts.size() ? parts[at] : std::string_view(); };
  if (part(1) != "api") return false;
  if (part(3) == "namespaces") return part(7) == "proxy";
  return part(3) == "proxy" || (part(3) == "nodes" && part(5) == "proxy");
}

// A new session leads to the page, or to a notebook.
bool is_own_path(std::string_view path) {
  const bool known = path.starts_with("/ui/") || path.starts_with("/notebook/") || path.starts_with("/tensorboard/") ||
                     path.starts_with("/pvcviewers/");
  return known && std::ranges::all_of(path, [](char c) { return c > ' ' && c < '\x7f' && c != '\\'; });
}

bool is_read(std::string_view method) { return method == "GET" || method == "HEAD" || method == "OPTIONS"; }

}  // namespace

PageServer::PageServer(PageOptions options)
    : options_(std::move(options)),
      cookie_(guarded_cookie_name(
          "volcano-page-" + rt::sha256_hex("name of the cookie\n" + options_.secret).substr(0, 12), options_.tls)),
      sessions_(options_.secret) {}

bool PageServer::has(std::string_view path) { return path == "/ui" || path.starts_with("/ui/"); }

std::string PageServer::new_link(const Visitor& visitor) const {
  return "/ui/login?code=" + sessions_.make_code(visitor, options_.now());
}

// A browser says from which site a request comes; a site that is not the page's own changes nothing and reads nothing.
base::Status PageServer::check_origin(const rt::HttpRequest& http, const Session* session) const {
  const std::string_view host = rt::header(http.headers, "Host");
  if (!is_own_host(host, options_.hosts))
    return make_error(Code::kForbidden, base::format("Host: {:?} is not a name of this server", host));
  const std::string own = base::format("{}://{}", options_.tls ? "https" : "http", host);
  const std::string_view origin = rt::header(http.headers, "Origin");
  if (!origin.empty() && origin != own)
    return make_error(Code::kForbidden, base::format("Origin: {:?} is not this page", origin));
  const std::string_view site = rt::header(http.headers, "Sec-Fetch-Site");
  if (!site.empty() && site != "same-origin" && (site != "none" || session != nullptr))
    return make_error(Code::kForbidden, "the request comes from another site");
  if (session == nullptr || is_read(http.method)) return {};
  if (origin.empty()) return make_error(Code::kForbidden, "Origin: a change needs the page's own");
  if (!rt::equal_secret(rt::header(http.headers, "X-Volcano-Proof"), session->proof))
    return make_error(Code::kForbidden, "X-Volcano-Proof: a change needs the proof of its session");
  return {};
}

std::string PageServer::cookie_line(std::string_view name, std::string_view value, base::Duration life) const {
  return base::format("{}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{}", name, value,
                      static_cast<std::int64_t>(life.seconds()), options_.tls ? "; Secure" : "");
}

std::optional<base::Result<Session>> PageServer::session_of(const rt::HttpRequest& http) const {
  const auto cookie = cookie_of(http, cookie_);
  if (!cookie) return std::nullopt;
  auto session = sessions_.read(*cookie, options_.now());
  if (!session.ok()) return session;
  // Browsers let any site open WebSockets, and send the cookie along: the page's own only reads.
  const bool is_page_stream = http.web_socket && rt::parse_target(http.target).path == "/ui/stream" &&
                              !rt::header(http.headers, "Origin").empty();
  if ((http.web_socket || !http.upgrade.empty()) && !is_page_stream)
    return base::Result<Session>(make_error(Code::kForbidden, "a session opens no streams into pods"));
  if (is_proxied(http))
    return base::Result<Session>(make_error(Code::kForbidden, "a session reaches no pods by proxy"));
  if (const base::Status checked = check_origin(http, &*session); !checked.ok())
    return base::Result<Session>(checked.error());
  return session;
}

std::optional<base::Result<Session>> PageServer::session_of_visit(const rt::HttpRequest& http) const {
  const auto cookie = cookie_of(http, cookie_);
  if (!cookie) return std::nullopt;
  return sessions_.read(*cookie, options_.now());
}

base::Result<Session> PageServer::session_of_form(const rt::HttpRequest& http, std::string_view proof) const {
  rt::HttpRequest with_proof{.method = http.method, .target = http.target, .headers = http.headers};
  with_proof.headers.emplace_back("X-Volcano-Proof", proof);
  auto session = session_of(with_proof);
  if (!session) return make_error(Code::kUnauthorized, "no session");
  return *std::move(session);
}

base::Status PageServer::check_form(const rt::HttpRequest& http) const {
  if (rt::header(http.headers, "Origin").empty()) return make_error(Code::kForbidden, "Origin: a form sends its own");
  return check_origin(http, nullptr);
}

rt::HttpResponse PageServer::begin_session(const Visitor& visitor, base::Time until, std::string_view to) const {
  const base::Time now = options_.now();
  return with_session(sessions_.make_session(visitor, now, until), to);
}

rt::HttpResponse PageServer::with_session(std::string_view cookie, std::string_view to) const {
  rt::HttpResponse out = answer(303, "text/plain; charset=utf-8", std::string(to) + "\n");
  out.headers.emplace_back("Set-Cookie", cookie_line(cookie_, cookie, kSessionLife));
  out.headers.emplace_back("Location", to);
  return out;
}

void PageServer::serve(const rt::HttpRequest& http, const std::optional<Visitor>& caller,
                       std::shared_ptr<rt::HttpExchange> exchange) {
  const rt::Target target = rt::parse_target(http.target);
  if (!is_own_host(rt::header(http.headers, "Host"), options_.hosts))
    return exchange->respond(
        refusal(make_error(Code::kForbidden, "Host: the page has another name; use the address of its link")));
  if (target.path == "/ui/link" && http.method == "POST") {
    if (!caller)
      return exchange->respond(refusal(make_error(Code::kUnauthorized, "a link needs a user's own credentials")));
    base::log_info("page", base::format("a link for {:?} was made", caller->name));
    return exchange->respond(
        answer(200, "application/json",
               api::Json::object({{"link", new_link(*caller)}, {"user", caller->name}}).dump() + "\n"));
  }
  if (target.path == "/ui/logout" && http.method == "POST") return log_out(http, *exchange);
  if (!is_read(http.method)) return exchange->respond(refusal(make_error(Code::kMethodNotAllowed, "the page is read")));
  if (target.path == "/ui/session") {
    const auto session = session_of(http);
    if (!session || !session->ok())
      return exchange->respond(refusal(session ? session->error() : make_error(Code::kUnauthorized, "no session")));
    api::Json groups = api::Json::array({});
    for (const std::string& group : (*session)->visitor.groups) groups.push_back(group);
    return exchange->respond(answer(200, "application/json",
                                    api::Json::object({{"user", (*session)->visitor.name},
                                                       {"groups", std::move(groups)},
                                                       {"proof", (*session)->proof},
                                                       {"until", base::format_rfc3339((*session)->until)}})
                                            .dump() +
                                        "\n"));
  }
  if (target.path == "/ui/login") return log_in(target, std::move(exchange));
  if (target.path == "/ui") {
    rt::HttpResponse out = answer(308, "text/plain; charset=utf-8", "/ui/\n");
    out.headers.emplace_back("Location", "/ui/");
    return exchange->respond(std::move(out));
  }
  const BundleFile* file = bundle_file(std::string_view(target.path).substr(4));
  exchange->respond(file == nullptr ? refusal(make_error(Code::kNotFound, "the page has no such file"))
                                    : file_answer(*file, rt::header(http.headers, "Accept-Encoding")));
}

// The sessions at notebooks end with the page's.
void PageServer::log_out(const rt::HttpRequest& http, rt::HttpExchange& exchange) const {
  const auto session = session_of(http);
  if (!session || !session->ok())
    return exchange.respond(refusal(session ? session->error() : make_error(Code::kUnauthorized, "no session")));
  rt::HttpResponse out = answer(200, "application/json", "{}\n");
  out.headers.emplace_back("Set-Cookie", cookie_line(cookie_, "", {}));
  for (const std::string& name : cookies_that_begin(http, guarded_cookie_name(kNotebookCookie, options_.tls)))
    out.headers.emplace_back("Set-Cookie", cookie_line(name, "", {}));
  exchange.respond(std::move(out));
}

void PageServer::log_in(const rt::Target& target, std::shared_ptr<rt::HttpExchange> exchange) {
  std::string to = "/ui/";
  if (const std::string_view request = target.get("to"); is_own_path(request)) to = request;
  options_.loop->post(
      [self = shared_from_this(), code = std::string(target.get("code")), to, exchange = std::move(exchange)] {
        const auto cookie = self->sessions_.redeem(code, self->options_.now());
        if (!cookie.ok())
          return exchange->respond(answer(403, "text/plain; charset=utf-8",
                                          cookie.error().message + "; `volcano ui link` makes a new link\n"));
        exchange->respond(self->with_session(*cookie, to));
      });
}

}  // namespace ui

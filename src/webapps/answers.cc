// The envelope and its words are those of Kubeflow's Python back end.
#include "webapps/answers.h"

#include "base/format.h"
#include "base/trim.h"

namespace webapps {

using api::Json;

namespace {

constexpr std::string_view kCookie = "XSRF-TOKEN", kHeader = "X-XSRF-TOKEN";

rt::HttpResponse answer_of(int status, std::string type, std::string body) {
  return {status,
          {{"Content-Type", std::move(type)}, {"X-Content-Type-Options", "nosniff"}, {"Cache-Control", "no-store"}},
          std::move(body),
          {}};
}

std::string_view cookie_of(const rt::HttpRequest& http, std::string_view name) {
  for (const auto& [header, value] : http.headers) {
    if (!rt::same_header(header, "Cookie")) continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const std::string_view part = base::trim(rest.substr(0, rest.find(';')));
      if (part.starts_with(name) && part.substr(name.size()).starts_with('=')) return part.substr(name.size() + 1);
      rest = rest.find(';') == std::string_view::npos ? std::string_view() : rest.substr(rest.find(';') + 1);
    }
  }
  return {};
}

}  // namespace

rt::HttpResponse good_answer(const App& app, std::string_view user, Json body) {
  if (!app.has_envelope) {
    const bool is_empty = body.is_object() && body.empty();
    return answer_of(200, "application/json; charset=UTF-8", is_empty ? std::string() : body.dump());
  }
  body.set("status", 200);
  body.set("success", true);
  body.set("user", user);
  return answer_of(200, "application/json", body.dump());
}

rt::HttpResponse bad_answer(const App& app, std::string_view user, const base::Error& error) {
  const int status = base::http_status(error.code);
  rt::HttpResponse response = app.has_envelope ? answer_of(status, "application/json",
                                                           Json::object({{"success", false},
                                                                         {"log", error.message},
                                                                         {"status", status},
                                                                         {"user", user.empty() ? Json() : Json(user)}})
                                                               .dump())
                                               : answer_of(status, "text/plain; charset=utf-8", error.message);
  if (error.retry_after_seconds > 0)
    response.headers.emplace_back("Retry-After", std::to_string(error.retry_after_seconds));
  return response;
}

rt::HttpResponse page_answer(const App& app, std::string_view token, bool is_secure) {
  rt::HttpResponse response =
      answer_of(200, "text/html; charset=utf-8",
                base::format("<!doctype html><title>{0}</title><p>The REST API of {0} is under /{0}/api/. The page of "
                             "this server is at <a href=\"/\">/</a>.",
                             app.name));
  response.headers.emplace_back("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  // Scripts of the front end read it, and only under its own path.
  response.headers.emplace_back("Set-Cookie", base::format("{}={}; Path=/{}/; SameSite=Strict{}", kCookie, token,
                                                           app.name, is_secure ? "; Secure" : ""));
  return response;
}

base::Status check_pair(const rt::HttpRequest& http) {
  if (http.method == "GET" || http.method == "HEAD" || http.method == "OPTIONS") return {};
  const std::string_view cookie = cookie_of(http, kCookie), header = rt::header(http.headers, kHeader);
  const auto wrong = [](std::string message) { return base::make_error(base::Code::kForbidden, std::move(message)); };
  if (cookie.empty()) return wrong(base::format("Could not find CSRF cookie {} in the request.", kCookie));
  if (header.empty()) return wrong(base::format("Could not detect CSRF protection header {}.", kHeader));
  if (cookie != header)
    return wrong(
        base::format("CSRF check failed. Token in cookie {} doesn't match token in header {}.", kCookie, kHeader));
  return {};
}

}  // namespace webapps

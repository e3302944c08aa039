// The form in the reader's language, and the end of a session with its token.
#include "ui/token_login.h"

#include <optional>
#include <string_view>
#include <utility>

#include "api/json/json.h"
#include "base/base64.h"
#include "base/format.h"
#include "base/split.h"
#include "ui/html.h"

namespace ui {
namespace {

constexpr std::string_view kLogin = "/ui/login";

struct Words {
  const char *language, *title, *help, *label, *button;
};
constexpr Words kEnglish = {"en", "Log in",
                            "Paste a bearer token of the cluster. It stays in a cookie of this browser, sealed, until "
                            "it ends. A token of your own: ",
                            "Token", "Log in"};
constexpr Words kChinese = {"zh-CN", "登录",
                            "请粘贴集群的 Bearer 令牌。令牌加密后保存在本浏览器的 Cookie 中，直到失效。获取令牌：",
                            "令牌", "登录"};

std::string form_text(const Words& words, std::string_view problem) {
  const std::string alert =
      problem.empty() ? "" : base::format("<p role=\"alert\" class=\"error\">{}</p>\n", escaped_html(problem));
  return base::format(
      "<!doctype html>\n<html lang=\"{0}\">\n<head>\n<meta charset=\"utf-8\">\n<title>{1} - Volcano</title>\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<link rel=\"icon\" href=\"/ui/icon.svg\">\n"
      "<link rel=\"stylesheet\" href=\"/ui/page.css\">\n</head>\n<body>\n<main>\n<h1>{1}</h1>\n{5}<p>{2}"
      "<code>kubectl create token NAME</code></p>\n<form method=\"post\" action=\"/ui/login\">\n<p><label "
      "for=\"token\">{3}"
      "</label> <input id=\"token\" name=\"token\" type=\"password\" autocomplete=\"off\" required></p>\n"
      "<p><button class=\"primary\">{4}</button></p>\n</form>\n</main>\n</body>\n</html>\n",
      words.language, words.title, words.help, words.label, words.button, alert);
}

rt::HttpResponse form(const rt::HttpRequest& http, int status, std::string_view problem) {
  const bool chinese = rt::header(http.headers, "Accept-Language").starts_with("zh");
  return guarded_answer(status, "text/html; charset=utf-8", form_text(chinese ? kChinese : kEnglish, problem));
}

rt::HttpResponse redirection(std::string_view to) {
  rt::HttpResponse out = guarded_answer(303, "text/plain; charset=utf-8", std::string(to) + "\n");
  out.headers.emplace_back("Location", to);
  return out;
}

std::string bearer_of(const rt::HttpRequest& http) {
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view value = rt::header(http.headers, "Authorization");
  return value.starts_with(kScheme) ? std::string(value.substr(kScheme.size())) : std::string();
}

// Printable ASCII without spaces: what a header carries.
std::optional<std::string> problem_of(std::string_view token) {
  if (token.empty()) return "token: it is missing";
  if (token.size() > kTokenMax) return base::format("token: it has {} bytes, over {}", token.size(), kTokenMax);
  for (const char c : token)
    if (c <= ' ' || c > '~') return "token: it has a space, or a letter that no token has";
  return std::nullopt;
}

// The end that a JSON web token states; far away for others. The cluster has judged the token, so this is a hint.
base::Time end_of(std::string_view token) {
  const base::Time never{INT64_MAX};
  const std::vector<std::string_view> parts = base::split(token, '.');
  if (parts.size() != 3) return never;
  const auto bytes = base::base64url_decode(parts[1]);
  if (!bytes.ok()) return never;
  const auto claims = api::parse_json(*bytes);
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  if (!claims.ok() || !(*claims)["exp"].is_number()) return never;
  const std::int64_t seconds = (*claims)["exp"].as_int();
  return seconds <= 0 || seconds >= INT64_MAX / kNanoseconds ? never : base::Time{seconds * kNanoseconds};
}

}  // namespace

bool TokenLogin::serve(const rt::HttpRequest& http, const std::shared_ptr<rt::HttpExchange>& exchange) {
  const rt::Target target = rt::parse_target(http.target);
  const bool reads = http.method == "GET" || http.method == "HEAD";
  if (target.path == kLogin) {
    if (http.method != "POST") {
      exchange->respond(reads ? form(http, 200, "") : form(http, 405, "this form is read or sent"));
      return true;
    }
    if (const base::Status own = page_->check_form(http); !own.ok()) {
      exchange->respond(form(http, base::http_status(own.error().code), own.error().message));
      return true;
    }
    take(http, std::string(rt::parse_target("/?" + http.body).get("token")), exchange);
    return true;
  }
  if (!reads || (target.path != "/" && target.path != "/ui" && target.path != "/ui/")) return false;
  const auto session = page_->session_of_visit(http);
  if (session && session->ok()) {
    if (target.path == "/ui/") return false;
    exchange->respond(redirection("/ui/"));
    return true;
  }
  if (options_.by_proxy)
    take(http, bearer_of(http), exchange);
  else
    exchange->respond(redirection(kLogin));
  return true;
}

std::string TokenLogin::token_of(const rt::HttpRequest& http, const Session& session) const {
  std::string sent = options_.by_proxy ? bearer_of(http) : "";
  return problem_of(sent) ? session.visitor.token : sent;
}

void TokenLogin::take(const rt::HttpRequest& http, std::string token, std::shared_ptr<rt::HttpExchange> exchange) {
  if (const auto problem = problem_of(token)) return exchange->respond(form(http, 400, *problem));
  rt::HttpRequest asked{.method = http.method, .target = http.target, .headers = http.headers};
  options_.identify(token, [self = shared_from_this(), asked = std::move(asked), token,
                            exchange = std::move(exchange)](base::Result<Visitor> found) {
    if (!found.ok())
      return exchange->respond(form(asked, base::http_status(found.error().code), found.error().message));
    Visitor visitor = *std::move(found);
    visitor.groups.clear();  // the token says them, and a cookie is short
    visitor.token = token;
    exchange->respond(self->page_->begin_session(visitor, end_of(token), "/ui/"));
  });
}

}  // namespace ui

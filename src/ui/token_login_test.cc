// Tokens become sessions, for this origin's form alone, and end with it.
#include "ui/token_login.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "ui/exchange_for_tests.h"

namespace ui {
namespace {

class TokenLoginTest : public testing::Test {
 protected:
  base::Time now = *base::parse_rfc3339("2026-01-01T00:00:00Z");
  InlineLoop loop;
  std::shared_ptr<PageServer> page = std::make_shared<PageServer>(
      PageOptions{.secret = "s", .hosts = {"volcano.example.com"}, .now = [this] { return now; }, .loop = &loop});

  std::shared_ptr<TokenLogin> login(bool by_proxy = false) {
    TokenLoginOptions options{.by_proxy = by_proxy};
    options.identify = [](const std::string& token, const std::function<void(base::Result<Visitor>)>& done) {
      if (token.starts_with("bad")) return done(base::make_error(base::Code::kUnauthorized, "not accepted <here>"));
      done(Visitor{"ann", {"team"}, "u1"});
    };
    return std::make_shared<TokenLogin>(std::move(options), page);
  }
  rt::HttpRequest request(std::string method, std::string target, rt::Headers headers = {}, std::string body = "") {
    headers.emplace_back("Host", "volcano.example.com");
    return {.method = std::move(method),
            .target = std::move(target),
            .headers = std::move(headers),
            .body = std::move(body)};
  }
  // Status 0: it is left to others.
  rt::HttpResponse ask(TokenLogin& of, const rt::HttpRequest& http) {
    rt::HttpResponse answer;
    answer.status = 0;
    of.serve(http, std::make_shared<KeptExchange>(answer));
    return answer;
  }
  rt::HttpResponse send(const std::string& body, const std::string& origin = "https://volcano.example.com") {
    rt::Headers headers = {{"Content-Type", "application/x-www-form-urlencoded"}};
    if (!origin.empty()) headers.emplace_back("Origin", origin);
    const auto of = login();
    return ask(*of, request("POST", "/ui/login", headers, body));
  }
  static std::string cookie_of_answer(const rt::HttpResponse& answer) {
    const std::string line(rt::header(answer.headers, "Set-Cookie"));
    return line.substr(0, line.find(';'));
  }
};

TEST_F(TokenLoginTest, a_visit_without_a_session_leads_to_the_form) {
  const auto of = login();
  for (const char* path : {"/", "/ui", "/ui/"}) {
    const rt::HttpResponse answer = ask(*of, request("GET", path));
    EXPECT_EQ(answer.status, 303) << path;
    EXPECT_EQ(rt::header(answer.headers, "Location"), "/ui/login") << path;
  }
  const rt::HttpResponse form = ask(*of, request("GET", "/ui/login"));
  EXPECT_EQ(form.status, 200);
  EXPECT_NE(form.body.find("<form method=\"post\" action=\"/ui/login\">"), std::string::npos);
  EXPECT_NE(rt::header(form.headers, "Content-Security-Policy").find("default-src 'none'"), std::string::npos);
  EXPECT_NE(ask(*of, request("GET", "/ui/login", {{"Accept-Language", "zh-CN"}})).body.find("登录"), std::string::npos);
  EXPECT_EQ(ask(*of, request("GET", "/ui/page.js")).status, 0);
  EXPECT_EQ(ask(*of, request("GET", "/api/v1/pods")).status, 0);
}

TEST_F(TokenLoginTest, a_token_is_its_users_session) {
  const rt::HttpResponse answer = send("token=a.b%2Bc");
  ASSERT_EQ(answer.status, 303) << answer.body;
  EXPECT_EQ(rt::header(answer.headers, "Location"), "/ui/");
  const rt::HttpRequest http = request("GET", "/api/v1/pods", {{"Cookie", cookie_of_answer(answer)}});
  const auto session = page->session_of(http);
  ASSERT_TRUE(session && session->ok());
  EXPECT_EQ((*session)->visitor.name, "ann");
  EXPECT_EQ(login()->token_of(http, **session), "a.b+c");
  // The page is the page's from now on.
  EXPECT_EQ(ask(*login(), request("GET", "/ui/", {{"Cookie", cookie_of_answer(answer)}})).status, 0);
  EXPECT_EQ(rt::header(ask(*login(), request("GET", "/", {{"Cookie", cookie_of_answer(answer)}})).headers, "Location"),
            "/ui/");
}

TEST_F(TokenLoginTest, a_form_of_another_site_logs_nobody_in) {
  EXPECT_EQ(send("token=t", "https://evil.example.com").status, 403);
  EXPECT_EQ(send("token=t", "http://volcano.example.com").status, 403);
  EXPECT_EQ(send("token=t", "").status, 403);
  EXPECT_EQ(send("token=t", "null").status, 403);
}

TEST_F(TokenLoginTest, a_refusal_is_shown_and_runs_nothing) {
  const rt::HttpResponse refused = send("token=bad");
  EXPECT_EQ(refused.status, 401);
  EXPECT_NE(refused.body.find("not accepted &lt;here&gt;"), std::string::npos) << refused.body;
  EXPECT_EQ(rt::header(refused.headers, "Set-Cookie"), "");
  EXPECT_EQ(send("").status, 400);
  EXPECT_EQ(send("token=").status, 400);
  EXPECT_EQ(send("token=a%0d%0aHost:+b").status, 400);
  EXPECT_EQ(send("token=" + std::string(kTokenMax + 1, 'x')).status, 400);
}

TEST_F(TokenLoginTest, a_session_ends_with_its_token) {
  const std::string claims = base::base64url_encode("{\"exp\": " + std::to_string(now.ns / 1'000'000'000 + 600) + "}");
  const std::string cookie = cookie_of_answer(send("token=e30." + claims + ".sig"));
  const auto user = [&] {
    const auto session = page->session_of(request("GET", "/api/v1/pods", {{"Cookie", cookie}}));
    return session && session->ok() ? (*session)->visitor.name : "nobody";
  };
  EXPECT_EQ(user(), "ann");
  now = now + base::seconds(601);
  EXPECT_EQ(user(), "nobody");
  EXPECT_EQ(ask(*login(), request("GET", "/ui/", {{"Cookie", cookie}})).status, 303);
}

TEST_F(TokenLoginTest, the_largest_token_fits_a_cookie) {
  const rt::HttpResponse answer = send("token=" + std::string(kTokenMax, 'x'));
  ASSERT_EQ(answer.status, 303);
  EXPECT_LT(rt::header(answer.headers, "Set-Cookie").size(), 4096U);
}

TEST_F(TokenLoginTest, a_proxys_header_is_a_login_where_it_is_meant) {
  const auto behind = login(true);
  const rt::HttpResponse answer = ask(*behind, request("GET", "/ui/", {{"Authorization", "Bearer first"}}));
  ASSERT_EQ(answer.status, 303);
  const std::string cookie = cookie_of_answer(answer);
  const rt::HttpRequest newer = request("GET", "/api", {{"Cookie", cookie}, {"Authorization", "Bearer second"}});
  const auto session = page->session_of(newer);
  ASSERT_TRUE(session && session->ok());
  EXPECT_EQ(behind->token_of(newer, **session), "second");
  EXPECT_EQ(login()->token_of(newer, **session), "first");  // without a proxy anybody can send the header
  EXPECT_EQ(ask(*behind, request("GET", "/ui/")).status, 400);
}

}  // namespace
}  // namespace ui

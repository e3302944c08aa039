// Links, sessions, and the requests of other sites that a session does not pay for.
#include "ui/page_server.h"

#include <gtest/gtest.h>

#include "api/json/json.h"
#include "ui/exchange_for_tests.h"

namespace ui {
namespace {

class PageTest : public testing::Test {
 protected:
  base::Time now = *base::parse_rfc3339("2026-01-01T00:00:00Z");
  InlineLoop loop;
  std::shared_ptr<PageServer> page = std::make_shared<PageServer>(
      PageOptions{.secret = "s", .hosts = {"box"}, .now = [this] { return now; }, .loop = &loop});

  rt::HttpResponse ask(std::string method, std::string target, rt::Headers headers = {},
                       const std::optional<Visitor>& caller = {}) {
    if (rt::header(headers, "Host").empty()) headers.emplace_back("Host", "127.0.0.1:7443");
    headers.emplace_back("Accept-Encoding", "gzip");
    rt::HttpResponse answer;
    page->serve({.method = std::move(method), .target = std::move(target), .headers = std::move(headers)}, caller,
                std::make_shared<KeptExchange>(answer));
    return answer;
  }
  // "NAME=VALUE" of a new session's cookie.
  std::string log_in(const Visitor& visitor = {"ann", {"team"}}) {
    const rt::HttpResponse answer = ask("GET", page->new_link(visitor));
    EXPECT_EQ(answer.status, 303);
    const std::string line(rt::header(answer.headers, "Set-Cookie"));
    EXPECT_NE(line.find("; HttpOnly; SameSite=Strict; Secure"), std::string::npos) << line;
    return line.substr(0, line.find(';'));
  }
  // "ann", the code of a refusal, or "none".
  std::string user(rt::Headers headers, std::string method = "GET", std::string target = "/api/v1/pods",
                   bool web_socket = false) {
    if (rt::header(headers, "Host").empty()) headers.emplace_back("Host", "127.0.0.1:7443");
    rt::HttpRequest http{.method = std::move(method), .target = std::move(target), .headers = std::move(headers)};
    http.web_socket = web_socket;
    const auto session = page->session_of(http);
    if (!session) return "none";
    return session->ok() ? (*session)->visitor.name : std::to_string(base::http_status(session->error().code));
  }
};

TEST_F(PageTest, a_link_is_good_once) {
  const std::string link = page->new_link({"ann"});
  EXPECT_EQ(ask("GET", link).status, 303);
  EXPECT_EQ(ask("GET", link).status, 403);
  EXPECT_EQ(ask("GET", link + "x").status, 403);
  EXPECT_EQ(ask("GET", "/ui/login").status, 403);
  EXPECT_EQ(ask("GET", "/ui/login?code=" + std::string(100'000, 'A')).status, 403);
  const std::string late = page->new_link({"ann"});
  now = now + kCodeLife;
  EXPECT_EQ(ask("GET", late).status, 403);
}

TEST_F(PageTest, a_session_is_its_user_until_it_is_over) {
  const std::string cookie = log_in();
  EXPECT_EQ(user({{"Cookie", cookie}}), "ann");
  EXPECT_EQ(user({{"Cookie", "a=b; " + cookie + "; c=d"}}), "ann");
  EXPECT_EQ(user({}), "none");
  EXPECT_EQ(user({{"Cookie", cookie + "x"}}), "401");
  EXPECT_EQ(user({{"Cookie", "other" + cookie}}), "none");
  // A code is not a session.
  const std::string code = page->new_link({"ann"}).substr(std::string("/ui/login?code=").size());
  EXPECT_EQ(user({{"Cookie", cookie.substr(0, cookie.find('=') + 1) + code}}), "401");
  const rt::HttpResponse notified = ask("GET", "/ui/session", {{"Cookie", cookie}});
  EXPECT_EQ((*api::parse_json(notified.body))["groups"].dump(), R"(["team"])");
  now = now + kSessionLife;
  EXPECT_EQ(user({{"Cookie", cookie}}), "401");
}

TEST_F(PageTest, a_name_of_any_letters_gives_no_groups) {
  const std::string cookie = log_in({"x\nuid\",\"system:masters\"]\n", {}});
  const rt::HttpResponse notified = ask("GET", "/ui/session", {{"Cookie", cookie}});
  EXPECT_EQ((*api::parse_json(notified.body))["groups"].dump(), "[]");
  EXPECT_EQ((*api::parse_json(notified.body))["user"].str(), "x\nuid\",\"system:masters\"]\n");
}

TEST_F(PageTest, another_server_with_the_same_secret_takes_over_and_another_secret_does_not) {
  const std::string cookie = log_in();
  page = std::make_shared<PageServer>(PageOptions{.secret = "s", .now = [this] { return now; }, .loop = &loop});
  EXPECT_EQ(user({{"Cookie", cookie}}), "ann");
  page = std::make_shared<PageServer>(PageOptions{.secret = "t", .now = [this] { return now; }, .loop = &loop});
  EXPECT_EQ(user({{"Cookie", cookie}}), "none");
}

TEST_F(PageTest, a_change_needs_the_origin_and_the_proof) {
  const std::string cookie = log_in();
  const std::string proof = (*api::parse_json(ask("GET", "/ui/session", {{"Cookie", cookie}}).body))["proof"].str();
  struct Row {
    rt::Headers headers;
    const char* expected;
  };
  for (const Row& row : {Row{{{"Origin", "https://127.0.0.1:7443"}, {"X-Volcano-Proof", proof}}, "ann"},
                         Row{{{"X-Volcano-Proof", proof}}, "403"}, Row{{{"Origin", "https://127.0.0.1:7443"}}, "403"},
                         Row{{{"Origin", "https://127.0.0.1:7443"}, {"X-Volcano-Proof", "x"}}, "403"},
                         Row{{{"Origin", "https://evil.example"}, {"X-Volcano-Proof", proof}}, "403"},
                         Row{{{"Origin", "http://127.0.0.1:7443"}, {"X-Volcano-Proof", proof}}, "403"},
                         Row{{{"Origin", "null"}, {"X-Volcano-Proof", proof}}, "403"}}) {
    rt::Headers headers = row.headers;
    headers.emplace_back("Cookie", cookie);
    EXPECT_EQ(user(headers, "DELETE"), row.expected) << rt::header(row.headers, "Origin");
  }
}

TEST_F(PageTest, other_sites_and_other_names_read_nothing) {
  const std::string cookie = log_in();
  EXPECT_EQ(user({{"Cookie", cookie}, {"Sec-Fetch-Site", "same-origin"}}), "ann");
  EXPECT_EQ(user({{"Cookie", cookie}, {"Sec-Fetch-Site", "cross-site"}}), "403");
  EXPECT_EQ(user({{"Cookie", cookie}, {"Sec-Fetch-Site", "same-site"}}), "403");
  EXPECT_EQ(user({{"Cookie", cookie}, {"Sec-Fetch-Site", "none"}}), "403") << "an address that somebody sent a person";
  EXPECT_EQ(user({{"Cookie", cookie}, {"Host", "box:7443"}}), "ann");
  EXPECT_EQ(user({{"Cookie", cookie}, {"Host", "[::1]:7443"}}), "ann");
  EXPECT_EQ(user({{"Cookie", cookie}, {"Host", "rebound.example:7443"}}), "403");
  EXPECT_EQ(ask("GET", "/ui/", {{"Host", "rebound.example"}}).status, 403);
  // Documents of pods would be the page's own.
  for (const char* path : {"/api/v1/namespaces/n/pods/p/proxy/", "/api/v1/namespaces/n/services/s:80/proxy/x",
                           "/api/v1/nodes/n/proxy/logs/", "/api/v1/namespaces/n/pods/p/%70roxy/"})
    EXPECT_EQ(user({{"Cookie", cookie}}, "GET", path), "403") << path;
  EXPECT_EQ(user({{"Cookie", cookie}}, "GET", "/api/v1/namespaces/proxy/pods/proxy"), "ann");
  // Exec and port-forward.
  EXPECT_EQ(
      user({{"Cookie", cookie}, {"Origin", "https://127.0.0.1:7443"}}, "GET", "/api/v1/namespaces/n/pods/p/exec", true),
      "403");
  EXPECT_EQ(user({{"Cookie", cookie}, {"Origin", "https://127.0.0.1:7443"}}, "GET", "/ui/stream?path=/api", true),
            "ann");
  EXPECT_EQ(user({{"Cookie", cookie}, {"Origin", "https://evil.example"}}, "GET", "/ui/stream?path=/api", true), "403");
  EXPECT_EQ(user({{"Cookie", cookie}}, "GET", "/ui/stream?path=/api", true), "403");
}

TEST_F(PageTest, a_link_for_another_needs_credentials_and_not_a_session) {
  const std::string cookie = log_in();
  EXPECT_EQ(ask("POST", "/ui/link", {{"Cookie", cookie}, {"Origin", "https://127.0.0.1:7443"}}).status, 401);
  const rt::HttpResponse given = ask("POST", "/ui/link", {}, Visitor{"bob"});
  EXPECT_EQ(given.status, 200);
  EXPECT_EQ(ask("GET", (*api::parse_json(given.body))["link"].str()).status, 303);
}

TEST_F(PageTest, files_have_a_policy_and_nothing_else_is_there) {
  const rt::HttpResponse index = ask("GET", "/ui/");
  EXPECT_EQ(index.status, 200);
  EXPECT_EQ(rt::header(index.headers, "Content-Encoding"), "gzip");
  const std::string_view policy = rt::header(index.headers, "Content-Security-Policy");
  EXPECT_NE(policy.find("default-src 'none'"), std::string_view::npos);
  EXPECT_EQ(policy.find("unsafe"), std::string_view::npos);
  EXPECT_NE(policy.find("frame-ancestors 'none'"), std::string_view::npos);
  EXPECT_EQ(ask("GET", "/ui/page.js").status, 200);
  EXPECT_EQ(ask("GET", "/ui").status, 308);
  for (const char* path : {"/ui/..", "/ui/../api", "/ui/page.js/", "/ui/%2e%2e/keys"})
    EXPECT_EQ(ask("GET", path).status, 404) << path;
  EXPECT_EQ(ask("PUT", "/ui/").status, 405);
  EXPECT_EQ(ask("POST", "/ui/logout").status, 401);
}

}  // namespace
}  // namespace ui

// The attacks of a notebook's page, which is somebody's code: none reaches the API, the page, or another notebook.
#include "ui/notebooks/notebook_gate.h"

#include <gtest/gtest.h>

#include "ui/exchange_for_tests.h"
#include "ui/notebooks/notebook_headers.h"

namespace ui {
namespace {

rt::Headers visit(std::string_view site = "none") {
  return {{"Sec-Fetch-Site", std::string(site)}, {"Sec-Fetch-Mode", "navigate"}, {"Sec-Fetch-Dest", "document"}};
}

struct GateTest : testing::Test {
  base::Time now = *base::parse_rfc3339("2026-01-01T00:00:00Z");
  InlineLoop loop;
  std::shared_ptr<PageServer> page = std::make_shared<PageServer>(
      PageOptions{.secret = "s", .hosts = {"box"}, .now = [this] { return now; }, .loop = &loop});
  std::vector<rt::HttpRequest> sent;  // to the API
  std::vector<std::string> as;
  std::optional<std::string> routes = "{}";  // the Notebook as routes are read; nothing: as all else
  std::string allowed = R"({"status":{"allowed":true}})";
  std::function<rt::HttpResponse(const rt::HttpRequest&)> api = [](const rt::HttpRequest&) {
    return rt::HttpResponse{200, {}, "", {}};
  };
  std::shared_ptr<NotebookGate> gate = std::make_shared<NotebookGate>(
      GateOptions{
          .secret = "s",
          .hosts = {"box"},
          .now = [this] { return now; },
          .loop = &loop,
          .send =
              [this](const Visitor& visitor, rt::HttpRequest http, bool, std::shared_ptr<rt::HttpExchange> exchange) {
                if (http.target.find("/selfsubjectaccessreviews") != std::string::npos)
                  return exchange->respond({200, {}, allowed, {}});
                if (http.target.starts_with("/api/v1/namespaces/") && http.target.find('/', 19) == std::string::npos)
                  return exchange->respond({http.target.ends_with("/typo") ? 404 : 200, {}, "", {}});
                if (http.method == "GET" && http.target == "/apis/kubeflow.org/v1/namespaces/ann/notebooks/n" && routes)
                  return exchange->respond({200, {}, *routes, {}});
                sent.push_back(http);
                as.push_back(visitor.name);
                exchange->respond(api(http));
              },
          .explain = [](const api::Json&, const api::Json&) { return std::string("no room"); },
          .port_of = [](const std::string& ns) -> base::Result<std::uint16_t> { return ns == "ann" ? 6500 : 6501; },
          .page_port = [] { return std::uint16_t{6443}; }},
      page);

  static rt::HttpRequest request(std::string target, rt::Headers headers, std::string_view host,
                                 std::string method = "GET") {
    headers.emplace_back("Host", host);
    return {.method = std::move(method), .target = std::move(target), .headers = std::move(headers)};
  }
  rt::HttpResponse begin(const std::string& target, rt::Headers headers, std::string method = "GET") {
    rt::HttpResponse answer;
    gate->begin(request(target, std::move(headers), "127.0.0.1:6443", std::move(method)), {},
                std::make_shared<KeptExchange>(answer));
    return answer;
  }
  rt::HttpResponse at(const std::string& ns, const std::string& target, rt::Headers headers, std::string method = "GET",
                      bool web_socket = false) {
    rt::HttpResponse answer;
    const std::string host = ns == "ann" ? "127.0.0.1:6500" : "127.0.0.1:6501";
    rt::HttpRequest http = request(target, std::move(headers), host, std::move(method));
    http.web_socket = web_socket;
    gate->serve(ns, std::move(http), std::make_shared<KeptExchange>(answer));
    return answer;
  }
  std::string page_cookie(const std::string& user) {
    rt::HttpResponse answer;
    page->serve(request(page->new_link({user}), {}, "127.0.0.1:6443"), {}, std::make_shared<KeptExchange>(answer));
    const std::string line(rt::header(answer.headers, "Set-Cookie"));
    return line.substr(0, line.find(';'));
  }
  // The cookie of a session at the notebooks of `ns`, as a browser gets it by following the link.
  std::string notebook_cookie(const std::string& user, const std::string& ns) {
    rt::Headers headers = visit();
    headers.emplace_back("Cookie", page_cookie(user));
    const std::string place(rt::header(begin("/notebook/" + ns + "/n/", headers).headers, "Location"));
    const rt::HttpResponse entered = at(ns, place.substr(place.find("/enter")), visit("same-site"));
    const std::string line(rt::header(entered.headers, "Set-Cookie"));
    EXPECT_NE(line.find("HttpOnly; SameSite=Strict; Secure"), std::string::npos) << line;
    return line.substr(0, line.find(';'));
  }
  static rt::Headers with(rt::Headers headers, const std::string& cookie) {
    headers.emplace_back("Cookie", cookie);
    return headers;
  }
};

TEST_F(GateTest, a_link_leads_to_the_notebook_with_a_session_of_its_own) {
  const std::string cookie = notebook_cookie("ann", "ann");
  EXPECT_TRUE(cookie.starts_with("__Host-Http-volcano-notebook-")) << cookie;
  EXPECT_EQ(at("ann", "/notebook/ann/n/lab?x=1", with(visit("same-origin"), cookie)).status, 200);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].target, "/api/v1/namespaces/ann/services/n:80/proxy/notebook/ann/n/lab?x=1");
  EXPECT_EQ(as[0], "ann");
  EXPECT_EQ(at("ann", "/tensorboard/ann/t/data?x=1", with(visit("same-origin"), cookie)).status, 200);
  EXPECT_EQ(sent[1].target, "/api/v1/namespaces/ann/services/t:80/proxy/data?x=1");
  const auto moved = at("ann", "/tensorboard/ann/t?x=1", with(visit("same-origin"), cookie));
  EXPECT_EQ(rt::header(moved.headers, "Location"), "/tensorboard/ann/t/?x=1");
}

TEST_F(GateTest, a_code_is_good_once_there_and_for_a_minute) {
  const auto code_of = [this] {
    const std::string place(
        rt::header(begin("/notebook/ann/n/", with(visit(), page_cookie("ann"))).headers, "Location"));
    EXPECT_TRUE(place.starts_with("https://127.0.0.1:6500/enter?code=")) << place;
    return place.substr(place.find("/enter"));
  };
  const std::string code = code_of();
  EXPECT_EQ(at("bob", code, visit("same-site")).status, 404) << "its target is of another namespace";
  std::string elsewhere = code;
  elsewhere.replace(elsewhere.find("&to="), std::string::npos, "&to=/notebook/bob/n/");
  EXPECT_EQ(at("bob", elsewhere, visit("same-site")).status, 403);
  EXPECT_EQ(at("ann", code, visit("same-site")).status, 303);
  EXPECT_EQ(at("ann", code, visit("same-site")).status, 403);
  const std::string late = code_of();
  now = now + base::minutes(2);
  EXPECT_EQ(at("ann", late, visit("same-site")).status, 403);
  for (const char* to :
       {"//evil.example/", "https://evil.example/", "/notebook/ann", "/ui/", "/notebook/ann/n/%0d%0ax"}) {
    const std::string fresh = code_of();
    const auto answer = at("ann", fresh.substr(0, fresh.find("&to=")) + "&to=" + to, visit("same-site"));
    EXPECT_EQ(answer.status, 404) << to;
  }
}

TEST_F(GateTest, a_session_of_one_namespace_is_none_of_another_and_none_of_the_page) {
  const std::string cookie = notebook_cookie("ann", "ann");
  const std::string value = cookie.substr(cookie.find('=') + 1);
  EXPECT_EQ(at("bob", "/notebook/bob/n/", with({}, cookie)).status, 401);
  EXPECT_EQ(at("ann", "/notebook/bob/n/", with({}, cookie)).status, 404) << "a port has one namespace";
  const std::string bobs = notebook_cookie("bob", "bob");
  EXPECT_EQ(at("bob", "/notebook/bob/n/", with({}, bobs.substr(0, bobs.find('=') + 1) + value)).status, 401);
  // Nor is the page's cookie a session here, nor this one a session there.
  const std::string of_page = page_cookie("ann");
  EXPECT_EQ(at("ann", "/notebook/ann/n/", with({}, of_page)).status, 401);
  EXPECT_EQ(
      at("ann", "/notebook/ann/n/", with({}, cookie.substr(0, cookie.find('=')) + of_page.substr(of_page.find('='))))
          .status,
      401);
  const std::string forged = of_page.substr(0, of_page.find('=') + 1) + value;
  const auto session = page->session_of(request("/api/v1/pods", with({}, forged), "127.0.0.1:6443"));
  ASSERT_TRUE(session.has_value());
  EXPECT_FALSE(session->ok());
  EXPECT_TRUE(sent.empty());
}

TEST_F(GateTest, a_page_of_another_origin_reaches_nothing) {
  const std::string cookie = notebook_cookie("ann", "ann");
  struct Row {
    const char* what;
    rt::Headers headers;
    const char* method;
    bool web_socket;
    int status;
  };
  const rt::Headers from_bob = {
      {"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Mode", "no-cors"}, {"Sec-Fetch-Dest", "empty"}};
  const rt::Headers frame = {
      {"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Mode", "navigate"}, {"Sec-Fetch-Dest", "iframe"}};
  const rt::Headers own = {{"Origin", "https://127.0.0.1:6500"}, {"Sec-Fetch-Site", "same-origin"}};
  for (const Row& row :
       {Row{"fetch", from_bob, "GET", false, 403}, Row{"frame", frame, "GET", false, 403},
        Row{"form", {{"Origin", "https://127.0.0.1:6501"}}, "POST", false, 403},
        Row{"null origin", {{"Origin", "null"}}, "POST", false, 403},
        Row{"stream", {{"Origin", "https://127.0.0.1:6501"}}, "GET", true, 403},
        Row{"stream without origin", {}, "GET", true, 403},
        Row{"worker", {{"Service-Worker", "script"}, {"Sec-Fetch-Site", "same-origin"}}, "GET", false, 403},
        Row{"own fetch", own, "POST", false, 200}, Row{"own stream", own, "GET", true, 200},
        Row{"link", visit("same-site"), "GET", false, 200}}) {
    EXPECT_EQ(at("ann", "/notebook/ann/n/api/kernels", with(row.headers, cookie), row.method, row.web_socket).status,
              row.status)
        << row.what;
  }
  EXPECT_EQ(sent.size(), 3U);
  // The page's origin: links are for persons, and nothing else there answers a notebook's page.
  const std::string of_page = page_cookie("ann");
  EXPECT_EQ(begin("/notebook/ann/n/", with(from_bob, of_page)).status, 403);
  EXPECT_EQ(begin("/notebook/ann/n/", with(frame, of_page)).status, 403);
  EXPECT_EQ(
      begin("/ui/notebook?to=/notebook/ann/n/", with({{"Origin", "https://127.0.0.1:6500"}}, of_page), "POST").status,
      403);
  EXPECT_EQ(sent.size(), 3U);
}

TEST_F(GateTest, a_notebook_gets_no_credentials) {
  const std::string cookie = notebook_cookie("ann", "ann");
  rt::Headers headers = {{"Cookie", "a=b; " + cookie + "; " + page_cookie("ann") + "; volcano-page-x=1; _xsrf=c"},
                         {"Authorization", "Bearer t"},
                         {"Impersonate-User", "root"},
                         {"x-remote-user", "root"},
                         {"X-Forwarded-For", "1.2.3.4"},
                         {"X-Volcano-Proof", "p"},
                         {"Origin", "https://127.0.0.1:6500"},
                         {"X-XSRFToken", "c"}};
  EXPECT_EQ(at("ann", "/notebook/ann/n/", headers, "POST").status, 200);
  ASSERT_EQ(sent.size(), 1U);
  std::string all;
  for (const auto& [name, value] : sent[0].headers) all += name + ": " + value + "\n";
  EXPECT_EQ(all, "Cookie: a=b; _xsrf=c\nX-XSRFToken: c\nHost: 127.0.0.1:6500\n");
}

TEST(NotebookHeaders, hold_for_the_notebook_alone) {
  const NotebookPlace place{NotebookPlace::Kind::kNotebook, "ann", "n"};
  const auto kept = [&](std::string name, std::string value) {
    const rt::Headers out = headers_for_browser({{name, std::move(value)}}, place, place.route({}));
    return std::string(rt::header(out, name));
  };
  EXPECT_EQ(kept("Set-Cookie", "a=b; Path=/; Domain=box; HttpOnly"), "a=b; HttpOnly; Path=/notebook/ann/n/");
  EXPECT_EQ(kept("Set-Cookie", "a=b"), "a=b; Path=/notebook/ann/n/");
  EXPECT_EQ(kept("Set-Cookie", "a=b; path = /notebook/ann/n/lab; Secure"), "a=b; Secure; Path=/notebook/ann/n/lab");
  EXPECT_EQ(kept("Set-Cookie", "a=b; Path=/notebook/ann/n2/"), "a=b; Path=/notebook/ann/n/");
  for (const char* name :
       {"volcano-page-1", "volcano-notebook-1", "__Host-Http-volcano-page-1", "__Secure-volcano-page-1"})
    EXPECT_EQ(kept("Set-Cookie", std::string(name) + "=x; Path=/"), "") << name;
  for (const char* name : {"Strict-Transport-Security", "Clear-Site-Data", "alt-svc", "NEL", "Service-Worker-Allowed",
                           "Access-Control-Allow-Origin", "access-control-allow-credentials"})
    EXPECT_EQ(kept(name, "x"), "") << name;
  EXPECT_EQ(kept("Location", "/api/v1/namespaces/ann/services/n:80/proxy/notebook/ann/n/lab"), "/notebook/ann/n/lab");
  EXPECT_EQ(kept("Location", "https://elsewhere.example/"), "https://elsewhere.example/");
  const NotebookPlace board{NotebookPlace::Kind::kTensorboard, "ann", "t"};
  EXPECT_EQ(rt::header(headers_for_browser({{"Location", "/api/v1/namespaces/ann/services/t:80/proxy/"}}, board,
                                           board.route({})),
                       "Location"),
            "/tensorboard/ann/t/");
  EXPECT_EQ(kept("Content-Type", "text/html"), "text/html");
}

TEST_F(GateTest, a_server_that_does_not_know_its_prefix_is_reached_as_its_annotations_say) {
  routes = R"({"metadata":{"annotations":{"notebooks.kubeflow.org/http-rewrite-uri":"/",
      "notebooks.kubeflow.org/http-headers-request-set":"{\"X-RStudio-Root-Path\":\"/notebook/ann/n/\",\"bad\":\"a\\r\\nb\",\"x y\":\"z\"}"}}})";
  const std::string cookie = notebook_cookie("ann", "ann");
  EXPECT_EQ(at("ann", "/notebook/ann/n/files?x=1", with(visit("same-origin"), cookie)).status, 200);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].target, "/api/v1/namespaces/ann/services/n:80/proxy/files?x=1");
  EXPECT_EQ(rt::header(sent[0].headers, "X-RStudio-Root-Path"), "/notebook/ann/n/");
  EXPECT_EQ(rt::header(sent[0].headers, "bad"), "");
  EXPECT_EQ(rt::header(sent[0].headers, "x y"), "");
  const NotebookPlace place{NotebookPlace::Kind::kNotebook, "ann", "n"};
  const NotebookRoute route{.rewrite = "/app/"};
  EXPECT_EQ(place.proxy_target("/notebook/ann/n/a", route), "/api/v1/namespaces/ann/services/n:80/proxy/app/a");
  EXPECT_EQ(place.browser_target("/app/a", route), "/notebook/ann/n/a");
  EXPECT_EQ(place.browser_target("/other", route), "/other");
  for (const char* bad : {"app", "/a b", "/a?x", "", "/a\r\nX: y"}) {
    const api::Json annotations = api::Json::object({{"notebooks.kubeflow.org/http-rewrite-uri", bad}});
    const api::Json object = api::Json::object({{"metadata", api::Json::object({{"annotations", annotations}})}});
    EXPECT_FALSE(place.route(object).rewrite.has_value()) << bad;
  }
}

TEST_F(GateTest, a_viewer_of_a_volume_has_a_service_of_its_own_name) {
  const std::string cookie = notebook_cookie("ann", "ann");
  EXPECT_EQ(at("ann", "/pvcviewers/ann/data/files/", with(visit("same-origin"), cookie)).status, 200);
  EXPECT_EQ(sent[0].target, "/api/v1/namespaces/ann/services/pvcviewer-data:80/proxy/pvcviewers/ann/data/files/");
}

TEST_F(GateTest, a_notebook_without_a_server_says_how_it_stands) {
  const std::string of_page = page_cookie("ann"), cookie = notebook_cookie("ann", "ann");
  const char* none = R"({"kind":"Status","message":"no endpoints available for service \"n\""})";
  api = [&](const rt::HttpRequest&) { return rt::HttpResponse{503, {}, none, {}}; };
  const auto visited = at("ann", "/notebook/ann/n/lab", with(visit("same-origin"), cookie));
  EXPECT_EQ(visited.status, 303);
  EXPECT_EQ(rt::header(visited.headers, "Location"),
            "https://127.0.0.1:6443/ui/notebook?to=" + rt::percent_encode("/notebook/ann/n/lab"));
  EXPECT_EQ(at("ann", "/notebook/ann/n/api", with({}, cookie)).body, "no endpoints available for service \"n\"\n");

  routes.reset();
  std::string object = R"({"metadata":{"name":"n","namespace":"ann","annotations":{"kubeflow-resource-stopped":"x"}}})";
  std::string pods = R"({"items":[]})";
  api = [&](const rt::HttpRequest& http) {
    const bool of_pods = http.target.find("/pods?") != std::string::npos;
    return rt::HttpResponse{200,
                            {},
                            http.target.find("/events?") != std::string::npos ? "{}"
                            : of_pods                                         ? pods
                                                                              : object,
                            {}};
  };
  const std::string state = "/ui/notebook?to=/notebook/ann/n/lab";
  auto shown = begin(state, with(visit("same-site"), of_page));
  EXPECT_NE(shown.body.find("It is stopped."), std::string::npos) << shown.body;
  const std::size_t form = shown.body.find("action=\"");
  ASSERT_NE(form, std::string::npos);
  std::string action = shown.body.substr(form + 8, shown.body.find('"', form + 8) - form - 8);
  action.replace(action.find("&amp;"), 5, "&");
  sent.clear();
  const rt::Headers own = {{"Origin", "https://127.0.0.1:6443"}, {"Sec-Fetch-Site", "same-origin"}};
  EXPECT_EQ(begin(action.substr(0, action.find("&proof")), with(own, of_page), "POST").status, 403);
  EXPECT_TRUE(sent.empty());
  EXPECT_EQ(begin(action, with(own, of_page), "POST").status, 303);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].method + " " + sent[0].target, "PATCH /apis/kubeflow.org/v1/namespaces/ann/notebooks/n");

  object = R"({"metadata":{"name":"n<b>"}})";
  pods = R"({"items":[{"metadata":{"name":"n-0"},"spec":{},"status":{"conditions":[
      {"type":"PodScheduled","status":"False","message":"0/1 nodes: <script>"}]}}]})";
  shown = begin(state, with(visit("same-site"), of_page));
  EXPECT_NE(shown.body.find("It waits: 0/1 nodes: &lt;script&gt;"), std::string::npos) << shown.body;
}

TEST_F(GateTest, a_namespace_gets_a_port_for_whoever_may_open_a_notebook_there) {
  const std::string cookie = page_cookie("ann");
  EXPECT_EQ(begin("/notebook/typo/n/", with(visit(), cookie)).status, 404);
  allowed = R"({"status":{"allowed":false}})";
  const auto refused = begin("/notebook/bob/n/", with(visit(), cookie));
  EXPECT_EQ(refused.status, 403);
  EXPECT_NE(refused.body.find("user \"ann\" has no right to `get` services/proxy in namespace bob"), std::string::npos)
      << refused.body;
}

TEST_F(GateTest, strangers_are_told_what_to_do) {
  const auto typed = begin("/notebook/ann/n/", visit());
  EXPECT_EQ(typed.status, 401);
  EXPECT_NE(typed.body.find("volcano ui link"), std::string::npos);
  EXPECT_EQ(begin("/notebook/ann/n/", visit("cross-site")).status, 200) << "the same address once more, from here";
  EXPECT_EQ(rt::header(at("ann", "/notebook/ann/n/lab", visit()).headers, "Location"),
            "https://127.0.0.1:6443/notebook/ann/n/lab");
  for (const char* path : {"/notebook/", "/notebook/ann", "/notebook/A/n/", "/notebook/ann/../x", "/notebook//n/",
                           "/ui/notebook?to=/ui/", "/notebook/ann/%6e/"})
    EXPECT_EQ(begin(path, with(visit(), page_cookie("ann"))).status, 404) << path;
  EXPECT_FALSE(gate->user_of("ann", request("/notebook/ann/n/", {}, "127.0.0.1:6500")).has_value());
  EXPECT_EQ(gate->refusal("ann", request("/notebook/ann/n/", {}, "127.0.0.1:6500", "POST"))->status, 401);
}

}  // namespace
}  // namespace ui

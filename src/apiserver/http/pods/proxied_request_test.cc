// A request as a pod gets it, and the answer as the client gets it.
#include "apiserver/http/pods/proxied_request.h"

#include <gtest/gtest.h>

namespace apiserver {
namespace {

constexpr std::string_view kPrefix = "/api/v1/namespaces/ns/pods/web:8080/proxy";

TEST(ProxiedRequest, the_path_goes_on_as_it_was_sent) {
  for (const char* rest : {"", "/", "/a%2Fb/?q=1", "//a", "?q=/proxy/"})
    EXPECT_EQ(proxy_prefix(std::string(kPrefix) + rest), kPrefix) << rest;
  EXPECT_EQ(proxy_prefix("/api/v1//namespaces/ns/pods/web/proxy/x"), "/api/v1//namespaces/ns/pods/web/proxy");
}

TEST(ProxiedRequest, tokens_and_headers_of_the_connection_stay_here) {
  rt::HttpRequest http;
  http.method = "POST";
  http.target = std::string(kPrefix) + "/a%20b?limit=x";
  http.headers = {{"Host", "server:6443"},        {"Authorization", "Bearer secret"}, {"impersonate-user", "ann"},
                  {"Impersonate-Extra-a", "b"},   {"Connection", "x-hop, close"},     {"X-Hop", "1"},
                  {"Keep-Alive", "timeout=5"},    {"Transfer-Encoding", "chunked"},   {"X-Forwarded-For", "192.0.2.1"},
                  {"X-Forwarded-Uri", "/forged"}, {"Content-Type", "text/plain"},     {"Cookie", "a=b"}};
  http.body = "hello";
  http.peer_address = "127.0.0.1";
  EXPECT_EQ(request_for_pod(http, "localhost:8080"),
            "POST /a%20b?limit=x HTTP/1.1\r\nHost: localhost:8080\r\nContent-Type: text/plain\r\nCookie: a=b\r\n"
            "X-Forwarded-For: 192.0.2.1, 127.0.0.1\r\nX-Forwarded-Host: server:6443\r\nX-Forwarded-Proto: https\r\n"
            "X-Forwarded-Uri: /api/v1/namespaces/ns/pods/web:8080/proxy/a%20b\r\nConnection: close\r\n"
            "Content-Length: 5\r\n\r\nhello");
}

TEST(ProxiedRequest, an_upgrade_goes_on_without_the_token_among_its_protocols) {
  rt::HttpRequest http;
  http.method = "GET";
  http.target = std::string(kPrefix) + "/ws";
  http.upgrade = "websocket";
  http.web_socket = true;
  http.headers = {{"Host", "h"},
                  {"Connection", "Upgrade"},
                  {"Upgrade", "websocket"},
                  {"Sec-WebSocket-Key", "k"},
                  {"Sec-WebSocket-Protocol", "base64url.bearer.authorization.k8s.io.c2VjcmV0, chat"}};
  EXPECT_EQ(request_for_pod(http, "localhost:80"),
            "GET /ws HTTP/1.1\r\nHost: localhost:80\r\nSec-WebSocket-Key: k\r\nSec-WebSocket-Protocol: chat\r\n"
            "X-Forwarded-Host: h\r\nX-Forwarded-Proto: https\r\n"
            "X-Forwarded-Uri: /api/v1/namespaces/ns/pods/web:8080/proxy/ws\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\n\r\n");
}

TEST(ProxiedRequest, places_on_the_pod_lead_through_the_server) {
  const auto location = [](const char* value, const char* host = "localhost:8080") {
    return std::string(rt::header(headers_for_client({{"Location", value}}, kPrefix, host, false), "Location"));
  };
  // Servers that make an address of the Host that they are called by.
  EXPECT_EQ(location("http://localhost:8080/there"), std::string(kPrefix) + "/there");
  EXPECT_EQ(location("https://localhost:8080"), std::string(kPrefix) + "/");
  EXPECT_EQ(location("http://localhost/there", "localhost:80"), std::string(kPrefix) + "/there");
  for (const char* same : {"http://localhost/a", "http://localhost:80801/a", "http://localhost:8080@example.com/"})
    EXPECT_EQ(location(same), same);
  EXPECT_EQ(location("/login?x=1"), std::string(kPrefix) + "/login?x=1");
  for (const char* same : {"login", "http://example.com/a", "//example.com/a"}) EXPECT_EQ(location(same), same);
  const rt::Headers all = headers_for_client({{"Content-Length", "3"},
                                              {"Connection", "close, X-Own"},
                                              {"X-Own", "1"},
                                              {"Transfer-Encoding", "chunked"},
                                              {"Set-Cookie", "a"},
                                              {"Access-Control-Allow-Origin", "*"},
                                              {"Set-Cookie", "b"}},
                                             kPrefix, "localhost:80", false);
  EXPECT_EQ(all, (rt::Headers{{"Set-Cookie", "a"}, {"Set-Cookie", "b"}}));
}

}  // namespace
}  // namespace apiserver

// Servers behind a proxy: its URL, what it is asked, and what comes of each kind of answer.
#include "rt/http/client/proxy.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "base/await_for_tests.h"
#include "rt/env.h"
#include "rt/http/client/http_client.h"
#include "rt/http/pass_on_for_tests.h"
#include "rt/http/server/http_server.h"
#include "rt/tls/tls.h"

namespace rt {
namespace {

TEST(Proxy, its_url_is_taken_apart) {
  const struct {
    std::string_view text, host;
    int port;
    std::string_view authorization;
  } rows[] = {
      {"http://proxy", "proxy", 80, ""},
      {"http://10.0.0.1:3128/", "10.0.0.1", 3128, ""},
      {"http://[::1]:3128", "::1", 3128, ""},
      {"http://ann:secret@proxy:3128", "proxy", 3128, "Basic YW5uOnNlY3JldA=="},
      {"http://ann:se%40cr%3Aet@proxy", "proxy", 80, "Basic YW5uOnNlQGNyOmV0"},
      {"http://ann@proxy", "proxy", 80, "Basic YW5uOg=="},
  };
  for (const auto& row : rows) {
    const auto proxy = parse_proxy_url(row.text);
    ASSERT_TRUE(proxy.ok()) << row.text << ": " << proxy.error().message;
    EXPECT_EQ(proxy->host, row.host) << row.text;
    EXPECT_EQ(proxy->port, row.port) << row.text;
    EXPECT_EQ(proxy->authorization, row.authorization) << row.text;
  }
}

TEST(Proxy, that_is_not_supported_is_named_without_its_password) {
  const struct {
    std::string_view text, message;
  } rows[] = {
      {"socks5://ann:secret@proxy", "socks5:// is not supported, only http:// proxies are"},
      {"socks5h://proxy", "socks5h:// is not supported, only http:// proxies are"},
      {"https://proxy", "https:// (TLS to the proxy itself) is not supported, only http:// proxies are"},
      {"ftp://proxy", "the scheme \"ftp\" is not supported, only http is"},
      {"proxy:3128", "is not a URL like http://host:port"},
      {"", "is not a URL like http://host:port"},
      {"http://ann:secret@", "\"http://\": names no host"},
      {"http://ann:secret@proxy:0", "\"http://proxy:0\": the port must be between 1 and 65535"},
      {"http://ann:sec%zz@proxy", "its user or password is not written as in a URL"},
  };
  for (const auto& row : rows) {
    const auto proxy = parse_proxy_url(row.text);
    ASSERT_FALSE(proxy.ok()) << row.text;
    EXPECT_EQ(proxy.error().message, row.message) << row.text;
  }
}

TEST(Proxy, is_asked_for_names_that_fit_on_a_line) {
  EXPECT_EQ(*connect_request("[::1]:6443", {"p", 1, ""}), "CONNECT [::1]:6443 HTTP/1.1\r\nHost: [::1]:6443\r\n\r\n");
  EXPECT_EQ(*connect_request("h:443", {"p", 1, "Basic x"}),
            "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\nProxy-Authorization: Basic x\r\n\r\n");
  for (const char* name : {"a b:443", "a\r\nX: y:443", "\xc3\xa4:443"}) EXPECT_FALSE(connect_request(name, {}).ok());
}

// Answers one CONNECT with `says`; where the server's port is given, passes bytes on until either side ends.
class OneProxy {
 public:
  OneProxy(std::string answer, std::uint16_t server_port) : listener_(testing::listen_on_loopback(port)) {
    thread_ = std::thread([this, answer = std::move(answer), server_port] {
      const int client = ::accept(listener_, nullptr, nullptr);
      char c = 0;
      while (!asked.ends_with("\r\n\r\n") && ::recv(client, &c, 1, 0) == 1) asked += c;
      EXPECT_EQ(::send(client, answer.data(), answer.size(), MSG_NOSIGNAL), static_cast<ssize_t>(answer.size()));
      if (server_port != 0) {
        testing::pass_on(client, server_port);
      } else if (answer.empty()) {
        ::recv(client, &c, 1, 0);  // silent until the client gives up
      }
      ::close(client);
    });
  }
  ~OneProxy() {
    wait();
    ::close(listener_);
  }
  void wait() {
    if (thread_.joinable()) thread_.join();
  }

  std::uint16_t port = 0;
  std::string asked;  // after wait()

 private:
  int listener_;
  std::thread thread_;
};

struct Asked {
  std::string body;  // or the error
  std::string by;    // what the proxy heard
};

// GET / of a TLS server that answers "hello", through a proxy that answers CONNECT with `says`.
Asked ask_through(const std::string& answer, bool passes_on, bool offers_http2) {
  const auto env = make_real_env("test");
  const KeyPair ca = *make_ca("test-ca", env->now(), base::hours(1));
  const KeyPair key = *issue_certificate(ca, {.common_name = "server", .dns_names = {"far.example"}, .server = true},
                                         env->now(), base::hours(1));
  ServerOptions options;
  options.tls = ServerKeys{key.certificate_pem, key.key_pem, ca.certificate_pem};
  auto server = *listen_http(options, [](const HttpRequest&, const std::shared_ptr<HttpExchange>& exchange) {
    exchange->respond({200, {}, "hello"});
  });
  OneProxy proxy(answer, passes_on ? server->port() : 0);
  ClientOptions to{.host = "far.example", .port = 6443};  // only the proxy knows where that is
  to.ca_pem = ca.certificate_pem;
  to.offer_http2 = offers_http2;
  to.timeout = passes_on || !answer.empty() ? base::seconds(20) : base::milliseconds(200);
  to.proxy = Proxy{"127.0.0.1", proxy.port, "Basic YTpi"};
  auto client = *make_http_client(to, env->loop());
  std::promise<std::string> got;
  client->send({.method = "GET", .target = "/"}, [&](base::Result<HttpResponse> response) {
    got.set_value(response.ok() ? response->body : response.error().message);
  });
  Asked asked{base::await(got), ""};
  client.reset();
  proxy.wait();
  asked.by = proxy.asked;
  server.reset();
  env->stop();
  return asked;
}

TEST(Proxy, leads_to_the_server_with_tls_from_end_to_end) {
  for (const bool offers_http2 : {false, true}) {
    const Asked asked = ask_through("HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n", true, offers_http2);
    EXPECT_EQ(asked.body, "hello");
    EXPECT_EQ(asked.by,
              "CONNECT far.example:6443 HTTP/1.1\r\nHost: far.example:6443\r\nProxy-Authorization: Basic YTpi\r\n\r\n");
  }
}

TEST(Proxy, that_does_not_lead_there_is_said) {
  const struct {
    std::string answer, error;
  } rows[] = {
      {"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
       "the proxy refuses: \"407 Proxy Authentication Required\""},
      {"HTTP/1.0 2000 x\r\n\r\n", "the proxy refuses: \"2000 x\""},
      {"SSH-2.0-x\r\n\r\n", "the proxy does not answer as one: \"SSH-2.0-x\""},
      {"HTTP/1.1 200", "the proxy does not answer: End of file"},
      {std::string(16 << 10, 'x'), "the proxy's answer does not end in 16384 bytes"},
      {"HTTP/1.1 200 OK\r\n\r\nmore", "the proxy says more than that bytes go through"},
      {"", ""},  // the time of a request is over
  };
  for (const auto& row : rows) {
    const Asked asked = ask_through(row.answer, false, false);
    EXPECT_NE(asked.body.find("far.example:6443"), std::string::npos) << asked.body;
    EXPECT_NE(asked.body.find(row.error), std::string::npos) << asked.body;
    EXPECT_NE(asked.body, "hello");
  }
}

TEST(Proxy, is_not_used_without_tls) {
  const auto env = make_real_env("test");
  const auto made = make_http_client({.host = "h", .tls = false, .proxy = Proxy{"p", 1, ""}}, env->loop());
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message, "a server without TLS is not spoken to through a proxy");
  env->stop();
}

}  // namespace
}  // namespace rt

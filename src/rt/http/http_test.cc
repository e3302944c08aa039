// HTTP over real loopback sockets: TLS with client certificates, kept connections, chunked answers, limits.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>

#include "base/await_for_tests.h"
#include "rt/env.h"
#include "rt/http/client/http_client.h"
#include "rt/http/server/http_server.h"
#include "rt/tls/tls.h"

namespace rt {
namespace {

struct Pair {
  std::unique_ptr<RealEnv> env = make_real_env("test");
  KeyPair ca = *make_ca("test-ca", env->now(), base::hours(1));
  std::unique_ptr<HttpServer> server;
  std::unique_ptr<HttpClient> client;

  explicit Pair(HttpServer::Handler handler, bool with_client_certificate = true, std::size_t body_max = 1 << 20) {
    ServerOptions options;
    const KeyPair key = *issue_certificate(ca, {.common_name = "server", .ip_addresses = {"127.0.0.1"}, .server = true},
                                           env->now(), base::hours(1));
    options.tls = ServerKeys{key.certificate_pem, key.key_pem, ca.certificate_pem};
    options.body_bytes_max = body_max;
    server = *listen_http(options, std::move(handler));
    ClientOptions to;
    to.host = "127.0.0.1";
    to.port = server->port();
    to.ca_pem = ca.certificate_pem;
    if (with_client_certificate) {
      const KeyPair own = *issue_certificate(ca, {.common_name = "me", .organizations = {"system:masters"}}, env->now(),
                                             base::hours(1));
      to.certificate_pem = own.certificate_pem;
      to.key_pem = own.key_pem;
    }
    client = *make_http_client(to, env->loop());
  }
  ~Pair() {
    client.reset();
    server.reset();
    env->stop();
  }

  base::Result<HttpResponse> send(HttpRequest request) {
    std::promise<base::Result<HttpResponse>> promise;
    client->send(std::move(request),
                 [&](base::Result<HttpResponse> response) { promise.set_value(std::move(response)); });
    return base::await(promise);
  }
};

void echo(HttpRequest request, const std::shared_ptr<HttpExchange>& exchange) {
  std::string organizations;
  for (const std::string& organization : request.peer_organizations) organizations += organization;
  exchange->respond({200,
                     {{"X-Peer", request.peer_common_name + "/" + organizations}},
                     request.method + " " + request.target + " " + request.body});
}

TEST(Http, requests_are_answered_over_tls_and_the_peer_is_known) {
  Pair pair(echo);
  for (int i = 0; i < 3; ++i) {
    const auto response = pair.send({"POST", "/a?b=c", {}, "body" + std::to_string(i), "", {}});
    ASSERT_TRUE(response.ok()) << response.error().message;
    EXPECT_EQ(response->body, "POST /a?b=c body" + std::to_string(i));
    EXPECT_EQ(header(response->headers, "x-peer"), "me/system:masters");
  }
}

TEST(Http, a_client_without_a_certificate_has_no_name) {
  Pair pair(echo, false);
  EXPECT_EQ(header(pair.send({"GET", "/", {}, "", "", {}})->headers, "X-Peer"), "/");
}

TEST(Http, a_certificate_of_another_authority_is_refused) {
  Pair pair(echo);
  ClientOptions to;
  to.host = "127.0.0.1";
  to.port = pair.server->port();
  to.ca_pem = make_ca("other", pair.env->now(), base::hours(1))->certificate_pem;
  pair.client = *make_http_client(to, pair.env->loop());
  const auto response = pair.send({"GET", "/", {}, "", "", {}});
  ASSERT_FALSE(response.ok());
  EXPECT_NE(response.error().message.find("TLS"), std::string::npos);
}

TEST(Http, a_body_over_the_limit_is_413) {
  Pair pair(echo, true, 1000);
  const auto response = pair.send({"POST", "/", {}, std::string(5000, 'x'), "", {}});
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->status, 413);
}

// The answer to a peer that sends this and then waits: nothing when the server gives up.
std::string answer_to(std::string_view text, base::Duration header_time, base::Duration request_time) {
  ServerOptions options;
  options.header_time_max = header_time;
  options.request_time_max = request_time;
  const auto server = *listen_http(options, echo);
  const int peer = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(server->port());
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(peer, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return "not connected";
  std::string out;
  if (write(peer, text.data(), text.size()) != static_cast<ssize_t>(text.size())) out = "not written";
  char chunk[1024];
  for (ssize_t size; out.find("\r\n\r\n") == out.npos && (size = read(peer, chunk, sizeof chunk)) > 0;)
    out.append(chunk, static_cast<std::size_t>(size));
  close(peer);
  return out.substr(0, out.find("\r\n"));
}

TEST(Http, a_peer_that_does_not_end_its_request_is_left) {
  constexpr base::Duration kShort = base::milliseconds(50), kLong = base::seconds(3600);
  EXPECT_EQ(answer_to("GET / HTTP/1.1\r\nHo", kShort, kLong), "");
  EXPECT_EQ(answer_to("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab", kLong, kShort), "");
  EXPECT_EQ(answer_to("GET / HTTP/1.1\r\nHost: a\r\n\r\n", kShort, kShort), "HTTP/1.1 200 OK");
}

TEST(Http, many_requests_at_once_each_get_their_own_answer) {
  Pair pair(echo);
  std::vector<std::promise<std::string>> answers(200);
  for (std::size_t i = 0; i < answers.size(); ++i)
    pair.client->send({"GET", "/" + std::to_string(i), {}, "", "", {}}, [&, i](base::Result<HttpResponse> r) {
      answers[i].set_value(r.ok() ? r->body : r.error().message);
    });
  for (std::size_t i = 0; i < answers.size(); ++i)
    EXPECT_EQ(base::await(answers[i]), "GET /" + std::to_string(i) + " ");
}

TEST(Http, a_stream_is_delivered_in_order_and_its_end_is_seen) {
  Pair pair([](HttpRequest, const std::shared_ptr<HttpExchange>& exchange) {
    exchange->start(200, {{"Content-Type", "text/plain"}});
    for (int i = 0; i < 1000; ++i) {
      const std::string line = std::to_string(i) + "\n";
      if (i % 3 == 0)
        exchange->send_shared(std::make_shared<const SharedChunk>(line));
      else
        exchange->send_one(std::make_shared<const std::string>(line));
    }
    exchange->finish();
  });
  std::string got;
  std::promise<bool> ended;
  auto stream =
      pair.client->stream({"GET", "/", {}, "", "", {}}, {nullptr, [&](std::string_view bytes) { got += bytes; },
                                                         [&](base::Status status) { ended.set_value(status.ok()); }});
  EXPECT_TRUE(base::await(ended));
  std::string wanted;
  for (int i = 0; i < 1000; ++i) wanted += std::to_string(i) + "\n";
  EXPECT_EQ(got, wanted);
}

TEST(Http, a_server_hears_that_the_peer_has_gone) {
  std::promise<void> started;
  std::promise<void> gone;
  std::shared_ptr<HttpExchange> kept;
  Pair pair([&](HttpRequest, const std::shared_ptr<HttpExchange>& exchange) {
    kept = exchange;
    exchange->on_closed([&] { gone.set_value(); });
    exchange->start(200, {});
    started.set_value();
  });
  auto stream = pair.client->stream({"GET", "/", {}, "", "", {}}, {nullptr, nullptr, nullptr});
  base::await(started);
  // It belongs to the loop.
  pair.env->loop().post([owned = std::shared_ptr<HttpStream>(std::move(stream))]() mutable { owned.reset(); });
  base::await(gone);
  kept->send_one(std::make_shared<const std::string>("into the void"));
}

TEST(Http, a_used_port_is_named) {
  Pair pair(echo);
  ServerOptions options;
  options.port = pair.server->port();
  const auto second = listen_http(options, echo);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find("127.0.0.1:" + std::to_string(options.port)), std::string::npos);
}

TEST(Http, no_address_is_every_address_of_both_families) {
  ServerOptions options;
  options.address = "";
  const auto server = listen_http(options, echo);
  ASSERT_TRUE(server.ok()) << server.error().message;
  const auto connects = [](const auto& address) {
    const int fd = ::socket(reinterpret_cast<const sockaddr*>(&address)->sa_family, SOCK_STREAM, 0);
    const bool connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
    return connected;
  };
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  four.sin_port = htons((*server)->port());
  EXPECT_TRUE(connects(four));
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_addr = in6addr_loopback;
  const int probe = ::socket(AF_INET6, SOCK_STREAM, 0);
  const bool has_six = probe >= 0 && ::bind(probe, reinterpret_cast<const sockaddr*>(&six), sizeof six) == 0;
  if (probe >= 0) ::close(probe);
  if (!has_six) GTEST_SKIP() << "this machine has no ::1";
  six.sin6_port = htons((*server)->port());
  EXPECT_TRUE(connects(six));
}

TEST(Http, targets_are_decoded) {
  const Target target = parse_target("/a%2Fb/c?x=1%202&y&x=3&z=a%3Db+c");
  EXPECT_EQ(target.path, "/a/b/c");
  EXPECT_EQ(target.get("x"), "1 2");
  EXPECT_TRUE(target.has("y"));
  EXPECT_EQ(target.get("z"), "a=b c");
}

}  // namespace
}  // namespace rt

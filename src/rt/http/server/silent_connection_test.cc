// A connection on which nothing comes back any more is left for a new one.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "base/await_for_tests.h"
#include "rt/env.h"
#include "rt/http/client/http_client.h"
#include "rt/http/pass_on_for_tests.h"
#include "rt/http/server/http_server.h"
#include "rt/tls/tls.h"

namespace rt {
namespace {

// Passes connections on to a server of this machine, and counts them.
class Way {
 public:
  explicit Way(std::uint16_t server) : listener_(testing::listen_on_loopback(port)) {
    accepting_ = std::thread([this, server] {
      for (int client = 0; (client = ::accept(listener_, nullptr, nullptr)) >= 0;) {
        ++connections;
        passing_.emplace_back([client, server] {
          testing::pass_on(client, server);
          ::close(client);
        });
      }
    });
  }
  ~Way() {  // both ends have gone by then
    ::shutdown(listener_, SHUT_RDWR);
    accepting_.join();
    for (std::thread& one : passing_) one.join();
    ::close(listener_);
  }

  std::uint16_t port = 0;
  std::atomic<int> connections = 0;

 private:
  int listener_;
  std::thread accepting_;
  std::vector<std::thread> passing_;  // of accepting_, until it has ended
};

std::string ask(HttpClient& client, std::string_view target) {
  std::promise<std::string> got;
  client.send({.method = "GET", .target = std::string(target)}, [&](base::Result<HttpResponse> response) {
    got.set_value(response.ok() ? response->body : response.error().message);
  });
  return base::await(got);
}

// As the way to an API server that has lost its power: only the deadline of a request ends it, and the next request
// must not go the same way.
TEST(SilentConnection, is_left_when_a_request_has_had_no_answer_in_its_time) {
  const auto env = make_real_env("test");
  const KeyPair ca = *make_ca("test-ca", env->now(), base::hours(1));
  const KeyPair key = *issue_certificate(ca, {.common_name = "server", .dns_names = {"far.example"}, .server = true},
                                         env->now(), base::hours(1));
  std::vector<std::shared_ptr<HttpExchange>> hung;  // of the server's one thread
  ServerOptions options;
  options.tls = ServerKeys{key.certificate_pem, key.key_pem, ca.certificate_pem};
  auto server = *listen_http(options, [&](const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange) {
    if (request.target == "/hang") return hung.push_back(exchange);
    exchange->respond({200, {}, "hello"});
  });
  {
    Way way(server->port());
    ClientOptions to{.host = "127.0.0.1", .port = way.port, .ca_pem = ca.certificate_pem, .server_name = "far.example"};
    to.timeout = base::seconds(3);
    auto client = *make_http_client(to, env->loop());
    EXPECT_EQ(ask(*client, "/"), "hello");
    EXPECT_EQ(way.connections, 1);
    EXPECT_TRUE(ask(*client, "/hang").ends_with("the server did not answer in time"));
    EXPECT_EQ(ask(*client, "/"), "hello");
    EXPECT_EQ(way.connections, 2);
    client.reset();
    server.reset();
  }
  env->stop();
}

}  // namespace
}  // namespace rt

// The answers of an address, against a real server: a page, a refusal, too much, nothing.
#include "controllers/framework/prober.h"

#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <vector>

#include "base/await_for_tests.h"
#include "rt/http/server/http_server.h"

namespace controllers {
namespace {

class Probing : public ::testing::Test {
 protected:
  Probing() : env(rt::make_real_env("test")) {
    auto listening = rt::listen_http({}, [this](rt::HttpRequest request, std::shared_ptr<rt::HttpExchange> exchange) {
      if (request.target == "/hang") {
        const std::lock_guard lock(mutex);
        hanging.push_back(std::move(exchange));
      } else if (request.target == "/500") {
        exchange->respond({500, {}, "broken"});
      } else if (request.target == "/long") {
        exchange->respond({200, {}, std::string(100'000, 'x')});
      } else {
        exchange->respond({200, {}, std::string(rt::header(request.headers, "Authorization"))});
      }
    });
    EXPECT_TRUE(listening.ok());
    server = *std::move(listening);
  }
  ~Probing() override {
    std::promise<void> gone;
    env->loop().post([&] {
      prober.reset();
      gone.set_value();
    });
    base::await(gone);
    env->stop();
  }

  Answer ask(Probe probe) {
    probe.host = "127.0.0.1";
    if (probe.port == 0) probe.port = server->port();
    std::promise<Answer> answered;
    env->loop().post([&] {
      if (!prober) prober = std::make_unique<Prober>(*env);
      prober->ask(probe, [&](Answer answer) { answered.set_value(std::move(answer)); });
    });
    return base::await(answered);
  }

  std::unique_ptr<rt::RealEnv> env;
  std::mutex mutex;
  std::vector<std::shared_ptr<rt::HttpExchange>> hanging;
  std::unique_ptr<rt::HttpServer> server;
  std::unique_ptr<Prober> prober;
};

TEST_F(Probing, tells_what_the_server_says) {
  constexpr base::Duration kLong = base::seconds(20);
  const Answer page = ask({.path = "/", .header = {"Authorization", "Basic dTpw"}, .timeout = kLong});
  EXPECT_TRUE(page.is_success());
  EXPECT_EQ(page.body, "Basic dTpw");
  const Answer refusal = ask({.path = "/500", .timeout = kLong});
  EXPECT_FALSE(refusal.is_success());
  EXPECT_EQ(refusal.status, 500);
  EXPECT_TRUE(ask({.timeout = kLong}).is_success());  // a connection
}

TEST_F(Probing, no_answer_is_an_error_that_says_why) {
  EXPECT_NE(ask({.path = "/hang", .timeout = base::milliseconds(20)}).error, "");
  EXPECT_NE(ask({.path = "/long", .timeout = base::seconds(20), .answer_bytes_max = 1000}).error, "");
  EXPECT_NE(ask({.port = 1, .timeout = base::seconds(20)}).error, "");
  EXPECT_NE(ask({.path = "/", .timeout = base::seconds(20), .tls = true}).error, "");
}

}  // namespace
}  // namespace controllers

// /readyz over HTTP: it notices a loop that stands still.
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "apiserver/http/server.h"
#include "apiserver/pipeline/api_for_tests.h"
#include "base/await_for_tests.h"
#include "rt/http/client/http_client.h"

namespace apiserver {
namespace {

TEST(Ready, is_no_server_whose_loop_stands_still) {
  ApiForTests tested;
  std::atomic<std::int64_t> held_ns{0};
  ServerOptions options;
  options.loop_held = [&] { return base::Duration{held_ns.load()}; };
  auto server = start_server(tested.api, std::move(options));
  ASSERT_TRUE(server.ok());
  (*server)->set_ready(true);
  const auto env = rt::make_real_env("asks");
  auto http = rt::make_http_client({.host = "127.0.0.1", .port = (*server)->port(), .tls = false}, env->loop());
  ASSERT_TRUE(http.ok());
  const auto get = [&](std::string path) {
    std::promise<rt::HttpResponse> got;
    env->loop().post([&] {
      rt::HttpRequest request;
      request.method = "GET";
      request.target = std::move(path);
      (*http)->send(std::move(request), [&](base::Result<rt::HttpResponse> response) {
        got.set_value(response.ok() ? *std::move(response) : rt::HttpResponse{.status = 0, .headers = {}, .body = {}});
      });
    });
    return base::await(got);
  };
  EXPECT_EQ(get("/readyz").status, 200);
  held_ns = base::milliseconds(40).ns;
  EXPECT_EQ(get("/readyz").status, 200);
  held_ns = base::seconds(3).ns;
  EXPECT_EQ(get("/readyz").status, 500);
  EXPECT_NE(get("/readyz?verbose").body.find("[-]loop stands still\n"), std::string::npos);
  EXPECT_EQ(get("/livez").status, 200);
  env->stop();
}

}  // namespace
}  // namespace apiserver

// Refusals of the HTTP server itself, said as the API server says everything: by a Status.
#include <gtest/gtest.h>

#include <future>

#include "api/json/json.h"
#include "apiserver/http/server.h"
#include "apiserver/pipeline/api_for_tests.h"
#include "base/await_for_tests.h"
#include "rt/http/client/http_client.h"

namespace apiserver {
namespace {

TEST(Refusal, is_a_status) {
  ApiForTests tested;
  auto server = start_server(tested.api, {});
  ASSERT_TRUE(server.ok());
  const auto env = rt::make_real_env("asks");
  auto http = *rt::make_http_client({.host = "127.0.0.1", .port = (*server)->port(), .tls = false}, env->loop());
  rt::HttpRequest request;
  request.method = "GET";
  request.target = "/api";
  request.headers = {{"Host", "a/b"}};
  std::promise<base::Result<rt::HttpResponse>> answered;
  http->send(std::move(request), [&](base::Result<rt::HttpResponse> answer) { answered.set_value(std::move(answer)); });
  const auto answer = base::await(answered);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->status, 400);
  EXPECT_EQ(rt::header(answer->headers, "Content-Type"), "application/json");
  EXPECT_EQ(answer->body, R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
                          R"("message":"Host: \"a/b\" is not a host",)"
                          R"("reason":"BadRequest","details":{},"code":400})"
                          "\n");
  http.reset();
  env->stop();
}

}  // namespace
}  // namespace apiserver

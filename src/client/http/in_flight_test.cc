// How many requests of one client wait for their answers at a time?
#include <gtest/gtest.h>

#include "api/meta/resource.h"
#include "client/http/http_client.h"
#include "client/http/scripted_http_for_tests.h"

namespace client {
namespace {

using api::Json;
using testing::ScriptedEnv;

TEST(InFlight, a_request_waits_while_as_many_as_may_are_not_answered) {
  ScriptedEnv env;
  auto client = *make_http_client({.access = {.server = "http://h"}, .in_flight_max = 2}, env);
  env.http->holds = true;
  env.http->answers = {{{200, {}, R"({"metadata":{"name":"p","uid":"1"}})"}, false}};
  int answered = 0;
  for (int i = 0; i < 5; ++i) {
    client->call({.resource = api::resources::kPods, .ns = "n", .name = "p"},
                 [&](const base::Result<Json>& result) { answered += result.ok() ? 1 : 0; });
  }
  EXPECT_EQ(env.http->asked.size(), 2u);
  env.http->answer_one();
  EXPECT_EQ(env.http->asked.size(), 3u);
  while (!env.http->held.empty()) env.http->answer_one();
  EXPECT_EQ(env.http->asked.size(), 5u);
  EXPECT_EQ(answered, 5);
}

TEST(InFlight, a_caller_may_end_the_client_when_it_is_answered) {
  ScriptedEnv env;
  auto client = *make_http_client({.access = {.server = "http://h"}, .in_flight_max = 1}, env);
  env.http->holds = true;
  env.http->answers = {{{404, {}, "no"}, false}};
  int answered = 0;
  for (int i = 0; i < 2; ++i) {
    client->call({.resource = api::resources::kPods, .ns = "n", .name = "p"}, [&](const base::Result<Json>&) {
      ++answered;
      client.reset();
    });
  }
  // The connection goes with the client, and its list of answers with it.
  const auto answer = std::move(env.http->held.front());
  answer(rt::HttpResponse{404, {}, "no"});
  EXPECT_EQ(answered, 1);
}

}  // namespace
}  // namespace client

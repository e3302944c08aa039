// How long a server that says "later" is left alone, and who hears of it.
#include "client/http/retry_after.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "api/meta/resource.h"
#include "base/format.h"
#include "client/http/http_client.h"
#include "client/http/scripted_http_for_tests.h"

namespace client {
namespace {

using api::Json;
using testing::ScriptedEnv;

rt::HttpResponse refusal(int status, std::string seconds) {
  return {status, {{"Content-Type", "text/plain"}, {"Retry-After", std::move(seconds)}}, "Too many requests\n"};
}

const rt::HttpResponse kFine{200, {}, R"({"metadata":{"name":"p","uid":"1"}})"};
const rt::HttpResponse kThere{
    409, {}, R"({"kind":"Status","reason":"AlreadyExists","message":"p already exists","code":409})"};

Request create(std::string_view metadata) {
  Request made{.verb = Verb::kCreate, .resource = api::resources::kPods, .ns = "n"};
  made.body = Json::object({{"metadata", *api::parse_json(metadata)}});
  return made;
}

// When it was asked, and when the caller got what: "0 1 2, 2 ok".
std::string course(const Request& request, std::deque<std::pair<rt::HttpResponse, bool>> answers,
                   base::Duration span = base::minutes(10)) {
  ScriptedEnv env;
  const auto client = *make_http_client({.access = {.server = "http://h"}}, env);
  env.http->answers = std::move(answers);
  std::string got;
  client->call(request, [&](const base::Result<Json>& result) {
    got += base::format(", {} {}", env.uptime().seconds(), result.ok() ? "ok" : result.error().message);
    EXPECT_EQ(result.ok() ? 0 : result.error().retry_after_seconds,
              request.resource == api::resources::kLeases ? 7 : 0);
  });
  env.run_for(span);
  std::string times;
  for (const double one : env.http->asked_at) times += base::format("{}{}", times.empty() ? "" : " ", one);
  return times + got;
}

TEST(RetryAfter, a_request_is_asked_again_after_the_pause_that_the_server_asks_for) {
  const Request get{.resource = api::resources::kPods, .ns = "n", .name = "p"};
  const Request named = create(R"({"name":"p"})");
  const Request unnamed = create(R"({"generateName":"p"})");
  const Request lease{.resource = api::resources::kLeases, .ns = "n", .name = "p"};
  const std::string many = "the server answered 429: Too many requests\n";
  const std::string unavailable = "the server answered 503: Too many requests\n";
  struct Row {
    const Request& request;
    std::deque<std::pair<rt::HttpResponse, bool>> answers;
    std::string course;
  };
  const Row rows[] = {
      {get, {{kFine, false}}, "0, 0 ok"},
      {get, {{refusal(429, "1"), false}, {refusal(429, "3"), false}, {kFine, false}}, "0 1 4, 4 ok"},
      {get, {{refusal(503, "2"), false}, {kFine, false}}, "0 2, 2 ok"},
      // No more often, and no longer, than the bounds say; the caller hears of it after the last pause.
      {get, {{refusal(429, "1"), false}}, "0 1 2 3 4 5 6 7 8 9 10, 11 " + many},
      {get, {{refusal(429, "99999999999999999999"), false}}, "0 30, 60 " + many},
      {get, {{refusal(429, "0"), false}}, "0, 0 " + many},
      {get, {{refusal(429, "-5"), false}}, "0, 0 " + many},
      {get, {{refusal(503, "Fri, 31 Dec 9999 23:59:59 GMT"), false}}, "0, 0 " + unavailable},
      {get, {{refusal(404, "5"), false}}, "0, 0 the server answered 404: Too many requests\n"},
      // A refusal of the server itself had no effect; a proxy may have said the other.
      {unnamed, {{refusal(429, "2"), false}, {kFine, false}}, "0 2, 2 ok"},
      {unnamed, {{refusal(503, "2"), false}, {kFine, false}}, "0, 2 " + unavailable},
      {named, {{refusal(429, "2"), false}, {kThere, false}}, "0 2, 2 p already exists"},
      {named, {{refusal(503, "2"), false}, {kThere, false}, {kFine, false}}, "0 2 2, 2 ok"},
      {named, {{refusal(429, "2"), true}, {kThere, false}, {kFine, false}}, "0 2 2, 2 ok"},
      {lease, {{refusal(429, "7"), false}}, "0, 0 " + many},
  };
  for (const Row& row : rows) EXPECT_EQ(course(row.request, row.answers), row.course);
}

TEST(RetryAfter, nothing_is_called_once_the_client_is_gone) {
  ScriptedEnv env;
  auto client = *make_http_client({.access = {.server = "http://h"}}, env);
  env.http->answers = {{refusal(429, "5"), false}};
  int called = 0;
  client->call(create(R"({"name":"p"})"), [&](const base::Result<Json>&) { ++called; });
  client.reset();
  env.run_for(base::minutes(2));
  EXPECT_EQ(called, 0);
}

TEST(RetryAfter, what_is_asked_again_counts_for_the_rate) {
  ScriptedEnv env;
  const auto client = *make_http_client({.access = {.server = "http://h"}, .requests_per_second = 1, .burst = 1}, env);
  env.http->answers = {{refusal(429, "3"), false}, {refusal(429, "2"), false}, {kFine, false}};
  for (int i = 0; i < 4; ++i) client->call(create(R"({"name":"p"})"), [](const base::Result<Json>&) {});
  env.run_for(base::minutes(1));
  const std::vector<double>& at = env.http->asked_at;
  ASSERT_EQ(at.size(), 6u);
  for (std::size_t i = 1; i < at.size(); ++i) EXPECT_GE(at[i] - at[i - 1], 1 - 1e-6);
}

TEST(RetryAfter, the_end_of_a_refused_watch_is_told_after_the_pause) {
  const std::string event =
      R"({"type":"ERROR","object":{"kind":"Status","code":429,"message":"slow","details":{"retryAfterSeconds":4}}})"
      "\n";
  for (const bool in_stream : {false, true}) {
    for (const bool is_dropped : {false, true}) {
      ScriptedEnv env;
      const auto client = *make_http_client({.access = {.server = "http://h"}}, env);
      std::vector<double> ended;
      auto watch = client->watch(
          {.resource = api::resources::kPods}, [](const WatchEvent&) { ADD_FAILURE(); },
          [&](const base::Error& error) {
            EXPECT_EQ(error.code, base::Code::kTooManyRequests);
            ended.push_back(env.uptime().seconds());
          });
      const rt::HttpClient::StreamCallbacks stream = env.http->streams.at(0);
      stream.on_start(in_stream ? 200 : 429, {{"Retry-After", "4"}});
      stream.on_data(in_stream ? event : "Too many requests");
      if (in_stream)
        stream.on_data(R"({"type":"ADDED","object":{"metadata":{"name":"late"}}})"
                       "\n");
      stream.on_end({});
      env.run_for(base::seconds(3));
      EXPECT_TRUE(ended.empty());
      if (is_dropped) watch.reset();
      env.run_for(base::minutes(20));
      EXPECT_EQ(ended, is_dropped ? std::vector<double>{} : std::vector<double>{4});
    }
  }
}

}  // namespace
}  // namespace client

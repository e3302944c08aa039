// Which requests are sent twice, and what is made of the second answer.
#include "client/http/repeat.h"

#include <gtest/gtest.h>

#include <deque>

#include "api/meta/resource.h"
#include "client/http/http_client.h"
#include "client/http/scripted_http_for_tests.h"

namespace client {
namespace {

using api::Json;
using base::Code;

Json parse(std::string_view text) { return *api::parse_json(text); }

Request request(Verb verb, std::string_view body, std::string subresource = {}) {
  Request made{.verb = verb, .resource = api::resources::kPods, .ns = "n", .name = "p"};
  made.subresource = std::move(subresource);
  made.body = parse(body);
  return made;
}

TEST(Repeat, only_what_the_second_answer_tells_about) {
  EXPECT_TRUE(may_repeat(request(Verb::kGet, "null")));
  EXPECT_TRUE(may_repeat(request(Verb::kList, "null")));
  EXPECT_TRUE(may_repeat(request(Verb::kCreate, R"({"metadata":{"name":"p"}})")));
  EXPECT_FALSE(may_repeat(request(Verb::kCreate, R"({"metadata":{"generateName":"p"}})")));
  EXPECT_TRUE(may_repeat(request(Verb::kCreate, R"({"target":{"name":"m"}})", "binding")));
  EXPECT_FALSE(may_repeat(request(Verb::kCreate, "{}", "eviction")));
  EXPECT_TRUE(may_repeat(request(Verb::kCreate, R"({"deleteOptions":{"preconditions":{"uid":"u"}}})", "eviction")));
  EXPECT_FALSE(may_repeat(request(Verb::kDelete, "{}")));
  EXPECT_TRUE(may_repeat(request(Verb::kDelete, R"({"preconditions":{"uid":"u"}})")));
  EXPECT_FALSE(may_repeat(request(Verb::kUpdate, R"({"metadata":{"name":"p"}})")));
  EXPECT_TRUE(may_repeat(request(Verb::kUpdate, R"({"metadata":{"name":"p","resourceVersion":"3"}})")));
  EXPECT_FALSE(may_repeat(request(Verb::kPatch, R"({"metadata":{"labels":{"a":"b"}}})")));
  EXPECT_TRUE(may_repeat(request(Verb::kPatch, R"({"metadata":{"resourceVersion":"3"}})")));
  EXPECT_FALSE(may_repeat(request(Verb::kDeleteCollection, "{}")));
  Request json = request(Verb::kPatch, R"({"metadata":{"resourceVersion":"3"}})");
  json.patch_type = PatchType::kJson;
  EXPECT_FALSE(may_repeat(json));
}

// "yes": carried out; "look" or "no" else.
std::string verdict(const Request& sent, Code code) {
  const Verdict made = judge(sent, base::make_error(code, "x"));
  return made.success ? "yes" : made.look ? "look " + made.look->name : "no";
}

TEST(Repeat, the_second_answer_says_where_to_look) {
  Request create = request(Verb::kCreate, R"({"metadata":{"name":"q"}})");
  create.name.clear();
  EXPECT_EQ(verdict(create, Code::kAlreadyExists), "look q");
  EXPECT_EQ(verdict(create, Code::kConflict), "no");
  EXPECT_EQ(verdict(create, Code::kInvalid), "no");
  EXPECT_EQ(verdict(request(Verb::kCreate, R"({"target":{"name":"m"}})", "binding"), Code::kConflict), "look p");
  EXPECT_EQ(verdict(request(Verb::kUpdate, R"({"metadata":{"resourceVersion":"3"}})"), Code::kConflict), "look p");
  const Request remove = request(Verb::kDelete, R"({"preconditions":{"uid":"u"}})");
  EXPECT_EQ(verdict(remove, Code::kNotFound), "yes");
  EXPECT_EQ(verdict(remove, Code::kConflict), "yes");
  EXPECT_EQ(verdict(remove, Code::kForbidden), "no");
}

bool ours(const Request& sent, std::string_view present) { return carried_out(sent, parse(present)).has_value(); }

TEST(Repeat, what_is_there_tells_whether_it_is_ours) {
  const Request bind = request(Verb::kCreate, R"({"metadata":{"uid":"u"},"target":{"name":"m"}})", "binding");
  EXPECT_TRUE(ours(bind, R"({"metadata":{"uid":"u"},"spec":{"nodeName":"m"}})"));
  EXPECT_FALSE(ours(bind, R"({"metadata":{"uid":"u"},"spec":{"nodeName":"other"}})"));
  EXPECT_FALSE(ours(bind, R"({"metadata":{"uid":"another"},"spec":{"nodeName":"m"}})"));
  const Request create = request(Verb::kCreate, R"({"kind":"Pod","metadata":{"name":"p","labels":{"a":"b"},
      "ownerReferences":[{"uid":"o"}]},"spec":{"containers":[{"name":"c","image":""}],"tolerations":[]}})");
  EXPECT_TRUE(ours(create, R"({"metadata":{"name":"p","uid":"u","labels":{"a":"b","c":"d"},
      "ownerReferences":[{"uid":"o","kind":"Job"}]},
      "spec":{"containers":[{"name":"c","terminationMessagePath":"/dev/x"}],"restartPolicy":"Always"}})"));
  EXPECT_FALSE(ours(create, R"({"metadata":{"labels":{"a":"b"},"ownerReferences":[{"uid":"another"}]},
      "spec":{"containers":[{"name":"c"}]}})"));
  EXPECT_FALSE(ours(create, R"({"metadata":{"labels":{"a":"b"},"ownerReferences":[{"uid":"o"}]},
      "spec":{"containers":[{"name":"c"},{"name":"d"}]}})"));
  const std::string_view object = R"({"metadata":{"resourceVersion":"3"},"spec":{"a":1},"status":{"b":2}})";
  EXPECT_TRUE(ours(request(Verb::kUpdate, object, "status"), R"({"spec":{"a":7},"status":{"b":2}})"));
  EXPECT_FALSE(ours(request(Verb::kUpdate, object), R"({"spec":{"a":7},"status":{"b":2}})"));
  EXPECT_TRUE(ours(request(Verb::kUpdate, object), R"({"spec":{"a":1},"status":{"b":7}})"));
  EXPECT_TRUE(ours(request(Verb::kPatch, R"({"metadata":{"resourceVersion":"3","labels":{"x":null}}})"),
                   R"({"metadata":{"labels":{"y":"z"}}})"));
}

// The caller's result of a create when these are the answers.
std::string outcome(std::deque<std::pair<rt::HttpResponse, bool>> answers, std::string& asked) {
  testing::ScriptedEnv env;
  const auto client = *make_http_client({.access = {.server = "http://h"}}, env);
  env.http->answers = std::move(answers);
  std::string got;
  client->call(request(Verb::kCreate, R"({"metadata":{"name":"p"},"data":{"k":"v"}})"), [&](base::Result<Json> result) {
    got = result.ok() ? "ok " + (*result)["metadata"]["uid"].str() : result.error().message;
  });
  for (const std::string& one : env.http->asked) asked += one + " ";
  return got;
}

TEST(Repeat, the_caller_of_a_create_sees_what_its_first_sending_did) {
  const rt::HttpResponse made{201, {}, R"({"metadata":{"name":"p","uid":"1"},"data":{"k":"v"}})"};
  const rt::HttpResponse taken{
      409, {}, R"({"kind":"Status","reason":"AlreadyExists","message":"p already exists","code":409})"};
  const rt::HttpResponse ours{200, {}, R"({"metadata":{"name":"p","uid":"1"},"data":{"k":"v","l":"w"}})"};
  const rt::HttpResponse strange{200, {}, R"({"metadata":{"name":"p","uid":"2"},"data":{"k":"w"}})"};
  std::string asked;
  EXPECT_EQ(outcome({{made, false}}, asked), "ok 1");
  EXPECT_EQ(outcome({{made, true}}, asked), "ok 1");
  EXPECT_EQ(outcome({{taken, false}}, asked), "p already exists");
  EXPECT_EQ(asked, "POST* POST* POST* ");
  asked.clear();
  EXPECT_EQ(outcome({{taken, true}, {ours, false}}, asked), "ok 1");
  EXPECT_EQ(outcome({{taken, true}, {strange, false}}, asked), "p already exists");
  EXPECT_EQ(outcome({{taken, true}, {taken, false}}, asked), "p already exists");
  EXPECT_EQ(asked, "POST* GET* POST* GET* POST* GET* ");
}

}  // namespace
}  // namespace client

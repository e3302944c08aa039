// Requests about one object that name none: none of them is sent.
#include "client/http/request_names.h"

#include <gtest/gtest.h>

#include "api/meta/resource.h"
#include "client/fake_env_for_tests.h"
#include "client/http/http_client.h"
#include "rt/http/client/http_client.h"

namespace client {
namespace {

// Counts what is sent, and answers nothing.
class Counter final : public rt::HttpClient {
 public:
  explicit Counter(int& sent) : sent_(sent) {}
  void send(rt::HttpRequest, OnResponse) override { ++sent_; }
  std::unique_ptr<rt::HttpStream> stream(rt::HttpRequest, StreamCallbacks) override { return nullptr; }
  void connect(std::function<void(base::Status)>) override {}

 private:
  int& sent_;
};

class Env final : public testing::FakeEnv {
 public:
  base::Result<std::unique_ptr<rt::HttpClient>> http_client(rt::ClientOptions) override {
    return std::unique_ptr<rt::HttpClient>(std::make_unique<Counter>(sent));
  }
  int sent = 0;
};

TEST(RequestNames, what_names_no_object_is_refused_and_not_sent) {
  struct Row {
    Verb verb;
    std::string ns, name, subresource;
    std::string_view refusal;  // empty: it is sent
  };
  const Row rows[] = {
      {Verb::kDelete, "a", "", "", "jobs.batch.volcano.sh: \"\" cannot be the name of an object"},
      {Verb::kDelete, "a", "/", "", "jobs.batch.volcano.sh: \"/\" cannot be the name of an object"},
      {Verb::kDelete, "a", ".", "", "jobs.batch.volcano.sh: \".\" cannot be the name of an object"},
      {Verb::kGet, "a", "..", "", "jobs.batch.volcano.sh: \"..\" cannot be the name of an object"},
      {Verb::kGet, "a", "j/status", "", "jobs.batch.volcano.sh: \"j/status\" cannot be the name of an object"},
      {Verb::kUpdate, "a", "", "status", "jobs.batch.volcano.sh: \"\" cannot be the name of an object"},
      {Verb::kPatch, "a", "%2f", "", "jobs.batch.volcano.sh: \"%2f\" cannot be the name of an object"},
      {Verb::kCreate, "a", "", "binding", "jobs.batch.volcano.sh: \"\" cannot be the name of an object"},
      {Verb::kList, "a/jobs", "", "", "jobs.batch.volcano.sh: \"a/jobs\" cannot be the namespace of an object"},
      {Verb::kDelete, "a", "j", "", ""},
      {Verb::kDelete, "", "a:b", "", ""},
      {Verb::kCreate, "a", "", "", ""},
      {Verb::kList, "", "", "", ""},
      {Verb::kDeleteCollection, "a", "", "", ""},
  };
  for (const Row& row : rows) {
    Env env;
    const auto client = make_http_client({.access = {.server = "http://a:1"}}, env);
    ASSERT_TRUE(client.ok());
    std::string problem;
    (*client)->call({.verb = row.verb,
                     .resource = api::resources::kJobs,
                     .ns = row.ns,
                     .name = row.name,
                     .subresource = row.subresource},
                    [&](const base::Result<api::Json>& answer) {
                      EXPECT_EQ(answer.error().code, base::Code::kBadRequest);
                      problem = answer.error().message;
                    });
    EXPECT_EQ(problem, "") << "called back before the call returned";
    env.settle();
    EXPECT_EQ(problem, row.refusal);
    EXPECT_EQ(env.sent, row.refusal.empty() ? 1 : 0) << row.name;
  }
}

}  // namespace
}  // namespace client

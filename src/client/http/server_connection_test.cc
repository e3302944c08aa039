// A connection whose files change that say how to reach the server.
#include "client/http/server_connection.h"

#include <gtest/gtest.h>

#include "client/fake_env_for_tests.h"

namespace client {
namespace {

struct Made {
  std::string host, ca_pem, proxy;
  bool alive = true;
};

class NoServer final : public rt::HttpClient {
 public:
  explicit NoServer(std::shared_ptr<Made> made) : made_(std::move(made)) {}
  ~NoServer() override { made_->alive = false; }
  void send(rt::HttpRequest, OnResponse) override {}
  std::unique_ptr<rt::HttpStream> stream(rt::HttpRequest, StreamCallbacks) override { return nullptr; }
  void connect(std::function<void(base::Status)>) override {}

 private:
  std::shared_ptr<Made> made_;
};

class Env final : public testing::FakeEnv {
 public:
  base::Result<std::unique_ptr<rt::HttpClient>> http_client(rt::ClientOptions options) override {
    if (options.ca_pem == "rubbish") return base::make_error(base::Code::kInvalid, "the CA cannot be used");
    made.push_back(
        std::make_shared<Made>(Made{options.host, options.ca_pem, options.proxy ? options.proxy->host : ""}));
    return std::unique_ptr<rt::HttpClient>(std::make_unique<NoServer>(made.back()));
  }
  std::vector<std::shared_ptr<Made>> made;
};

struct ServerConnectionTest : ::testing::Test {
  ServerConnectionTest() {
    ServerAccess access = access_now;
    access.again = [this](bool refused) -> base::Result<ServerAccess> {
      refusals += refused ? 1 : 0;
      ++looks;
      if (is_broken) return base::make_error(base::Code::kBadRequest, "no kubeconfig");
      return access_now;
    };
    server = *ServerConnection::open(access, "test", env);
  }
  std::string token() {
    rt::HttpRequest request;
    server->complete(request);
    for (const auto& [name, value] : request.headers)
      if (name == "Authorization") return value;
    return "";
  }

  ServerAccess access_now{.server = "https://a:1", .ca_pem = "one", .token = "t1"};
  bool is_broken = false;
  int looks = 0, refusals = 0;
  Env env;
  std::unique_ptr<ServerConnection> server;
};

TEST_F(ServerConnectionTest, nothing_new_keeps_the_connection) {
  env.run_for(base::minutes(1));
  EXPECT_EQ(looks, 6);
  EXPECT_EQ(env.made.size(), 1u);
}

TEST_F(ServerConnectionTest, another_token_goes_with_the_next_request_over_the_same_connection) {
  access_now.token = "t2";
  EXPECT_EQ(token(), "Bearer t1");
  env.run_for(base::seconds(11));
  EXPECT_EQ(token(), "Bearer t2");
  EXPECT_EQ(env.made.size(), 1u);
}

TEST_F(ServerConnectionTest, as_whom_it_acts_goes_with_every_request_and_may_change) {
  const auto users = [this] {
    rt::HttpRequest request;
    server->complete(request);
    std::string all;
    for (const auto name : {"Impersonate-User", "Impersonate-Group"})
      for (const std::string_view value : rt::all_headers(request.headers, name)) all += std::string(value) + ",";
    return all;
  };
  EXPECT_EQ(users(), "");
  access_now.acts_as = {{"Impersonate-User", "jane"}, {"Impersonate-Group", "a"}, {"Impersonate-Group", "b"}};
  env.run_for(base::seconds(11));
  EXPECT_EQ(users(), "jane,a,b,");
  EXPECT_EQ(users(), "jane,a,b,");
  EXPECT_EQ(env.made.size(), 1u);
}

TEST_F(ServerConnectionTest, another_ca_makes_a_connection_and_the_old_one_ends_after_its_watches) {
  access_now.ca_pem = "two";
  env.run_for(base::seconds(11));
  ASSERT_EQ(env.made.size(), 2u);
  EXPECT_EQ(env.made[1]->ca_pem, "two");
  EXPECT_TRUE(env.made[0]->alive);
  env.run_for(base::minutes(11));  // the longest watch
  EXPECT_TRUE(env.made[0]->alive);
  env.run_for(base::minutes(2));
  EXPECT_FALSE(env.made[0]->alive);
  EXPECT_TRUE(env.made[1]->alive);
}

TEST_F(ServerConnectionTest, another_proxy_makes_a_connection_through_it) {
  EXPECT_EQ(env.made[0]->proxy, "");
  access_now.proxy = rt::Proxy{"proxy", 3128, ""};
  env.run_for(base::seconds(11));
  ASSERT_EQ(env.made.size(), 2u);
  EXPECT_EQ(env.made[1]->proxy, "proxy");
}

TEST_F(ServerConnectionTest, what_cannot_be_read_or_used_changes_nothing) {
  is_broken = true;
  access_now.token = "t2";
  env.run_for(base::seconds(11));
  EXPECT_EQ(token(), "Bearer t1");
  is_broken = false;
  access_now.ca_pem = "rubbish";
  env.run_for(base::seconds(11));
  EXPECT_EQ(token(), "Bearer t1");
  EXPECT_EQ(env.made.size(), 1u);
  access_now.ca_pem = "two";
  env.run_for(base::seconds(11));
  EXPECT_EQ(token(), "Bearer t2");
  EXPECT_EQ(env.made.size(), 2u);
}

TEST_F(ServerConnectionTest, a_refusal_is_told_once) {
  server->refused();
  env.run_for(base::minutes(1));
  EXPECT_EQ(refusals, 1);
}

TEST_F(ServerConnectionTest, files_that_change_all_the_time_cost_a_few_connections) {
  for (int i = 0; i < 30; ++i) {
    access_now.ca_pem = std::to_string(i);
    env.run_for(base::seconds(10));
  }
  EXPECT_EQ(env.made.size(), 5u);
}

TEST_F(ServerConnectionTest, it_may_go_while_files_are_read) {
  env.run_for(base::seconds(9));
  server.reset();
  env.run_for(base::minutes(1));
  EXPECT_EQ(looks, 0);
}

}  // namespace
}  // namespace client

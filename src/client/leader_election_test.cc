// Who leads, and when leadership changes hands.
#include "client/leader_election.h"

#include <gtest/gtest.h>

#include "client/fake_client_for_tests.h"
#include "client/fake_env_for_tests.h"

namespace client {
namespace {

// Answers arrive late.
class SlowClient : public Client {
 public:
  SlowClient(Client& inner, rt::Env& env, base::Duration delay) : inner_(inner), env_(env), delay_(delay) {}
  void call(Request request, OnResult on_result) override {
    inner_.call(std::move(request), [this, on_result = std::move(on_result)](base::Result<api::Json> result) {
      env_.loop().after(delay_, [on_result, result = std::move(result)] { on_result(result); });
    });
  }
  std::unique_ptr<Watch> watch(WatchRequest request, OnEvent on_event, OnEnd on_end) override {
    return inner_.watch(std::move(request), std::move(on_event), std::move(on_end));
  }

 private:
  Client& inner_;
  rt::Env& env_;
  base::Duration delay_;
};

struct Candidate {
  LeaderElection election;
  bool leads = false;
  bool lost = false;
  Candidate(Client& client, rt::Env& env, const std::string& identity)
      : election(client, env, {.ns = "ns", .name = "lock", .identity = identity}) {
    election.start([this] { leads = true; },
                   [this] {
                     leads = false;
                     lost = true;
                   });
  }
};

TEST(LeaderElection, OneOfTwoLeadsAndKeepsLeading) {
  testing::FakeEnv env;
  testing::FakeClient server(env);
  Candidate a(server, env, "a");
  Candidate b(server, env, "b");
  env.run_for(base::minutes(5));
  EXPECT_NE(a.leads, b.leads);
  EXPECT_EQ(server.find(api::resources::kLeases, "ns/lock")->at_path({"spec", "leaseTransitions"}).as_int(), 0);
}

TEST(LeaderElection, AnotherTakesOverWhenTheHolderIsGone) {
  testing::FakeEnv env;
  testing::FakeClient server(env);
  auto a = std::make_unique<Candidate>(server, env, "a");
  env.run_for(base::seconds(1));
  Candidate b(server, env, "b");
  env.run_for(base::seconds(30));
  ASSERT_TRUE(a->leads);
  a.reset();
  env.run_for(base::seconds(14));
  EXPECT_FALSE(b.leads);
  env.run_for(base::seconds(10));
  EXPECT_TRUE(b.leads);
  EXPECT_EQ(server.find(api::resources::kLeases, "ns/lock")->at_path({"spec", "leaseTransitions"}).as_int(), 1);
}

TEST(LeaderElection, AReleasedLeaseIsTakenAtOnce) {
  testing::FakeEnv env;
  testing::FakeClient server(env);
  Candidate a(server, env, "a");
  env.run_for(base::seconds(1));
  Candidate b(server, env, "b");
  env.run_for(base::seconds(5));
  bool released = false;
  a.election.release([&] { released = true; });
  env.run_for(base::seconds(3));
  EXPECT_TRUE(released);
  EXPECT_TRUE(b.leads);
}

TEST(LeaderElection, AHolderThatCannotRenewStopsBeforeOthersStart) {
  testing::FakeEnv env;
  testing::FakeClient server(env);
  Candidate a(server, env, "a");
  env.run_for(base::seconds(5));
  for (int i = 0; i < 50; ++i) server.failures.push_back(base::make_error(base::Code::kUnavailable, "down"));
  env.run_for(base::seconds(13));
  EXPECT_TRUE(a.lost);
  EXPECT_FALSE(a.election.is_leader());
}

TEST(LeaderElection, AHolderWhoseServerIsSilentStopsToo) {
  testing::FakeEnv env;
  testing::FakeClient server(env);
  Candidate a(server, env, "a");
  env.run_for(base::seconds(5));
  ASSERT_TRUE(a.leads);
  server.silent = true;
  env.run_for(base::seconds(13));
  EXPECT_TRUE(a.lost);
}

// A process that is stopped and goes on: its clock has moved, and nothing of what it had to do has been done.
TEST(LeaderElection, TheFenceOfAHolderClosesWithItsDeadlineBeforeAnythingElseRuns) {
  testing::FakeEnv env;
  testing::FakeClient server(env);
  Candidate a(server, env, "a");
  const auto fence = a.election.fence();
  EXPECT_FALSE(fence());
  env.run_for(base::seconds(5));
  ASSERT_TRUE(a.leads);
  EXPECT_TRUE(fence());
  env.drop_tasks();
  env.run_for(base::seconds(7));
  EXPECT_TRUE(fence());
  env.run_for(base::seconds(4));
  EXPECT_FALSE(fence());
  EXPECT_TRUE(a.leads);  // it has not even heard of it
}

TEST(LeaderElection, AnAnswerThatComesAfterTheDeadlineGivesNoLease) {
  testing::FakeEnv env;
  testing::FakeClient server(env);
  SlowClient slow(server, env, base::seconds(11));
  Candidate a(slow, env, "a");
  env.run_for(base::seconds(30));
  EXPECT_FALSE(a.leads);
  EXPECT_FALSE(a.election.fence()());
}

TEST(LeaderElection, AReleasedFenceIsClosed) {
  testing::FakeEnv env;
  testing::FakeClient server(env);
  Candidate a(server, env, "a");
  env.run_for(base::seconds(1));
  ASSERT_TRUE(a.election.fence()());
  a.election.release([] {});
  EXPECT_FALSE(a.election.fence()());
}

}  // namespace
}  // namespace client

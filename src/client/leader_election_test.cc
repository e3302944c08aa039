// Who leads, and when leadership changes hands.
#include "client/leader_election.h"

#include <gtest/gtest.h>

#include "client/testing/fake_client.h"
#include "client/testing/fake_env.h"

namespace client {
namespace {

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

}  // namespace
}  // namespace client

// The leader, and the moments when leadership changes hands.
#include "client/election/leader_election.h"

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

// Its holder wrote it once, with another duration perhaps, and is gone.
TEST(LeaderElection, a_lease_is_taken_over_after_the_longer_of_its_own_time_and_ours) {
  struct Row {
    const char* duration;  // as the record has it
    int seconds;           // from when it was seen
  };
  const Row rows[] = {{"15", 15},   {"60", 60},    {"5", 15},     {"1", 15},
                      {"0", 15},    {"-1", 15},    {"null", 15},  {R"("90")", 15},
                      {"300", 300}, {"3600", 300}, {"1e30", 300}, {"9223372036854775807", 300}};
  for (const Row& row : rows) {
    testing::FakeEnv env;
    testing::FakeClient server(env);
    api::Json spec =
        api::Json::object({{"holderIdentity", "b"}, {"leaseDurationSeconds", *api::parse_json(row.duration)}});
    server.put(api::resources::kLeases,
               api::Json::object({{"metadata", api::Json::object({{"name", "lock"}, {"namespace", "ns"}})},
                                  {"spec", std::move(spec)}}));
    Candidate a(server, env, "a");
    env.run_for(base::seconds(row.seconds - 1));
    EXPECT_FALSE(a.leads) << row.duration;
    env.run_for(base::seconds(4));
    EXPECT_TRUE(a.leads) << row.duration;
  }
}

TEST(LeaderElection, a_pause_that_the_server_asks_for_is_kept_as_far_as_the_deadline_allows) {
  struct Row {
    int seconds, refusals;
    std::vector<double> asked;  // after the first refusal
    bool leads;
  };
  // Renewed at 4 s and refused at 6 s; the deadline is at 14 s.
  const Row rows[] = {{1, 2, {6, 8, 10}, true}, {5, 1, {6, 11}, true}, {30, 1, {6, 12}, true}, {30, 9, {6, 12}, false}};
  for (const Row& row : rows) {
    testing::FakeEnv env;
    testing::FakeClient server(env);
    Candidate a(server, env, "a");
    env.run_for(base::seconds(5));
    ASSERT_TRUE(a.leads);
    for (int i = 0; i < row.refusals; ++i) {
      server.failures.push_back(base::make_error(base::Code::kTooManyRequests, "busy"));
      server.failures.back().retry_after_seconds = row.seconds;
    }
    std::vector<double> asked;
    for (std::size_t calls = server.calls.size();
         env.uptime() < base::seconds(20) && asked.size() < row.asked.size();) {
      env.run_for(base::milliseconds(500));
      if (server.calls.size() > calls) asked.push_back(env.uptime().seconds());
      calls = server.calls.size();
    }
    EXPECT_EQ(asked, row.asked) << row.seconds;
    env.run_for(base::seconds(20) - env.uptime());
    EXPECT_EQ(a.leads, row.leads) << row.seconds;
  }
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

TEST(LeaderElection, a_release_that_a_renewal_overtakes_is_tried_once_more_by_who_still_holds_it) {
  for (const char* holder : {"a", "b"}) {
    testing::FakeEnv env;
    testing::FakeClient server(env);
    Candidate a(server, env, "a");
    env.run_for(base::seconds(1));
    ASSERT_TRUE(a.leads);
    api::Json lease = *server.find(api::resources::kLeases, "ns/lock");
    lease.edit("spec").set("holderIdentity", holder);
    server.put(api::resources::kLeases, lease);
    int released = 0;
    a.election.release([&] { ++released; });
    env.run_for(base::seconds(1));
    EXPECT_EQ(released, 1);
    EXPECT_EQ((*server.find(api::resources::kLeases, "ns/lock"))["spec"]["holderIdentity"].as_string(),
              holder == std::string_view("a") ? "" : "b");
  }
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

TEST(LeaderElection, a_lease_of_rubbish_is_taken_with_values_that_a_server_accepts) {
  for (const char* spec :
       {R"({"holderIdentity":"b","leaseTransitions":9223372036854775807,"acquireTime":5,"renewTime":"never"})",
        R"({"holderIdentity":"a","leaseTransitions":-7,"acquireTime":"never","leaseDurationSeconds":-1})", R"("x")"}) {
    testing::FakeEnv env;
    testing::FakeClient server(env);
    server.put(api::resources::kLeases,
               api::Json::object({{"metadata", api::Json::object({{"name", "lock"}, {"namespace", "ns"}})},
                                  {"spec", *api::parse_json(spec)}}));
    Candidate a(server, env, "a");
    env.run_for(base::seconds(30));
    EXPECT_TRUE(a.leads) << spec;
    const api::Json taken = (*server.find(api::resources::kLeases, "ns/lock"))["spec"];
    EXPECT_GE(taken["leaseTransitions"].as_int(-1), 0) << spec;
    EXPECT_LE(taken["leaseTransitions"].as_int(-1), 2147483647) << spec;
    EXPECT_TRUE(base::parse_rfc3339(taken["acquireTime"].as_string())) << taken.dump();
    a.election.release([] {});
    env.run_for(base::seconds(1));
  }
}

// Answers each write with another object.
class LyingClient : public Client {
 public:
  LyingClient(Client& inner, api::Json reported) : inner_(inner), reported_(std::move(reported)) {}
  bool lies = true;
  void call(Request request, OnResult on_result) override {
    const bool is_write = request.verb != Verb::kGet;
    inner_.call(std::move(request), [this, is_write, on_result](base::Result<api::Json> result) {
      on_result(is_write && lies ? reported_ : std::move(result));
    });
  }
  std::unique_ptr<Watch> watch(WatchRequest, OnEvent, OnEnd) override { return nullptr; }

 private:
  Client& inner_;
  api::Json reported_;
};

TEST(LeaderElection, times_that_would_make_two_leaders_are_refused) {
  struct Row {
    double lease, renew, retry;
    const char* message;
  };
  const Row rows[] = {
      {15, 10, 2, ""},
      {6, 4, 1, ""},
      {3, 100, 1, "--leader-elect-lease-duration: 3s is not above --leader-elect-renew-deadline (1m40s)"},
      {10, 10, 2, "--leader-elect-lease-duration: 10s is not above --leader-elect-renew-deadline (10s)"},
      {15, 10, 9, "--leader-elect-renew-deadline: 10s is not above 1.2 times --leader-elect-retry-period (9s)"},
      {0.5, 0.4, 0.1, "--leader-elect-lease-duration: 500ms is below 1s"},
      {0, 10, 2, "--leader-elect-lease-duration: 0s is not above zero"},
      {15, 0, 2, "--leader-elect-renew-deadline: 0s is not above zero"},
      {15, 10, -1, "--leader-elect-retry-period: -1s is not above zero"}};
  for (const Row& row : rows) {
    const auto span = [](double seconds) { return base::milliseconds(static_cast<std::int64_t>(seconds * 1000)); };
    const base::Status checked = check_lease_times(
        {.lease_duration = span(row.lease), .renew_deadline = span(row.renew), .retry_period = span(row.retry)});
    EXPECT_EQ(checked.ok() ? "" : checked.error().message, row.message);
  }
}

TEST(LeaderElection, an_answer_that_names_no_holder_or_another_gives_no_lease) {
  for (const char* reported : {"{}", R"({"spec":"x"})", R"({"spec":{"holderIdentity":"b"}})"}) {
    testing::FakeEnv env;
    testing::FakeClient server(env);
    LyingClient liar(server, *api::parse_json(reported));
    Candidate a(liar, env, "a");
    env.run_for(base::seconds(20));
    EXPECT_FALSE(a.leads) << reported;
    liar.lies = false;
    env.run_for(base::seconds(20));
    EXPECT_TRUE(a.leads) << reported;
  }
}

TEST(LeaderElection, a_closed_fence_keeps_the_lease_until_it_is_released) {
  testing::FakeEnv env;
  testing::FakeClient server(env);
  Candidate a(server, env, "a");
  env.run_for(base::seconds(1));
  Candidate b(server, env, "b");
  a.election.close_fence();
  EXPECT_FALSE(a.election.fence()());
  env.run_for(base::seconds(9));
  EXPECT_TRUE(a.election.is_leader());
  EXPECT_FALSE(a.election.fence()()) << "no renewal opens it again";
  EXPECT_FALSE(b.election.is_leader());
  a.election.release([] {});
  env.run_for(base::seconds(5));
  EXPECT_TRUE(b.election.is_leader());
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

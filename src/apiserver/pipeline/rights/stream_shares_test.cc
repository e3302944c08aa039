// Streams into pods: which user gets one, and what stands in the way of the others.
#include "apiserver/pipeline/rights/stream_shares.h"

#include <gtest/gtest.h>

#include <vector>

#include "client/fake_env_for_tests.h"

namespace apiserver {
namespace {

class NoStream final : public api::PodStream {
 public:
  bool write(std::string) override { return true; }
  void close_input() override {}
  void resize(int, int) override {}
  void end() override {}
};

struct Shares : ::testing::Test {
  client::testing::FakeEnv env;
  std::shared_ptr<StreamShares> shares = std::make_shared<StreamShares>(
      env, StreamShares::Limits{.all = 8, .connections = 6, .of_a_user = 3, .kept_for_administrators = 2});
  std::vector<std::function<void(base::Result<int>)>> ends;

  static UserInfo administrator() { return {"admin", {"system:masters"}}; }
  std::string open(const UserInfo& user, StreamShares::Use use = StreamShares::Use::kCommand) {
    const auto opened = shares->open(user, use, {.on_output = {}, .on_room = {}, .on_end = [](base::Result<int>) {}},
                                     [this](api::PodStreamEvents events) -> api::PodStreams::Opened {
                                       ends.push_back(std::move(events.on_end));
                                       return std::shared_ptr<api::PodStream>(std::make_shared<NoStream>());
                                     });
    return opened.ok() ? "" : opened.error().message;
  }
};

TEST_F(Shares, a_user_has_a_share_and_the_last_ones_are_the_administrators) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(open({"jane", {}}), "");
  EXPECT_EQ(open({"jane", {}}),
            "user \"jane\" has 3 streams into pods open, as many as a user may have; please try again when one of them "
            "has ended");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(open({"joe", {}}), "");
  EXPECT_EQ(open({"ann", {}}),
            "6 streams into pods are open, and 2 more are kept for administrators, please try again later");
  EXPECT_EQ(open(administrator()), "");
  EXPECT_EQ(open(administrator()), "");
  EXPECT_EQ(open(administrator()), "8 streams into pods are open, please try again later");
  EXPECT_EQ(shares->counts().open, 8);
  EXPECT_EQ(shares->counts().refused_by_share, 1u);
  EXPECT_EQ(shares->counts().refused_full, 2u);
  ends[0](0);  // one of jane's
  ends.erase(ends.begin());
  env.settle();
  EXPECT_EQ(shares->counts().open, 7);
  EXPECT_EQ(open(administrator()), "");
  ends.clear();  // streams that never ended in words
  env.settle();
  EXPECT_EQ(shares->counts().open, 0);
}

TEST_F(Shares, service_accounts_share_by_their_namespace) {
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(open({std::string("system:serviceaccount:team:") + name, {}}), "");
  EXPECT_EQ(open({"system:serviceaccount:team:d", {}}),
            "namespace \"team\", by its service accounts, has 3 streams into pods open, as many as a user may have; "
            "please try again when one of them has ended");
  EXPECT_EQ(open({"system:serviceaccount:other:d", {}}), "");
}

TEST_F(Shares, connections_leave_room_for_commands) {
  constexpr auto kConnection = StreamShares::Use::kConnection;
  for (int i = 0; i < 6; ++i) EXPECT_EQ(open(administrator(), kConnection), "");
  EXPECT_EQ(open(administrator(), kConnection), "6 connections into pods are open, please try again later");
  EXPECT_EQ(open(administrator()), "");
}

TEST_F(Shares, a_stream_that_does_not_begin_costs_nothing) {
  const auto opened = shares->open({"jane", {}}, StreamShares::Use::kCommand, {},
                                   [](const api::PodStreamEvents&) -> api::PodStreams::Opened {
                                     return base::make_error(base::Code::kInternal, "no");
                                   });
  EXPECT_FALSE(opened.ok());
  env.settle();
  EXPECT_EQ(shares->counts().open, 0);
}

}  // namespace
}  // namespace apiserver

// The order in which commands begin.
#include "node/os/streams/exec_turns.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace node {
namespace {

using Who = ExecTurns::Who;
const auto kNever = [] { return false; };
const auto kAtOnce = [] { return true; };

TEST(ExecTurns, users_leave_room_for_probes) {
  const auto turns = std::make_shared<ExecTurns>(ExecTurns::Limits{.all = 3, .of_users = 2}, nullptr);
  auto first = turns->wait(Who::kUser, kNever), second = turns->wait(Who::kUser, kNever);
  EXPECT_TRUE(first && second);
  EXPECT_EQ(turns->wait(Who::kUser, kAtOnce), nullptr) << "the third user waits";
  const auto probe = turns->wait(Who::kNode, kNever);
  EXPECT_TRUE(probe);
  EXPECT_EQ(turns->wait(Who::kNode, kAtOnce), nullptr) << "all are taken";
  first.reset();
  EXPECT_TRUE(turns->wait(Who::kUser, kNever));
}

TEST(ExecTurns, a_probe_that_waits_goes_before_users) {
  const auto turns = std::make_shared<ExecTurns>(ExecTurns::Limits{.all = 1, .of_users = 1}, nullptr);
  auto held = turns->wait(Who::kUser, kNever);
  std::atomic<bool> probe_waits{false}, user_waits{false};
  std::atomic<int> order{0}, probe_at{0}, user_at{0};
  const auto waiter = [&](Who who, std::atomic<bool>& waits, std::atomic<int>& at) {
    return std::thread([&, who] {
      const auto turn = turns->wait(who, [&waits] {
        waits = true;
        return false;
      });
      at = ++order;
    });
  };
  std::thread user = waiter(Who::kUser, user_waits, user_at);
  while (!user_waits) std::this_thread::yield();
  std::thread probe = waiter(Who::kNode, probe_waits, probe_at);
  while (!probe_waits) std::this_thread::yield();
  held.reset();
  user.join();
  probe.join();
  EXPECT_EQ(probe_at, 1);
  EXPECT_EQ(user_at, 2);
}

TEST(ExecTurns, a_wait_has_an_end) {
  const auto turns = std::make_shared<ExecTurns>(
      ExecTurns::Limits{.all = 1, .of_users = 1, .wait_max = base::milliseconds(1)}, nullptr);
  const auto held = turns->wait(Who::kNode, kNever);
  EXPECT_EQ(turns->wait(Who::kUser, kNever), nullptr);
}

}  // namespace
}  // namespace node
